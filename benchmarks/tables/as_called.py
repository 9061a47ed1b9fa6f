"""Tables and plots of `as_called.py`."""

from __future__ import annotations

from benchmarks import figures as draw
from benchmarks.measure import geometric_mean, table
from benchmarks.tables.markdown import markdown_table, section

ORDER = 5
WORDS = (
    "A ratio is the peer's seconds over ours, to 1e-3 of the optimum: ours proven, theirs at the loosest tolerance "
    "that ends there. Rows of cells compare our whole `fit` with the fastest of LIBLINEAR's C solvers alone, without "
    "an intercept: geometric mean and range over eight data sets and four C (1e-4 to 10), where LIBLINEAR arrived. "
    "Other rows compare our whole `fit` with that of scikit-learn's `LinearSVC`; small data has default settings. "
    "`>`: stopped before it arrived."
)

LOSSES = ("hinge", "squared_hinge", "logistic", "epsilon_insensitive", "squared_epsilon_insensitive")

PEERS = (
    ("small", "Small data: scikit-learn's seconds / ours, both of fit", "scikit-learn"),
    ("robust", "Huber's loss and quantiles: ReHLine's seconds / ours, both of fit", "ReHLine"),
)


def _ratio(value: float | None) -> str:
    return "not in time" if value is None else f"{value:.2f}x"


def tables(result: dict) -> dict[str, str]:
    """As Markdown, by title."""
    made = {}
    if "losses" in result:
        rows = result["losses"]["rows"]
        made["Every loss, no intercept: LIBLINEAR's seconds / ours"] = table(
            ("data", "loss", "C", "solver, s", "fit, s", "ratio"),
            [
                (r["data"], r["loss"], r["C"], r["seconds"]["ours"], r["seconds"]["fit"], _ratio(r["ratio"]))
                for r in rows
            ],
        )
        made["Geometric means"] = table(("loss", "mean", "least", "cells", "below 1x"), loss_means(rows))
    if "options" in result:
        rows = result["options"]["rows"]
        ways = [way for way in rows[0]["seconds"] if way != "none"]
        made["What options cost: fit with them / without"] = table(
            ("data", "loss", "C", "without, s", *ways),
            [
                (
                    r["data"],
                    r["loss"],
                    r["C"],
                    r["seconds"]["none"],
                    *(f"{r['seconds'][way] / r['seconds']['none']:.2f}" for way in ways),
                )
                for r in rows
            ],
        )
        made["Geometric means of options"] = table(("option", "mean", "most"), option_means(rows))
    if "classes" in result:
        rows = result["classes"]["rows"]
        made["Several classes: scikit-learn's seconds / ours, both of fit"] = table(
            ("data", "loss", "C", "intercept_scaling=1", "ours, s", "scikit-learn, s", "ratio"),
            [
                (
                    r["data"],
                    r["loss"],
                    r["C"],
                    "yes" if r["intercept_scaling"] else "no intercept",
                    r["seconds"]["ours"],
                    r["seconds"].get("scikit-learn", r["theirs_at_least"]),
                    _ratio(r["ratio"]),
                )
                for r in rows
            ],
        )
        ratios = [r["ratio"] for r in rows if r["ratio"]]
        made["Geometric mean of classes"] = f"{geometric_mean(ratios):.2f}x" if ratios else "none"
    for part, title, peer in PEERS:
        if part in result:
            made[title] = table(
                ("data", "loss", "C", "ours, s", f"{peer}, s", "ratio"),
                [
                    (
                        r["data"],
                        r["loss"],
                        r.get("C", 1.0),
                        r["seconds"]["ours"],
                        r["seconds"].get(peer, r.get("theirs_at_least")),
                        _ratio(r["ratio"]),
                    )
                    for r in result[part]["rows"]
                ],
            )
    return made


def _machines(result: dict) -> str:
    """Where and when: small data may have been measured elsewhere than the rest."""
    others, small = (result[part]["machine"] for part in ("losses", "small"))
    lines = [f"{each['cpu'] or each['architecture']}, {each['date']}" for each in (others, small)]
    return lines[0] if lines[0] == lines[1] else f"{lines[0]}; small data on {lines[1]}"


def overview(result: dict) -> str:
    """What people call first, in docs/benchmarks.md."""
    rows = [
        (f"two classes or a regression, `{loss}`", f"{cells} cells", "", "", f"{mean:.2g}x ({least:.2g} to {most:.2g})")
        for loss, mean, least, most, cells in _spans(result["losses"]["rows"])
    ]
    for part, words in (("classes", "{data}, one against the rest, `{loss}`"), ("small", "{data}, `{loss}`")):
        rows += [
            (
                words.format(**row) + (", `intercept_scaling=1`" if row.get("intercept_scaling") else ""),
                f"C = {row.get('C', 1.0):g}",
                f"{row['seconds']['ours']:.2g} s",
                f"{row['seconds']['scikit-learn']:.2g} s" if row["ratio"] else f"> {row['theirs_at_least']:.2g} s",
                _ratio(row["ratio"]) if row["ratio"] else f"> {row['theirs_at_least'] / row['seconds']['ours']:.1f}x",
            )
            for row in result[part]["rows"]
        ]
    words = f"{WORDS} {_costs(result)} {result['losses']['threads']} threads, {_machines(result)}."
    return section(
        "As you would call it",
        "python benchmarks/as_called.py --data DIR",
        words,
        markdown_table(["call", "", "ours", "peer", "ratio"], rows),
    )


def _costs(result: dict) -> str:
    """What options make of the time of a fit, in sentences."""
    costs = {way: (mean, most) for way, mean, most in option_means(result["options"]["rows"])}
    names = {"intercept": "An intercept", "intercept_scaling=1": "A penalised one", "prior": "A prior"}
    return " ".join(
        f"{name} makes a fit {costs[way][0]:.2f} times as long on average, {costs[way][1]:.1f} times at most."
        for way, name in names.items()
    )


def _spans(rows: list[dict]) -> list[tuple]:
    """By loss: the geometric mean, least, most and number of the ratios by the whole of our `fit`."""
    found = {
        loss: [
            r["ratio"] * r["seconds"]["ours"] / r["seconds"]["fit"] for r in rows if r["loss"] == loss and r["ratio"]
        ]
        for loss in LOSSES
    }
    return [(loss, geometric_mean(r), min(r), max(r), len(r)) for loss, r in found.items() if r]


def loss_means(rows: list[dict]) -> list[tuple]:
    """By loss: the geometric mean of the ratios, the least, how many, how many are below one."""
    means = []
    for loss in LOSSES:
        found = [r["ratio"] for r in rows if r["loss"] == loss and r["ratio"]]
        if found:
            means.append((loss, geometric_mean(found), min(found), len(found), sum(each < 1.0 for each in found)))
    return means


def option_means(rows: list[dict]) -> list[tuple]:
    """By option: the geometric mean and the most of what it costs."""
    means = []
    for way in rows[0]["seconds"]:
        found = [r["seconds"][way] / r["seconds"]["none"] for r in rows]
        if way != "none":
            means.append((way, geometric_mean(found), max(found)))
    return means


def figures(result: dict) -> dict:
    """Ratios by loss."""
    if "losses" not in result:
        return {}
    rows = result["losses"]["rows"]
    bars = {loss: {"LIBLINEAR / ours": mean} for loss, mean, *_ in loss_means(rows)}
    return {"losses": draw.bars("Every loss, geometric means", bars)} if bars else {}
