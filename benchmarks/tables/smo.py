"""The README's section on kernel machines."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.measure import geometric_mean, median
from benchmarks.tables.markdown import markdown_table, section, spreads

ORDER = 50
SOLVER = "second-order"  # the default selection


def readme(result: dict) -> str:
    runs = {(run["set"], run["solver"]): run for run in result["results"]}
    rows, ratios = [], []
    for name in dict.fromkeys(run["set"] for run in result["results"]):
        ours, theirs = runs[name, SOLVER], runs[name, "LIBSVM"]
        seconds = median(ours["seconds"]), median(theirs["seconds"])
        ratios.append(seconds[1] / seconds[0])
        size = f"{ours['rows']:,} x {ours['features']}"
        setting = f"{ours['C']:g}, {ours['gamma']:g}"
        timed = [f"{s:.2g} s" for s in seconds]
        rows.append([name, size, setting, *timed, f"{ratios[-1]:.1f}x", f"{ours['gap']:.1e}"])
    words = (
        "RBF kernel, maximal violation at most 1e-3: seconds of ours on 2 threads and of LIBSVM's C library (which has "
        f"one), same kernel, C and cache. The geometric mean is {geometric_mean(ratios):.1f}x, the least "
        f"{min(ratios):.1f}x; dual objectives agree to 3e-5 or better."
        f"{spreads(run['seconds'] for run in result['results'])} {result['machine']['cpu']}, "
        f"{result['machine']['date']}."
    )
    table = markdown_table(["data", "size", "C, gamma", "cutplane", "LIBSVM", "ratio", "duality gap"], rows)
    return section(
        "Kernel machines", "python benchmarks/smo.py --data DIR --selections second-order,ofs2", words, table
    )


def plots(result: dict) -> dict:
    """Seconds of every solver."""
    seconds: dict[str, dict[str, float]] = {}
    for run in result["results"]:
        seconds.setdefault(run["set"], {})[run["solver"]] = median(run["seconds"])
    return {"seconds": figures.bars("Kernel machines: training", seconds)} if seconds else {}
