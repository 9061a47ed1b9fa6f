"""The README's table, and the longer one of docs/benchmarks.md, from `readme.py`."""

from __future__ import annotations

from benchmarks.measure import geometric_mean, median
from benchmarks.tables.markdown import markdown_table, section

ORDER = 1
#: Rows of the README, in their order. Others are for docs/benchmarks.md.
SHOWN = ("small", "text", "news20", "mnist", "mnist-hinge", "covtype", "a9a", "clicks", "millions")
HEADER = ["call", "rows x features", "Cutplane", "scikit-learn", "times as fast"]
WORDS = (
    "Each row is a whole `fit`, conversions included, of the same problem, at C = 1 unless it says otherwise. "
    "Cutplane stops at a proven gap of 1e-3. scikit-learn has its loosest tolerance that ends within 1e-3 of the "
    "optimum."
)
LONG = 0.1  # seconds


def tables(result: dict) -> dict[str, str]:
    """All rows that were measured."""
    return {"Whole calls": _table(result)} if result else {}


def figures(result: dict) -> dict:
    """None: eight numbers are a table."""
    return {}


def overview(result: dict) -> str:
    """All rows, for docs/benchmarks.md, with the settings that scikit-learn was given."""
    command = "python benchmarks/readme.py --data DIR"
    if not result:
        return section("Whole calls", command, "Not measured yet.", "").rstrip()
    text = section("Whole calls", command, f"{WORDS} {_machines(result)}", _table(_ordered(result)))
    lines = [f"- {_settings(part)}" for part in _ordered(result).values()]
    return "\n\n".join([text, "scikit-learn's settings:", "\n".join(lines)])


def summary(result: dict, called: dict) -> str:
    """The README's table, and where others are faster, which `as_called.py` measured."""
    shown = {name: result[name] for name in SHOWN if name in result}
    cells = losses(called["losses"]["rows"])
    if few := result.get("clicks-few", {}).get("rows"):
        ours, theirs = (median(few[0]["seconds"][who]) for who in ("ours", "scikit-learn"))
        rows, features = few[0]["shape"]
        cells += f" Worst of all: {rows:,} rows of {features / 1e6:.0f} million features ({theirs / ours:.2f}x)."
    return f"{WORDS} {_machines(shown)}\n\n{_table(shown)}\n\n{cells}" if shown else cells


def losses(rows: list[dict]) -> str:
    """Sentences on all cells: our whole `fit` and the fastest of LIBLINEAR's C solvers."""
    cells = [(_best(row) / row["seconds"]["fit"], _best(row), row) for row in rows if row["ratio"]]
    long = [(ratio, row) for ratio, best, row in cells if best >= LONG]
    worst, where = min(long, key=lambda each: each[0])
    mean, mean_long = geometric_mean([ratio for ratio, *_ in cells]), geometric_mean([ratio for ratio, _ in long])
    slower, slower_long = sum(ratio < 1.0 for ratio, *_ in cells), sum(ratio < 1.0 for ratio, _ in long)
    return (
        f"**Where we lose.** Our whole `fit` is on average {mean:.2f} times as fast as LIBLINEAR's C code alone. "
        f"It is slower in {slower} of {len(cells)} cells of data, loss and C. Where LIBLINEAR takes {LONG:g} s or "
        f"more, our `fit` is {mean_long:.2g} times as fast, and slower in {slower_long} of {len(long)} cells. We lose "
        f"on sets of 1,000 rows, on text at small C, and on {where['data'].upper()} with the {where['loss']} loss at "
        f"C = {where['C']:g} ({worst:.2f}x)."
    )


def _best(row: dict) -> float:
    return min(spent for name, spent in row["seconds"].items() if name.startswith("-s"))


def _ordered(result: dict) -> dict:
    return {name: result[name] for name in (*SHOWN, *sorted(set(result) - set(SHOWN))) if name in result}


def _name(row: dict) -> str:
    loss = "" if row["loss"] == "logistic" or "kernel" in row["call"] else f", {row['loss'].replace('_', ' ')}"
    C = "" if row["C"] == 1.0 else f", C = {row['C']:.2g}"
    return f"{row['call']}{loss}{C}: {row['data']}"


def _table(result: dict) -> str:
    return markdown_table(HEADER, [_line(row) for part in result.values() for row in part["rows"]])


def _line(row: dict) -> list[str]:
    ours, theirs = (median(row["seconds"][who]) for who in ("ours", "scikit-learn"))
    more, far = ("", "") if row["arrived"] else ("> ", f", {row['peer']['above']:.1%} above")
    late = "" if row["gap"] <= 1e-3 else f", gap {row['gap']:.1e}"
    size = " x ".join(f"{each:,}" for each in row["shape"])
    return [_name(row), size, f"{ours:.2g} s{late}", f"{more}{theirs:.2g} s{far}", f"{more}{theirs / ours:.2g}x"]


def _settings(part: dict) -> str:
    (row,) = part["rows"]
    peer, rounds = row["peer"], len(row["seconds"]["ours"])
    return (
        f"{_name(row)}: `tol={peer['tol']:g}`, {'dual' if peer['dual'] else 'primal'} problem, at most "
        f"{peer['passes']:,} passes; {peer['above']:.1e} above the optimum; {rounds} rounds."
    )


def _machines(result: dict) -> str:
    found = dict.fromkeys(
        f"Cutplane has {part['threads']} threads of {part['machine']['cores']} cores, scikit-learn one "
        f"({part['machine']['cpu']}, {part['machine']['date']}{', quick' if part['quick'] else ''})"
        for part in result.values()
    )
    stopped = [row for part in result.values() for row in part["rows"] if not row["arrived"]]
    return f"{'; '.join(found)}." + (" `>`: stopped before it was near enough." if stopped else "")
