"""Several classes at once: the section of docs/benchmarks.md, the page, and what the benchmark prints."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks import figures, multiclass_data
from benchmarks.measure import geometric_mean
from benchmarks.tables.markdown import markdown_table, section, spreads

ORDER = 15
PAGE = "multiclass.md"
CS = (1e-3, 1e-2, 0.1, 1.0, 10.0)
TOLERANCES = ("0.01", "0.001")
TITLES = {
    "mnist": "MNIST, 10 classes",
    "news20": "news20, 20 classes",
    "sector": "sector, 105 classes",
    "covtype": "covtype, 7 classes",
    "poker": "poker, 10 classes",
    "letter": "letter, 26 classes",
}
OCAM, EXACT, THREE_POINT, CPA = "OCAM 0.01", "OCAM exact 0.01", "OCAM three-point 0.01", "CPA 0.01"
PHASES = {"scores": "X·w", "cut": "plane", "line_search": "line search", "qp": "reduced QP"}
# Best test errors over C in the papers, in per cent: Franc and Sonnenburg, Table 8; Arnosti and Kalita, Figure 6.
PAPERS = {"mnist": "7.1", "news20": "14.5-14.7", "covtype": "35.7", "sector": "5.6"}
# LIBOCAS's msvmocas to 1 %, one thread, on another machine: seconds and iterations; then LIBLINEAR -s 4 there: seconds.
ELSEWHERE = {
    ("news20", 0.1): (20.0, 23, 0.31),
    ("news20", 1.0): (62.0, 70, 1.0),
    ("mnist", 1e-3): (5.8, 41, 0.51),
    ("mnist", 1e-2): (9.5, 69, 1.3),
    ("covtype", 1e-3): (8.6, 29, 1.4),
    ("covtype", 0.1): (35.0, 119, 3.9),
}


def seconds(cell: dict, tol: str) -> tuple[float, float]:
    """Ours and LIBLINEAR's; a run that was ended counts as long as it was given."""
    peer = cell["liblinear"].get(tol)
    return cell["ours"][f"auto {tol}"]["seconds"], peer["seconds"] if peer else cell["limit"]


def _time(run: dict | None, limit: float, tol: float | None = None) -> str:
    if run is None:
        return f"> {limit:g}"
    if tol is not None and run["gap"] > tol:
        return f"> {limit:g} (gap {run['gap']:.1e})"
    return f"{run['seconds']:.3g}"


def against_liblinear(cells: list[dict]) -> str:
    """Seconds to both gaps, and test errors."""
    rows = []
    for cell in cells:
        row = [cell["data"], f"{cell['C']:g}"]
        for tol in TOLERANCES:
            row.append(_time(cell["ours"][f"auto {tol}"], cell["limit"], float(tol)))
            row.append(_time(cell["liblinear"].get(tol), cell["limit"]) if cell["liblinear"] else "")
        row.append(f"{cell['ours']['auto 0.001']['error']:.2f}")
        rows.append([*row, f"{cell['ovr']['error']:.2f}" if cell["ovr"] else "", PAPERS.get(cell["data"], "")])
    header = ["data", "C", "auto 1 %", "LIBLINEAR 1 %", "auto 1e-3", "LIBLINEAR 1e-3"]
    return markdown_table([*header, "test error %", "OvR error %", "papers' best error %"], rows)


def mean_ratio(cells: list[dict], tol: str) -> float:
    """How many times as long as ours LIBLINEAR takes, in the geometric mean over the published data sets."""
    own = [cell for cell in cells if cell["liblinear"] and cell["data"] in multiclass_data.PUBLISHED]
    return geometric_mean([peer / mine for mine, peer in (seconds(cell, tol) for cell in own)])


def ways(cells: list[dict]) -> str:
    """The cutting planes beside each other, and beside msvmocas."""
    rows = []
    for cell in cells:
        if OCAM not in cell["ours"]:
            continue
        runs = [cell["ours"][name] for name in (OCAM, EXACT, THREE_POINT, CPA)]
        limit = cell.get("planes_limit", cell["limit"])
        shown = [f"{_time(run, limit, 0.01)} ({run['iterations']})" for run in runs]
        ended = [run["gap"] > 0.01 for run in runs]
        ratio = f"{'> ' if ended[-1] else ''}{runs[-1]['seconds'] / runs[0]['seconds']:.1f}" if not ended[0] else ""
        rows.append([cell["data"], f"{cell['C']:g}", *shown, ratio, *_msvmocas(cell, runs[0])])
    header = ["data", "C", "OCAM", "OCAM exact", "OCAM three-point", "CPA", "CPA / OCAM"]
    return markdown_table([*header, "msvmocas / OCAM", "by LIBLINEAR", "an iteration"], rows)


def ratios(cells: list[dict]) -> str:
    """OCAM beside CPA and beside msvmocas, in geometric means."""
    own = [cell for cell in cells if OCAM in cell["ours"] and cell["ours"][OCAM]["gap"] <= 0.01]
    if not own:
        return ""
    pairs = [(cell["ours"][OCAM], cell["ours"][CPA]) for cell in own]
    without = [(ocam, cpa) for cell, (ocam, cpa) in zip(own, pairs, strict=True) if cell["data"] != "poker"]
    ended = sum(cpa["gap"] > 0.01 for _, cpa in pairs)

    def mean(of: list[tuple[dict, dict]], what: str) -> float:
        return geometric_mean([cpa[what] / ocam[what] for ocam, cpa in of])

    words = (
        f"CPA takes at least {mean(pairs, 'seconds'):.1f} times as long as OCAM in the geometric mean over the "
        f"{len(pairs)} cells where OCAM came to its end, {mean(without, 'seconds'):.1f} times without poker hands, and "
        f"{mean(pairs, 'iterations'):.1f} times the iterations ({mean(without, 'iterations'):.1f}); in {ended} of them "
        f"CPA was ended and counts as long as it had. {_by_search(cells)}"
    )
    words = f"{words} {_over_all_C(own)} {_by_iteration(own)}"
    beside = [_times_msvmocas(cell, cell["ours"][OCAM]) for cell in own]
    known = [found for found in beside if found is not None and found[1] is not None]
    if not known:
        return words
    means = [geometric_mean([found[k] for found in known]) for k in range(3)]
    return (
        f"{words} msvmocas takes {means[0]:.1f} times as long as OCAM by seconds, {means[1]:.1f} by LIBLINEAR's, and "
        f"{means[2]:.1f} an iteration, in the geometric mean over {len(known)} cells."
    )


def _by_search(cells: list[dict]) -> str:
    """CPA's seconds beside those of OCAM as the papers have it, with either search."""
    found: dict[str, list[float]] = {EXACT: [], THREE_POINT: []}
    for cell in cells:
        for name, ratio in found.items():
            run = cell["ours"].get(name)
            if run is not None and run["gap"] <= 0.01:
                ratio.append(cell["ours"][CPA]["seconds"] / run["seconds"])
    if not found[EXACT] or not found[THREE_POINT]:
        return ""
    exact, three_point = (f"{geometric_mean(found[name]):.1f}" for name in (EXACT, THREE_POINT))
    return (
        f"Beside OCAM as the papers have it, CPA takes {exact} times as long with the exact search "
        f"({len(found[EXACT])} cells), {three_point} times with the three-point search ({len(found[THREE_POINT])})."
    )


def _over_all_C(cells: list[dict]) -> str:
    """CPA's seconds beside OCAM's, summed over C: the measure of Franc and Sonnenburg's Table 8."""
    sums: dict[str, list[float]] = {}
    for cell in cells:
        total = sums.setdefault(cell["data"], [0.0, 0.0])
        for k, name in enumerate((OCAM, CPA)):
            total[k] += cell["ours"][name]["seconds"]
    factors = {name: cpa / ocam for name, (ocam, cpa) in sums.items()}
    listed = ", ".join(f"{factor:.1f} on {name}" for name, factor in factors.items())
    return (
        "Over all C together, as the paper's Table 8 counts seconds, it takes "
        f"{geometric_mean(list(factors.values())):.1f} times as long in the geometric mean over data sets: {listed}."
    )


def _by_iteration(cells: list[dict]) -> str:
    """What an iteration of OCAM costs beside one of CPA."""
    found: dict[str, list[float]] = {}
    for cell in cells:
        ocam, cpa = (cell["ours"][name]["seconds"] / cell["ours"][name]["iterations"] for name in (OCAM, CPA))
        found.setdefault(cell["data"], []).append(ocam / cpa)
    listed = ", ".join(f"{geometric_mean(ratios):.1f} on {name}" for name, ratios in found.items())
    return f"An iteration of OCAM costs as much as this many of CPA: {listed}."


def _times_msvmocas(cell: dict, ours: dict) -> tuple[float, float | None, float] | None:
    """By seconds on its machine and ours; by LIBLINEAR's on both; by seconds an iteration."""
    known, peer = ELSEWHERE.get((cell["data"], cell["C"])), cell["liblinear"].get("0.01")
    if known is None:
        return None
    theirs, iterations, liblinear = known
    scaled = theirs / liblinear * peer["seconds"] / ours["seconds"] if peer else None
    return theirs / ours["seconds"], scaled, theirs / iterations / (ours["seconds"] / ours["iterations"])


def _msvmocas(cell: dict, ours: dict) -> list[str]:
    found = _times_msvmocas(cell, ours)
    return ["", "", ""] if found is None else ["" if value is None else f"{value:.1f}" for value in found]


def iteration(cells: list[dict]) -> str:
    """Where the time of an iteration of OCAM goes."""
    rows = []
    for cell in cells:
        run = cell["ours"].get(OCAM)
        if run is None:
            continue
        each = {name: 1e3 * run["phases"].get(name, 0.0) / run["iterations"] for name in PHASES}
        whole = 1e3 * run["seconds"] / run["iterations"]
        shown = [f"{value:.2g}" for value in (*each.values(), whole - sum(each.values()), whole)]
        rows.append([cell["data"], f"{cell['C']:g}", f"{run['iterations']:,}", *shown])
    return markdown_table(["data", "C", "iterations", *PHASES.values(), "rest", "all, ms"], rows)


def _measured_apart(result: dict) -> str:
    """What the cutting planes were measured on, if alone."""
    machine = result.get("planes_machine")
    if machine is None:
        return ""
    cells = [cell for cell in result["cells"] if OCAM in cell["ours"]]
    which = "" if all("planes_limit" in cell for cell in cells) else " of most cells"
    return (
        f" The cutting planes{which} were measured in a run of their own, on {machine['cpu']} with "
        f"{machine['cores']} cores ({machine['date']}): ratios by way of LIBLINEAR are of two runs."
    )


def tables(result: dict) -> dict[str, str]:
    """What the page shows."""
    cells = result["cells"]
    machine = result["machine"]
    published = [cell for cell in cells if cell["data"] in multiclass_data.PUBLISHED]
    return {
        "machine": f"Measured on {machine['cpu']}, {result['threads']} threads (LIBLINEAR has one), {machine['date']}."
        + _measured_apart(result),
        "liblinear": against_liblinear(published),
        "means": "In the geometric mean over these, LIBLINEAR takes "
        + " and ".join(f"{mean_ratio(cells, tol):.2f} times as long to {tol}" for tol in TOLERANCES)
        + "; a run that was ended counts as long as it was given.",
        "ways": ways(published),
        "ratios": ratios(published),
        "iteration": iteration(published),
        "malware": against_liblinear([cell for cell in cells if cell["data"] == "malware-shape"]),
    }


def _shown(cell: dict | None, tol: str) -> str:
    if cell is None:
        return ""
    mine, peer = seconds(cell, tol)
    ended = ">" if cell["ours"][f"auto {tol}"]["gap"] > float(tol) else ""
    return f"{ended}{mine:.2g} / {'' if cell['liblinear'].get(tol) else '>'}{peer:.2g}"


def _repeats(cells: Iterable[dict]) -> list[list[float]]:
    """The seconds behind every median, where they were kept."""
    runs = [run for cell in cells for run in (cell["ours"]["auto 0.001"], cell["liblinear"].get("0.001"))]
    return [run["all_seconds"] for run in runs if run and "all_seconds" in run]


def overview(result: dict) -> str:
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
    words = (
        '`multi_class="crammer_singer"`: seconds of ours to a proven gap of 1e-3 / of LIBLINEAR `-s 4` at the loosest '
        "tolerance that comes as close to the optimum, by C per example. The ratio is the geometric mean of "
        "LIBLINEAR's seconds over ours, the error our least test error over C. `>`: stopped before it converged. On "
        f"average LIBLINEAR takes {mean_ratio(result['cells'], '0.001'):.2f} times as long, to 1 % "
        f"{mean_ratio(result['cells'], '0.01'):.2f} times. Cutting planes alone, and what an iteration costs: "
        "[multiclass.md](results/multiclass.md), [multiclass-cuts.md](results/multiclass-cuts.md)."
        f"{spreads(_repeats(cells.values()))} "
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
