"""The section of docs/benchmarks.md on kernel machines, and the tables of docs/results/kernel-machines.md."""

from __future__ import annotations

from benchmarks import elsewhere, figures
from benchmarks.measure import geometric_mean, median
from benchmarks.tables.markdown import markdown_table, section, spreads

ORDER = 50
PAGE = "kernel-machines.md"
SOLVER = "second-order"  # the default selection


def overview(result: dict) -> str:
    rows, ratios = [], []
    for name, ours, theirs in _both(result):
        seconds = median(ours["seconds"]), median(theirs["seconds"])
        ratios.append(seconds[1] / seconds[0])
        size = f"{ours['rows']:,} x {ours['features']}"
        setting = f"{ours['C']:g}, {ours['gamma']:g}"
        timed = [f"{s:.2g} s" for s in seconds]
        rows.append([name, size, setting, *timed, f"{ratios[-1]:.1f}x", f"{ours['gap']:.1e}", *_quality(ours, theirs)])
    counts = sorted({len(run["seconds"]) for run in result["results"]})
    rounds = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    words = (
        "RBF kernel, maximal violation at most 1e-3: seconds of ours on 2 threads and of LIBSVM's C library, which "
        f"gains nothing by a second one. Both have the same kernel, C and cache; medians of {rounds} alternating "
        f"rounds. The geometric mean is {geometric_mean(ratios):.1f}x, the least {min(ratios):.1f}x. The last columns "
        "say by what part each dual objective is below the optimum, and the errors in per cent. ThunderSVM: "
        "[kernel-machines.md](results/kernel-machines.md)."
        f"{spreads(run['seconds'] for run in result['results'])} {result['machine']['cpu']}, "
        f"{result['machine']['date']}."
    )
    header = ["data", "size", "C, gamma", "cutplane", "LIBSVM", "ratio", "duality gap", "dual short by", "errors"]
    return section("Kernel machines", "python benchmarks/smo.py --data DIR", words, markdown_table(header, rows))


def tables(result: dict) -> dict[str, str]:
    """Dual objectives and errors of both, and how ours stands to ThunderSVM."""
    return {"duals": _duals(result), "ThunderSVM": _thundersvm(result)}


def _duals(result: dict) -> str:
    rows = [
        [
            name,
            *(f"{run['dual']:.9g}" for run in (ours, theirs)),
            f"{ours['tight_dual']:.9g}",
            f"{ours['dual_over_libsvm']:+.1e}",
            *_quality(ours, theirs),
        ]
        for name, ours, theirs in _both(result)
    ]
    header = ["data", "ours", "LIBSVM", "ours at 1e-6", "ours / LIBSVM - 1", "short by", "errors"]
    return markdown_table(header, rows)


def _quality(ours: dict, theirs: dict) -> list[str]:
    """Of ours and of LIBSVM: how far the dual is from the optimum, and the errors, marked where on the training set."""
    short = ", ".join(f"{run['short_of_optimum']:.0e}" for run in (ours, theirs))
    errors = ", ".join(f"{100 * run['error']:.2f}" for run in (ours, theirs))
    return [short, errors if ours["error_beyond"] else f"{errors} (training)"]


def _thundersvm(result: dict) -> str:
    rows = []
    for name, ours, theirs in _both(result):
        if name not in elsewhere.THUNDERSVM:
            continue
        over_libsvm = median(theirs["seconds"]) / median(ours["seconds"])
        there = elsewhere.THUNDERSVM[name] / elsewhere.LIBSVM[name]
        measured = [f"{figures[name]:g} s" for figures in (elsewhere.LIBSVM, elsewhere.THUNDERSVM)]
        rows.append([name, *measured, f"{there:.2f}", f"{over_libsvm:.1f}x"])
    header = ["data", "LIBSVM there", "ThunderSVM there", "of LIBSVM's time", "ours over LIBSVM, here"]
    return markdown_table(header, rows)


def _both(result: dict) -> list[tuple[str, dict, dict]]:
    runs = {(run["set"], run["solver"]): run for run in result["results"]}
    names = dict.fromkeys(run["set"] for run in result["results"])
    return [(name, runs[name, SOLVER], runs[name, "LIBSVM"]) for name in names]


def plots(result: dict) -> dict:
    """Seconds of every solver."""
    seconds: dict[str, dict[str, float]] = {}
    for run in result["results"]:
        seconds.setdefault(run["set"], {})[run["solver"]] = median(run["seconds"])
    return {"seconds": figures.bars("Kernel machines: training", seconds)} if seconds else {}
