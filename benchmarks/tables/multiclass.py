"""The README's section on several classes at once."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.measure import geometric_mean
from benchmarks.tables.markdown import markdown_table, section

ORDER = 15
CS = (1e-3, 1e-2, 0.1, 1.0, 10.0)
TITLES = {
    "mnist": "MNIST, 10 classes",
    "news20": "news20, 20 classes",
    "sector": "sector, 105 classes",
    "covtype": "covtype, 7 classes",
    "poker": "poker, 10 classes",
    "letter": "letter, 26 classes",
}


def seconds(cell: dict, tol: str) -> tuple[float, float]:
    """Ours and LIBLINEAR's; a run that was ended counts as long as it was given."""
    peer = cell["liblinear"].get(tol)
    return cell["ours"][f"auto {tol}"]["seconds"], peer["seconds"] if peer else cell["limit"]


def _shown(cell: dict | None, tol: str) -> str:
    if cell is None:
        return ""
    mine, peer = seconds(cell, tol)
    ended = ">" if cell["ours"][f"auto {tol}"]["gap"] > float(tol) else ""
    return f"{ended}{mine:.2g} / {'' if cell['liblinear'].get(tol) else '>'}{peer:.2g}"


def readme(result: dict) -> str:
    cells = {(cell["data"], cell["C"]): cell for cell in result["cells"] if cell["liblinear"]}
    rows = []
    for name, title in TITLES.items():
        own = [cells[name, C] for C in CS if (name, C) in cells]
        if not own:
            continue
        mean = geometric_mean([peer / mine for mine, peer in (seconds(cell, "0.001") for cell in own)])
        least = min(cell["ours"]["auto 0.001"]["error"] for cell in own)
        shown = [_shown(cells.get((name, C)), "0.001") for C in CS]
        rows.append([title, *shown, f"{mean:.2g}x", f"{least:.1f} %"])
    ratios = {
        tol: geometric_mean(
            [peer / mine for (name, _), cell in cells.items() if name in TITLES for mine, peer in [seconds(cell, tol)]]
        )
        for tol in ("0.01", "0.001")
    }
    words = (
        '`multi_class="crammer_singer"`: seconds of ours to a proven gap of 1e-3 / of LIBLINEAR `-s 4` at the loosest '
        "tolerance that comes as close to the optimum (`>`: not there when it was ended), by C per example, the "
        "geometric mean of LIBLINEAR's over ours, and our least test error over C. Over all of these LIBLINEAR takes "
        f"{ratios['0.001']:.2f} times as long, to 1 % {ratios['0.01']:.2f} times. OCAM against plain "
        "cutting planes: [multiclass-cuts.md](docs/results/multiclass-cuts.md). "
        f"2 threads (LIBLINEAR has one), {result['machine']['cpu']}, {result['machine']['date']}."
    )
    header = ["data", *(f"C = {C:g}" for C in CS), "ratio", "error"]
    command = "python benchmarks/multiclass.py --data DIR"
    return section("Several classes at once", command, words, markdown_table(header, rows))


def plots(result: dict) -> dict:
    """Seconds to a proven 1e-3 against C; a run that was ended is not drawn."""
    panels = []
    for name in dict.fromkeys(cell["data"] for cell in result["cells"]):
        lines: dict[str, tuple[list, list]] = {"ours": ([], []), "LIBLINEAR -s 4": ([], [])}
        for cell in sorted((each for each in result["cells"] if each["data"] == name), key=lambda each: each["C"]):
            mine, peer = cell["ours"]["auto 0.001"], cell["liblinear"].get("0.001")
            for line, run in (("ours", mine if mine["gap"] <= 1e-3 else None), ("LIBLINEAR -s 4", peer)):
                if run:
                    lines[line][0].append(cell["C"])
                    lines[line][1].append(run["seconds"])
        panels.append(figures.Panel(TITLES.get(name, name), "C", "seconds to 1e-3", lines))
    return {"C": figures.draw(panels, columns=3)} if panels else {}
