"""Write the measured results into README.md, from the JSON files under benchmarks/results.

python benchmarks/readme_table.py             writes them between the two markers
python benchmarks/readme_table.py --check     fails if they are not what is there
"""

import argparse
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import binary_report
from benchmarks.measure import RESULTS, geometric_mean, median

README = RESULTS.parents[1] / "README.md"
BEGIN, END = "<!-- results -->", "<!-- /results -->"


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(title: str, command: str, words: str, table: str) -> str:
    return f"### {title}\n\n`{command}`\n\n{words}\n\n{table}"


def binary_cell(cell: dict) -> str:
    """Our seconds, and how many times as long LIBLINEAR takes."""
    auto = cell["ours"].get("auto")
    if not auto or not auto["arrived"]:
        return "not proven"
    seconds = f"{median(auto['train']):.2g} s"
    times = binary_report.ratio(cell)
    if not cell["peers"][binary_report.LIBLINEAR]["arrived"]:
        return f"{seconds} (> {times:.0f}x)"
    return seconds if math.isnan(times) else f"{seconds} ({times:.1f}x)"


def binary(result: dict) -> str:
    machine, cells = result["machine"], result["cells"]
    Cs = sorted({cell["C"] for cell in cells})
    sets = list(dict.fromkeys(cell["data"] for cell in cells))
    by_place = {(cell["data"], cell["C"]): binary_cell(cell) for cell in cells}
    rows = [[name, *(by_place.get((name, C), "") for C in Cs)] for name in sets]
    ratios = [ratio for cell in cells if not math.isnan(ratio := binary_report.ratio(cell))]
    never = sum(not cell["peers"][binary_report.LIBLINEAR]["arrived"] for cell in cells)
    words = (
        f"Seconds until the model is proven within 1e-3 of the optimum, and in brackets how many times as "
        f"long LIBLINEAR's C code takes to come as close (`-s 3`, at the loosest setting that does). "
        f"The geometric mean is {geometric_mean(ratios):.1f}x"
    )
    if never:
        words += (
            f"; in {never} of {len(cells)} cells LIBLINEAR does not get there, by its cap of 300 passes or within "
            f"the time it was given: there its best attempt counts, and the ratio is marked >"
        )
    words += (
        f". No intercept, {result['threads']} threads, {machine['cpu']} ({machine['architecture']}), {machine['date']}."
    )
    table = markdown_table(["data", *(f"C = {C:g}" for C in Cs)], rows)
    return section("Training", "python benchmarks/binary.py --data DIR", words, table)


def reading(result: dict) -> str:
    machine = result["machine"]
    rows = [
        [
            f"`{file['file']}`, {file['bytes'] / 1e6:.0f} MB",
            *(f"{file['median_seconds'][name]:.2g} s" for name in file["median_seconds"]),
            f"{file['times_scikit_learn']['cutplane']:.1f}x",
        ]
        for file in result["files"]
    ]
    header = ["file", *result["files"][0]["median_seconds"], "ratio"]
    words = (
        f"Reading svmlight files: covtype with every digit, with six, and compressed. "
        f"{machine['cores']} cores, {machine['cpu']}, {result['date']}."
    )
    command = "python benchmarks/reading.py --data DIR --out benchmarks/results/reading.json"
    return section("Reading files", command, words, markdown_table(header, rows))


def reduced_qp(result: dict) -> str:
    runs = result["runs"]
    rows = [
        [
            name,
            *(f"{run['solvers'][name]['median_us']:,.0f}" for run in runs),
            f"{max(run['solvers'][name]['worst_gap'] for run in runs):.0e}",
        ]
        for name in runs[0]["solvers"]
    ]
    Cs = [f"µs, C = {run['per_example_C']:g}" for run in runs]
    words = (
        f"The small QP of the cutting-plane loop, solved each time one of {runs[0]['planes']} planes is "
        f"added ({result['data']}): median microseconds, and the worst relative gap any of the solutions has."
    )
    command = "python benchmarks/reduced_qp.py --data DIR --out benchmarks/results/reduced_qp.json"
    return section("The reduced QP", command, words, markdown_table(["solver", *Cs, "worst gap"], rows))


SECTIONS: dict[str, Callable[[dict], str]] = {
    "binary.json": binary,
    "reading.json": reading,
    "reduced_qp.json": reduced_qp,
}


def results() -> str:
    """All sections that have been measured."""
    measured = [(RESULTS / name, write) for name, write in SECTIONS.items()]
    return "\n\n".join(write(json.loads(path.read_text())) for path, write in measured if path.exists())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if README.md is stale")
    check = parser.parse_args().check
    text = README.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise SystemExit(f"README.md must have one {BEGIN} and one {END}.")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    wanted = f"{before}{BEGIN}\n\n{results()}\n\n{END}{after}"
    if check and text != wanted:
        raise SystemExit("The results in README.md are not those measured; run python benchmarks/readme_table.py.")
    if not check:
        README.write_text(wanted)


if __name__ == "__main__":
    main()
