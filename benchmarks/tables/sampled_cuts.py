"""Yu and Joachims 2008 again: its table and figures beside ours, and the section of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import harness
from benchmarks.figures import Panel, draw
from benchmarks.measure import median
from benchmarks.tables.markdown import markdown_table, section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDER = 55
PAGE = "yu-joachims.md"
# The paper's Table 1: training and test errors in per cent, and seconds of processor time.
PAPER = {
    ("checkers", "constant", 400): (3.12, 3.23, 1_411),
    ("checkers", "constant", 1000): (2.96, 3.14, 1_854),
    ("checkers", "linear", 400): (2.90, 2.99, 60_101),
    ("checkers", "linear", 1000): (2.89, 2.95, 151_759),
    ("checkers", "Cholesky", 250): (3.11, 3.32, 2_447),
    ("checkers", "SMO", 0): (2.87, 2.94, 36_533),
    ("adult", "constant", 400): (7.90, 10.45, 17_487),
    ("adult", "constant", 1000): (7.65, 10.29, 38_617),
    ("adult", "linear", 400): (7.43, 10.19, 11_136),
    ("adult", "linear", 1000): (7.44, 10.19, 15_191),
    ("adult", "Cholesky", 250): (15.10, 15.09, 604),
    ("adult", "Cholesky", 500): (14.60, 14.50, 537),
    ("adult", "Cholesky", 5000): (10.89, 12.43, 3_386),
    ("adult", "SMO", 0): (7.52, 10.37, 11_630),
    ("covtype", "constant", 400): (18.49, 18.61, 3_496),
    ("covtype", "constant", 1000): (18.34, 18.55, 12_946),
    ("covtype", "linear", 400): (18.16, 18.28, 62_184),
    ("covtype", "linear", 1000): (17.96, 18.22, 155_196),
    ("covtype", "Cholesky", 250): (21.73, 21.85, 1_937),
    ("covtype", "Cholesky", 500): (20.29, 20.35, 3_093),
    ("covtype", "SMO", 0): (17.87, 18.09, 273_021),
}
WAYS = ("constant", "last", "linear", "plain", "sample", "Cholesky", "SMO")
# The paper's own algorithms, beside ours; and SMO on a sample.
NAMES = {"last": "constant, not averaged", "plain": "linear, not stabilised", "sample": "SMO on a sample"}
ADULT, ADULT_TRAIN = 32_561, 22_697


def tables(result: dict) -> dict[str, str]:
    """Those of the page."""
    made = {
        "table1": ("table 1", _table1),
        "subsets": ("subsets", _subsets),
        "scaling": ("scaling", _scaling),
        "regularisation": ("regularisation", _regularisation),
        "sampled_smo": ("sampled SMO", _sampled_smo),
        "samples": ("samples", _samples),
        "chain": ("chain", _chain),
    }
    found = {"machine": _machines(result)}
    for part, (name, make) in made.items():
        if part in result:
            found[name] = make(result[part]["rows"])
    return found


def _machines(result: dict) -> str:
    elsewhere = dict.fromkeys(row["measured_on"] for part in result.values() for row in part["rows"]
                              if "measured_on" in row)  # fmt: skip
    return harness.where(result) + (f" Rows with a *: {'; '.join(elsewhere)}." if elsewhere else "")


def _star(rows: list[dict]) -> str:
    """A mark of rows measured on another machine than the rest of their part."""
    return " *" if any("measured_on" in row for row in rows) else ""


def _groups(rows: Iterable[dict], *keys: str) -> dict[tuple, list[dict]]:
    """Rows that agree in some keys, in the order of the ways and of the keys."""
    found: dict[tuple, list[dict]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    ranked = {
        key: [WAYS.index(each) if name == "way" else each for name, each in zip(keys, key, strict=True)]
        for key in found
    }
    return {key: found[key] for key in sorted(found, key=ranked.get)}


def _middle(rows: list[dict], key: str) -> float:
    return median([row[key] for row in rows])


def _with_deviation(rows: list[dict], key: str) -> str:
    values = [row[key] for row in rows]
    return f"{np.mean(values):.2f}" + (f" ({np.std(values):.2f})" if len(values) > 1 else "")


def _ended(rows: list[dict]) -> str:
    """A mark where the limit of time came before epsilon."""
    return "" if all(row.get("stop_reason", "gap") in ("epsilon", "risk_tol", "gap", "kkt") for row in rows) else "+"


def _way(way: str, r: int) -> str:
    words = NAMES.get(way, way)
    return f"{words}, r = {r:,}" if r else words


def _mean(rows: list[dict], key: str) -> float:
    return float(np.mean([row[key] for row in rows]))


def _seconds(rows: list[dict]) -> str:
    """The mean of processor seconds in two digits, or whole."""
    value = _mean(rows, "cpu_seconds")
    return f"{value:.2g}" if value < 99.5 else f"{value:,.0f}"


def _mean_count(rows: list[dict]) -> str:
    return f"{_mean(rows, 'n_iter'):,.0f}{_ended(rows)}"


def _count(rows: list[dict]) -> str:
    return f"{_middle(rows, 'n_iter'):,.0f}{_ended(rows)}"


def _table1(rows: list[dict]) -> str:
    lines = []
    for (data, way, r), mine in _groups(rows, "data", "way", "r").items():
        train, test, seconds = PAPER.get((data, "constant" if way == "last" else way, r), (None, None, None))
        lines.append(
            [
                data,
                _way(way, r) + _star(mine),
                _with_deviation(mine, "train_error"),
                _with_deviation(mine, "test_error"),
                _whole(mine) if data == "adult" else "",
                f"{_middle(mine, 'seconds'):.1f}{_ended(mine)}",
                _count(mine),
                *("" if value is None else f"{value:.2f}" for value in (train, test)),
                "" if seconds is None else f"{seconds:,}",
            ]
        )
    header = ["data", "way", "train error %", "test error %", "all of Adult %", "seconds", "iterations"]
    return harness.markdown([*header, "paper: train", "test", "seconds"], lines)


def _whole(rows: list[dict]) -> str:
    """The error on training and test examples together."""
    share = ADULT_TRAIN / ADULT
    return f"{np.mean([share * row['train_error'] + (1 - share) * row['test_error'] for row in rows]):.2f}"


def _subsets(rows: list[dict]) -> str:
    lines = []
    smo = {row["data"]: row for row in rows if row["way"] == "SMO"}
    for (data, n, way, r), mine in _groups(rows, "data", "n", "way", "r").items():
        errors = ("train_error", "test_error")
        beside = ["", ""]
        if data in smo and way != "SMO":
            beside = [f"{np.mean([row[key] for row in mine]) - smo[data][key]:+.2f}" for key in errors]
        seconds = f"{_middle(mine, 'cpu_seconds'):.1f}{_ended(mine)}"
        shown = [_with_deviation(mine, key) for key in errors]
        lines.append([data, n, _way(way, r) + _star(mine), *shown, *beside, seconds, _count(mine)])
    header = ["data", "n", "way", "train error %", "test error %", "train less SMO's", "test less SMO's"]
    return harness.markdown([*header, "processor seconds", "iterations"], lines)


def _line(rows: list[dict], x: str, y: str) -> tuple[list[float], list[float]]:
    """Means over seeds of the runs that ended by themselves."""
    points = _groups([row for row in rows if not _ended([row])], x)
    return [key[0] for key in points], [_mean(mine, y) for mine in points.values()]


def _scaling(rows: list[dict]) -> str:
    """A table for each data set, whose sizes are its own."""
    return "\n\n".join(_sizes(mine) for mine in _groups(rows, "data").values())


def _sizes(rows: list[dict]) -> str:
    sizes = sorted({row["n"] for row in rows})
    lines = []
    for (data, way, r), mine in _groups(rows, "data", "way", "r").items():
        by_size = [[row for row in mine if row["n"] == n] for n in sizes]
        cells = [f"{_seconds(each)}{_ended(each)} ({_mean_count(each)})" if each else "" for each in by_size]
        lines.append([data, _way(way, r), *cells, *_exponents(mine)])
    head = [f"n = {n:,}" for n in sizes]
    return harness.markdown(["data", "way", *head, "exponent of seconds", "of iterations"], lines)


def _regularisation(rows: list[dict]) -> str:
    sizes = sorted({row["n"] for row in rows})
    lines = []
    for (way, total), mine in _groups(rows, "way", "total").items():
        cells = [[row for row in mine if row["n"] == n] for n in sizes]
        shown = [f"{_seconds(each)} ({_mean_count(each)}; {_mean(each, 'test_error'):.2f} %)" if each else ""
                 for each in cells]  # fmt: skip
        lines.append([way, f"C = {total:,.0f}", *shown, *_exponents(mine)])
    diagonal = _own_C(rows)
    if diagonal:
        lines.append(["constant", "C = n, as above", *[""] * len(sizes), *_exponents(diagonal)])
    head = [f"n = {n:,}" for n in sizes]
    return harness.markdown(["cuts", "C of the mean loss", *head, "exponent of seconds", "of iterations"], lines)


def _sampled_smo(rows: list[dict]) -> str:
    return "\n\n".join(_errors_by_size(mine) for mine in _groups(rows, "data").values())


def _errors_by_size(rows: list[dict]) -> str:
    sizes = sorted({row["n"] for row in rows})
    lines = []
    for (data, way, r), mine in _groups(rows, "data", "way", "r").items():
        cells = [[row for row in mine if row["n"] == n] for n in sizes]
        shown = [f"{_seconds(each)} ({_mean(each, 'test_error'):.2f} %)" if each else "" for each in cells]
        lines.append([data, _way(way, r), *shown, _exponents(mine)[0]])
    return harness.markdown(["data", "way", *[f"n = {n:,}" for n in sizes], "exponent of seconds"], lines)


def _exponents(rows: list[dict]) -> list[str]:
    """Those of n in seconds and in iterations."""
    slopes = [harness.exponent(*_line(rows, "n", key)) for key in ("cpu_seconds", "n_iter")]
    return [f"{slope:.2f}" if slope == slope else "" for slope in slopes]


def _own_C(rows: list[dict]) -> list[dict]:
    """Constant-time cuts with C = 1 per example: n for the mean loss."""
    return [row for row in rows if row["way"] == "constant" and abs(row["C"] - 1.0) < 1e-9]


def _samples(rows: list[dict]) -> str:
    lines = []
    for (C, way, r), mine in _groups(rows, "C", "way", "r").items():
        seconds = f"{_middle(mine, 'seconds'):.1f}{_ended(mine)}"
        errors = [_with_deviation(mine, key) for key in ("train_error", "test_error")]
        lines.append([f"{C:g}", way + _star(mine), r, seconds, _count(mine), *errors])
    return harness.markdown(["C", "cuts", "r", "seconds", "iterations", "train error %", "test error %"], lines)


def _chain(rows: list[dict]) -> str:
    """Of each kernel the parameters with the least error on a fifth of the training words."""
    lines = []
    for (kernel,), mine in _groups(rows, "kernel").items():
        held = min((row for row in mine if row["fold"] == "train"), key=lambda row: row["test_error"])
        test = next(row for row in mine if row["fold"] == "test" and _same(row, held))
        errors = [f"{value:.1f}" for value in (held["test_error"], test["train_error"], test["test_error"])]
        params = f"{'' if test['gamma'] is None else 'gamma = ' + format(test['gamma'], 'g') + ', '}C = {test['C']:g}"
        seconds = f"{test['seconds']:.1f}{_ended([test])}"
        lines.append(
            [kernel + _star([test]), params, *errors, f"{100 * test['gap']:.1f}", seconds, f"{test['n_iter']:,}"]
        )
    header = ["kernel", "parameters", "error on a fifth of the training words %", "train error %", "test error %"]
    return harness.markdown([*header, "proven gap %", "seconds", "iterations"], lines)


def _same(row: dict, other: dict) -> bool:
    return (row["C"], row["gamma"]) == (other["C"], other["gamma"])


def figures(result: dict) -> dict[str, Figure]:
    """The paper's figures, from our runs."""
    found = {}
    if "scaling" in result:
        found["n"] = draw(_size_panels(result["scaling"]["rows"]), columns=3)
    if "samples" in result:
        found["r"] = draw(_sample_panels(result["samples"]["rows"]), columns=2)
    rows = [row for row in result.get("regularisation", {"rows": []})["rows"] if row["way"] == "constant"]
    if rows:
        lines = {f"C = {total:,.0f}": mine for (total,), mine in _groups(rows, "total").items()} | {
            "C = n": _own_C(rows)
        }
        panels = [
            Panel(f"Constant-time cuts, r = 400: {what}", "examples n", what,
                  {name: _line(mine, "n", key) for name, mine in lines.items()}, styles={"C = n": "--"})
            for what, key in (("processor seconds", "cpu_seconds"), ("iterations", "n_iter"))
        ]  # fmt: skip
        found["C"] = draw(panels)
    return found


def _size_panels(rows: list[dict]) -> list[Panel]:
    """A row of panels for each data set, all with the same lines: of what was not measured an empty one."""
    panels = []
    rows = [row for row in rows if not _ended([row])]
    names = list(_groups(rows, "way", "r"))
    for (data,), mine in _groups(rows, "data").items():
        groups = _groups(mine, "way", "r")
        for number, what, key in (
            (1, "processor seconds", "cpu_seconds"),
            (2, "training error, %", "train_error"),
            (3, "test error, %", "test_error"),
        ):
            lines = {_way(*name): _line(groups.get(name, []), "n", key) for name in names}
            panels.append(Panel(f"Figure {number}: {data}", "examples n", what, lines, log_y=number == 1))
    return panels


def _sample_panels(rows: list[dict]) -> list[Panel]:
    panels = []
    for number, what, key in (
        (4, "seconds", "seconds"),
        (5, "iterations", "n_iter"),
        (6, "training error, %", "train_error"),
        (7, "test error, %", "test_error"),
    ):
        lines = {
            f"{way}, C = {C:g}": _line(mine, "r", key)
            for (way, C), mine in _groups([row for row in rows if row["way"] == "linear"], "way", "C").items()
        } | {
            f"{way}, C = {C:g}": _line(mine, "r", key)
            for (way, C), mine in _groups([row for row in rows if row["way"] == "constant"], "way", "C").items()
            if C in (0.1, 1.0, 10.0)
        }
        lines = {name: line for name, line in lines.items() if line[0]}
        dashed = {name: "--" for name in lines if name.startswith("constant")}
        panels.append(Panel(f"Figure {number}: Adult", "examples in a sample r", what, lines, log_y=number < 6,
                            styles=dashed))  # fmt: skip
    return panels


def overview(result: dict) -> str:
    """The section of docs/benchmarks.md."""
    part = result["scaling"]
    mine = [
        row
        for row in part["rows"]
        if row["data"] == "checkers" and row["r"] == 400 and row["way"] in ("constant", "linear")
    ]
    rows = [
        [
            f"`{way}`",
            f"{n:,}",
            f"{_seconds(each)} s",
            f"{_mean(each, 'n_iter'):.0f}",
            f"{_mean(each, 'test_error'):.2f} %",
        ]
        for (way, n), each in _groups(mine, "way", "n").items()
    ]
    words = (
        "Checkers (4 x 4 board, noise 0.02), Gaussian kernel, C = 1 per example, cuts of 400 examples. The paper, in "
        "2008, needed 1,411 s (constant-time, 3.23 %) and 60,101 s (linear-time, 2.99 %) for a million examples; its "
        "table and figures beside ours: [yu-joachims.md](results/yu-joachims.md). Processor time, "
        f"{part['threads']} thread{'s' if part['threads'] > 1 else ''}, {part['machine']['cpu']}, "
        f"{part['machine']['date']}."
    )
    table = markdown_table(["cuts", "examples", "processor time", "iterations", "test error"], rows)
    command = f"python benchmarks/sampled_cuts.py --parts scaling --threads {part['threads']}"
    return section("Kernels by sampled cuts", command, words, table)
