"""The section of docs/benchmarks.md on training."""

from __future__ import annotations

import math

from benchmarks import binary_report, figures
from benchmarks.measure import geometric_mean, median
from benchmarks.tables.markdown import markdown_table, section, spreads

ORDER = 10


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


def overview(result: dict) -> str:
    machine, cells = result["machine"], result["cells"]
    Cs = sorted({cell["C"] for cell in cells})
    sets = list(dict.fromkeys(cell["data"] for cell in cells))
    by_place = {(cell["data"], cell["C"]): binary_cell(cell) for cell in cells}
    rows = [[name, *(by_place.get((name, C), "") for C in Cs)] for name in sets]
    ratios = [ratio for cell in cells if not math.isnan(ratio := binary_report.ratio(cell))]
    never = sum(not cell["peers"][binary_report.LIBLINEAR]["arrived"] for cell in cells)
    words = (
        f"Seconds of our solver until the model is proven within 1e-3 of the optimum, without `fit` around it. In "
        f"brackets: how many times as long LIBLINEAR's C code takes to come as close (`-s 3`, the loosest tolerance "
        f"that does). The geometric mean is {geometric_mean(ratios):.1f}x"
    )
    if never:
        words += f". `>`: LIBLINEAR never converged, and its closest attempt counts ({never} of {len(cells)} cells)"
    timed = [cell["ours"]["auto"]["train"] for cell in cells if "auto" in cell["ours"]]
    timed += [cell["peers"][binary_report.LIBLINEAR]["seconds"] for cell in cells]
    words += (
        f".{spreads(timed)} No intercept, {result['threads']} threads, {machine['cpu']} "
        f"({machine['architecture']}), {machine['date']}."
    )
    table = markdown_table(["data", *(f"C = {C:g}" for C in Cs)], rows)
    return section("Training", "python benchmarks/binary.py --data DIR", words, table)


def plots(result: dict) -> dict:
    """Seconds against C on each data set, of ours and of every peer that arrived."""
    panels: dict[str, figures.Panel] = {}
    for cell in result["cells"]:
        panel = panels.setdefault(cell["data"], figures.Panel(cell["data"], "C", "seconds", {}))
        runs = {"ours": cell["ours"].get("auto", {}).get("train")}
        runs |= {name: peer.get("seconds") for name, peer in cell["peers"].items() if peer.get("arrived")}
        for name, times in runs.items():
            if times:
                x, y = panel.lines.setdefault(name, ([], []))  # type: ignore[attr-defined]
                x.append(cell["C"])
                y.append(median(times))
    return {"C": figures.draw(list(panels.values()), columns=3)} if panels else {}
