"""The README's table, and the longer one of docs/benchmarks.md, from `readme.py`."""

from __future__ import annotations

from benchmarks.measure import geometric_mean, median
from benchmarks.tables.markdown import markdown_table, section

ORDER = 1
SHOWN = ("small", "text", "news20", "mnist", "covtype", "a9a", "clicks", "millions")
HEADER = ["call", "rows x features", "Cutplane", "scikit-learn", "times as fast"]
WORDS = (
    "Each row is a whole `fit`, conversions included, on the same problem with C = 1. Cutplane stops when a gap of 1e-3 is "
    "proven; scikit-learn has its loosest tolerance that ends within 1e-3 of the optimum."
)
LONG = 0.1  # seconds


def tables(result: dict) -> dict[str, str]:
    """All rows that were measured."""
    return {"Whole calls": _table(result)} if result else {}


def figures(result: dict) -> dict:
    """None: eight numbers are a table."""
    return {}


def overview(result: dict) -> str:
    """All rows, for docs/benchmarks.md, with what they were given."""
    words = f"{WORDS} {_machines(result)}" if result else "Not measured yet."
    lines = [
        f"- {_name(part)}: tolerance {row['peer']['tol']:g}, at most {row['peer']['passes']:,} passes, "
        f"{'dual' if row['peer']['dual'] else 'primal'} problem; {row['peer']['above']:.1e} above the optimum; "
        f"{len(row['seconds']['ours'])} rounds."
        for part in result.values()
        for row in part["rows"]
    ]
    text = section("Whole calls", "python benchmarks/readme.py --data DIR", words, _table(result) if result else "")
    return "\n\n".join([text.rstrip(), *(["scikit-learn's settings:", "\n".join(lines)] if lines else [])])


def summary(result: dict, called: dict) -> str:
    """The README's table, and the sentences on what it leaves out, which `as_called.py` measured."""
    shown = {name: result[name] for name in SHOWN if name in result}
    cells = " ".join(losses(called["losses"]["rows"]))
    if not shown:
        return cells
    return f"{WORDS} {_machines(shown)}\n\n{_table(shown)}\n\n{cells}"


def losses(rows: list[dict]) -> list[str]:
    """Sentences on all cells: our whole `fit` and the fastest of LIBLINEAR's C solvers."""
    cells = [(_best(row) / row["seconds"]["fit"], _best(row), row) for row in rows if row["ratio"]]
    long = [ratio for ratio, best, _ in cells if best >= LONG]
    worst = min((cell for cell in cells if cell[1] >= LONG), key=lambda cell: cell[0])
    return [
        f"**Where we lose.** We compared the whole `fit` with LIBLINEAR's C code alone in {len(cells)} cells of data, loss "
        f"and C.",
        f"On average Cutplane is {geometric_mean([cell[0] for cell in cells]):.2f} times as fast, and slower in "
        f"{sum(cell[0] < 1.0 for cell in cells)} cells.",
        f"Where LIBLINEAR takes {LONG:g} s or more, Cutplane is {geometric_mean(long):.2g} times as fast, and slower in "
        f"{sum(ratio < 1.0 for ratio in long)} of {len(long)}.",
        "The losses are sets of 1,000 rows, text at small C,",
        f"and {worst[2]['data'].upper()} with `{worst[2]['loss']}` loss at C = {worst[2]['C']:g} ({worst[0]:.2f}x).",
    ]


def _best(row: dict) -> float:
    return min(spent for name, spent in row["seconds"].items() if name.startswith("-s"))


def _name(part: dict) -> str:
    (row,) = part["rows"]
    return f"{row['call']}, {row['data']}"


def _table(result: dict) -> str:
    return markdown_table(HEADER, [_line(part) for part in result.values()])


def _line(part: dict) -> list[str]:
    (row,) = part["rows"]
    ours, theirs = (median(row["seconds"][who]) for who in ("ours", "scikit-learn"))
    more = "" if row["arrived"] else "> "
    rows, features = row["shape"]
    far = "" if row["arrived"] else f", {row['peer']['above']:.1%} above"
    return [
        _name(part),
        f"{rows:,} x {features:,}",
        f"{ours:.2g} s",
        f"{more}{theirs:.2g} s{far}",
        f"{more}{theirs / ours:.2g}x",
    ]


def _machines(result: dict) -> str:
    found = dict.fromkeys(
        f"{part['threads']} threads for Cutplane, 1 for scikit-learn; {part['machine']['cpu']}, {part['machine']['date']}"
        + (", quick" if part["quick"] else "")
        for part in result.values()
    )
    return f"{'; '.join(found)}. `>`: stopped before it came near enough."
