"""The tables and the verdicts of benchmarks/binary.py, from its JSON alone."""

import math

from benchmarks import elsewhere
from benchmarks.measure import geometric_mean, median, table

LIBLINEAR = "LIBLINEAR"
HARD = ("covtype", "mnist", "a9a")  # where LIBLINEAR crawls at large C
SEARCH_PHASES = ("search", "line")


def progress(cell: dict) -> str:
    """One line per cell while the benchmark runs."""
    auto = cell["ours"].get("auto")
    mine = f"ours {median(auto['train']):.3g} s" if auto else "ours missing"
    return f"{cell['data']} C={cell['C']:g}: {mine}; LIBLINEAR {cell['peers'][LIBLINEAR]['verdict']}"


def ratio(cell: dict, timing: str = "train") -> float:
    """LIBLINEAR's seconds over ours; where it never arrives, of its nearest run: then a lower bound."""
    auto = cell["ours"].get("auto")
    theirs = cell["peers"][LIBLINEAR]["seconds"]
    return median(theirs) / median(auto[timing]) if auto and auto["arrived"] and theirs else math.nan


def _arrived(cell: dict) -> bool:
    return cell["peers"][LIBLINEAR]["arrived"]


def _ratio_text(cell: dict, timing: str) -> str | None:
    value = ratio(cell, timing)
    return None if math.isnan(value) else ("" if _arrived(cell) else ">") + f"{value:.2f}"


def _peer_text(peer: dict | None) -> str | None:
    if peer is None:
        return None
    return f"{median(peer['seconds']):.3g}" if peer["arrived"] else peer["verdict"]


def _liblinear_text(cell: dict) -> str:
    peer = cell["peers"][LIBLINEAR]
    if not peer["arrived"]:
        return peer["verdict"]
    chosen = peer["chosen"]
    return f"{median(peer['seconds']):.3g} (eps {chosen['setting']:g}, {chosen['passes']} passes)"


def main_table(result: dict) -> str:
    others = [name for name in result["peers"] if name != LIBLINEAR]
    rows = []
    for cell in result["cells"]:
        auto = cell["ours"].get("auto")
        mine = [None, None, None]
        if auto:
            failed = "" if auto["arrived"] else f" NOT PROVEN (gap {auto['gap']:.1e}, {auto['stop_reason']})"
            mine = [f"{median(auto['train']):.3g}{failed}", median(auto["fit"]), auto["iterations"]]
        verdicts = [_peer_text(cell["peers"].get(name)) for name in others]
        ratios = [_ratio_text(cell, "train"), _ratio_text(cell, "fit")]
        rows.append([cell["data"], f"{cell['C']:g}", *mine, _liblinear_text(cell), *ratios, *verdicts])
    header = [
        "data",
        "C",
        "ours: solver",
        "ours: fit()",
        "iterations",
        LIBLINEAR,
        "ratio",
        "ratio fit()",
        *others,
    ]
    return table(header, rows)


def tight_table(result: dict) -> str:
    rows = []
    for cell in result["cells"]:
        if cell["ours"]:
            loose, tight = cell["ours"]["auto"], cell["ours"]["tight"]
            times = median(tight["train"]) / median(loose["train"])
            rows.append(
                [
                    cell["data"],
                    f"{cell['C']:g}",
                    median(loose["train"]),
                    median(tight["train"]),
                    times,
                    f"{tight['gap']:.1e}",
                ]
            )
    return table(["data", "C", "to 1e-3", "to 1e-6", "times", "proven gap"], rows)


def oca_table(result: dict) -> str:
    rows = []
    for cell in result["cells"]:
        if cell["ours"]:
            oca, data, C = cell["ours"]["oca"], cell["data"], cell["C"]
            rows.append(
                [
                    data,
                    f"{C:g}",
                    f"{median(oca['train']):.3g}" + ("" if oca["arrived"] else f" ({oca['stop_reason']})"),
                    oca["iterations"],
                    elsewhere.LIBOCAS.get(data, {}).get(C),
                    elsewhere.SVM_PERF.get(data, {}).get(C),
                    oca_ratio(cell, elsewhere.LIBOCAS),
                    oca_ratio(cell, elsewhere.SVM_PERF),
                ]
            )
    header = ["data", "C", "oca", "iterations", "LIBOCAS there", "SVM-perf there", "x LIBOCAS", "x SVM-perf"]
    return table(header, rows)


def oca_ratio(cell: dict, figures: elsewhere.Figures) -> float | None:
    """(theirs / LIBLINEAR there) over (ours / LIBLINEAR here): an estimate, by way of LIBLINEAR."""
    theirs = elsewhere.against_liblinear(figures, cell["data"], cell["C"])
    if theirs is None or not _arrived(cell) or not cell["ours"]["oca"]["arrived"]:
        return None
    return theirs * median(cell["peers"][LIBLINEAR]["seconds"]) / median(cell["ours"]["oca"]["train"])


def search_table(result: dict) -> str:
    rows = []
    for run in result["searches"]:
        total = sum(run["phases"].values())
        searching = sum(value for name, value in run["phases"].items() if any(word in name for word in SEARCH_PHASES))
        share = f"{searching / total:.0%}" if total else None
        ended = "" if run["stop_reason"] == "gap" else f"{run['stop_reason']}, gap {run['gap']:.1e}"
        rows.append([run["data"], f"{run['C']:g}", run["way"], run["iterations"], run["train"], share, ended])
    return table(["data", "C", "method", "iterations", "seconds", "line search", "unfinished"], rows)


def _line(met: bool | None, words: str) -> str:
    return f"{'not measured' if met is None else 'met' if met else 'NOT MET':12} {words}"


def _judge(values: list[float], ok, words: str) -> str:
    return _line(ok(values) if values else None, words)


def _unproven(cells: list[dict], method: str) -> list[str]:
    return [f"{cell['data']} C={cell['C']:g}" for cell in cells if not cell["ours"][method]["arrived"]]


def requirements(result: dict) -> list[str]:
    """What the table has to show, each with the figure it shows."""
    cells = [cell for cell in result["cells"] if cell["ours"]]
    if not cells:
        return [_line(None, f"ours: {result['ours']}")]
    ratios = {(cell["data"], cell["C"]): ratio(cell) for cell in cells}
    measured = [value for value in ratios.values() if not math.isnan(value)]
    finite = [ratio(cell) for cell in cells if _arrived(cell) and not math.isnan(ratio(cell))]
    hard = {key: value for key, value in ratios.items() if key[0] in HARD and key[1] >= 1}
    tight = [
        median(cell["ours"]["tight"]["train"]) / median(cell["ours"]["auto"]["train"])
        for cell in cells
        if cell["data"] in HARD
    ]
    ocas = [value for cell in cells if (value := oca_ratio(cell, elsewhere.LIBOCAS))]
    perf = [value for cell in cells if (value := oca_ratio(cell, elsewhere.SVM_PERF))]
    # A cell we did not prove has no ratio: it fails every line it belongs to instead of dropping out.
    slow = [f"{data} C={C:g} {value:.2f}" for (data, C), value in ratios.items() if not value >= 0.8]
    low = [f"{data} C={C:g} {value:.1f}" for (data, C), value in hard.items() if not value >= 8]
    unproven = _unproven(cells, "auto")
    loose_only = _unproven([cell for cell in cells if cell["data"] in HARD], "tight")
    oca_failed = _unproven(cells, "oca")
    mean, mean_finite = geometric_mean(measured), geometric_mean(finite)
    return [
        _line(not result["contradictions"], f"no false certificate: {len(result['contradictions'])} found"),
        _line(not unproven, f"auto proves 1e-3 in every cell {unproven or ''}"),
        _judge(
            measured,
            lambda values: geometric_mean(values) >= 3 and len(values) == len(cells),
            f"geometric mean >= 3: {mean:.2f} over {len(measured)} of {len(cells)} cells "
            f"(lower bounds where LIBLINEAR never arrives; {mean_finite:.2f} over the {len(finite)} others)",
        ),
        _judge(
            measured,
            lambda _: not slow,
            f"no cell below 0.8: least {min(measured, default=math.nan):.2f} {slow or ''}",
        ),
        _judge(list(hard.values()), lambda _: not low, f"covtype, MNIST, a9a with C >= 1 at least 8 {low or ''}"),
        _judge(
            tight,
            lambda values: max(values) <= 2 and not loose_only,
            f"1e-6 within twice 1e-3's time on covtype, MNIST, a9a: worst {max(tight, default=math.nan):.2f}"
            f"; 1e-6 not proven: {loose_only or 'none'}",
        ),
        _judge(
            ocas,
            lambda values: geometric_mean(values) >= 2 and not oca_failed,
            f"oca >= 2 x LIBOCAS: {geometric_mean(ocas):.2f} over {len(ocas)} cells (estimate, by way of "
            f"LIBLINEAR, so only where it arrives); oca not proven: {oca_failed or 'none'}",
        ),
        _judge(
            perf,
            lambda values: geometric_mean(values) >= 10 and not oca_failed,
            f"oca >= 10 x SVM-perf: {geometric_mean(perf):.2f} over {len(perf)} cells (estimate, as above)",
        ),
    ]


def text(result: dict) -> str:
    machine = result["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in (machine["packages"] | result["peers"]).items())
    parts = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['architecture']}; "
        f"copy bandwidth {result['copy_bandwidth_gb_s']:.1f} GB/s read+write on {result['threads']} threads; "
        f"load average {machine['load_average']:.1f}; commit {machine['commit']}, {machine['date']}",
        packages,
        "## Seconds to within 1e-3 of the optimum (ours: proven; LIBLINEAR: C code alone)\n\n" + main_table(result),
    ]
    if any(cell["ours"] for cell in result["cells"]):
        parts.append("## A proven gap of 1e-6\n\n" + tight_table(result))
        parts.append(
            "## Pure OCA\n\nLIBOCAS and SVM-perf were measured on another machine "
            f"({elsewhere.MACHINE}): their seconds are not\ncomparable, the ratios are estimates by way of "
            "LIBLINEAR, which was measured on both.\n\n" + oca_table(result)
        )
    if result["searches"]:
        parts.append("## Line searches, to a proven 1e-3\n\n" + search_table(result))
    parts += [f"FALSE CERTIFICATE: {each}" for each in result["contradictions"]]
    parts.append("## Requirements\n\n" + "\n".join(requirements(result)))
    return "\n\n".join(parts)
