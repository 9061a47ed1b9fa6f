"""The tables of docs/results/ofs.md."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.measure import geometric_mean
from benchmarks.tables.markdown import markdown_table

PAGE = "ofs.md"
SELECTIONS = ("second-order", "ofs1", "ofs2", "mvp", "hmg")
# What the paper has in its Tables 3 to 5 for OFS2 over LIBSVM, each by its own rule.
PAPER = {"rbf": 0.58, "poly": 0.51, "sigmoid": 0.58}
RULES = {"pair": "selected pair (the paper)", "kkt": "maximal violation", "gap": "duality gap"}


def tables(result: dict) -> dict[str, str]:
    """What was found, and for each kernel the ratios to LIBSVM's way and every run."""
    made = {"found": found(result["tables"]), "by set": by_set(result["tables"])}
    for kernel in dict.fromkeys(entry["kernel"] for entry in result["tables"]):
        entries = of_kernel(result["tables"], kernel)
        made[f"{kernel} ratios"] = ratios(entries)
        made[f"{kernel} runs"] = runs(entries)
    return made


def found(entries: list[dict]) -> str:
    """What OFS2 saves, and what the rule it stops by."""
    questions = {
        "OFS2 by the paper's rule": ("ofs2", "pair", "iterations"),
        "second-order by the paper's rule": ("second-order", "pair", "iterations"),
        "OFS2 by the sound rule": ("ofs2", "kkt", "iterations"),
        "OFS2 by the sound rule, seconds": ("ofs2", "kkt", "seconds"),
        "OFS1 by the sound rule": ("ofs1", "kkt", "iterations"),
        "OFS2 to a duality gap of 1e-3": ("ofs2", "gap", "iterations"),
        "second-order to a duality gap of 1e-3": ("second-order", "gap", "iterations"),
    }
    rows = [["the paper: OFS2 by its rule", *(f"{ratio}" for ratio in PAPER.values())]]
    for question, asked in questions.items():
        rows.append([question, *(mean(list(relative(of_kernel(entries, name), *asked).values())) for name in PAPER)])
    return markdown_table(["iterations relative to LIBSVM's", *PAPER], rows)


def by_set(entries: list[dict]) -> str:
    """Iterations of OFS2 over those of second-order, both by the sound rule."""
    of = {kernel: relative(of_kernel(entries, kernel), "ofs2", "kkt", "iterations") for kernel in PAPER}
    sets = dict.fromkeys(entry["set"] for entry in entries)
    sizes = {
        kernel: {name.split()[0]: f"{ratio:.2f} {name.split()[1]}" for name, ratio in of[kernel].items()}
        for kernel in of
    }
    return markdown_table(
        ["set", *PAPER], [[name, *(sizes[kernel].get(name, "-") for kernel in PAPER)] for name in sets]
    )


def ratios(entries: list[dict]) -> str:
    """Geometric means over the sets, relative to second-order selection under the sound rule: LIBSVM's way."""
    rows = []
    for rule in rules_of(entries):
        for what in ("iterations", "seconds"):
            cells = [list(relative(entries, selection, rule, what).values()) for selection in SELECTIONS]
            rows.append([RULES[rule], what, *(f"{mean(cell)} ({len(cell)})" if cell else "-" for cell in cells)])
    return markdown_table(["stops on", "", *SELECTIONS], rows)


def relative(entries: list[dict], selection: str, rule: str, what: str) -> dict[str, float]:
    """By set with its size, relative to LIBSVM's way, where the run came to its end."""
    cells = cells_of(largest(entries))
    return {
        name: cells[name, selection, rule][what] / cells[name, "second-order", "kkt"][what]
        for name in dict.fromkeys(name for name, *_ in cells)
        if ended(cells.get((name, selection, rule)))
    }


def mean(ratios: list[float]) -> str:
    return f"{geometric_mean(ratios):.2f}" if ratios else "-"


def of_kernel(entries: list[dict], kernel: str) -> list[dict]:
    return [entry for entry in entries if entry["kernel"] == kernel]


def largest(entries: list[dict]) -> list[dict]:
    """Every set at one size, the largest at which LIBSVM's way came to its end; sets where it did not are left out."""
    sizes: dict[str, int] = {}
    for entry in entries:
        if (entry["selection"], entry["rule"]) == ("second-order", "kkt") and ended(entry):
            sizes[entry["set"]] = max(entry["rows"], sizes.get(entry["set"], 0))
    return [entry for entry in entries if entry["rows"] == sizes.get(entry["set"])]


def runs(entries: list[dict]) -> str:
    """Iterations, seconds, violation and gap of every selector on every set, under each rule."""
    cells = cells_of(entries)
    header = ["set", "selection"]
    rules = rules_of(entries)
    for rule in rules:
        header += [f"{rule}: iterations", "seconds", "violation", "gap"]
    rows = []
    for name in dict.fromkeys(name for name, *_ in cells):
        for selection in SELECTIONS:
            if (name, selection, rules[0]) not in cells:
                continue
            found = [cells[name, selection, rule] for rule in rules]
            label = name if selection == SELECTIONS[0] else ""
            rows.append([label, selection, *(word for cell in found for word in words_of(cell))])
    return markdown_table(header, rows)


def cells_of(entries: list[dict]) -> dict[tuple[str, str, str], dict]:
    """By set with its size, selection and rule."""
    return {(f"{e['set']} ({e['rows']:,})", e["selection"], e["rule"]): e for e in entries}


def rules_of(entries: list[dict]) -> list[str]:
    """Those that were measured, in their order."""
    measured = {entry["rule"] for entry in entries}
    return [rule for rule in RULES if rule in measured]


def words_of(cell: dict) -> list[str]:
    more = "" if ended(cell) else "+"
    seconds = f"{cell['seconds']:.2g}" if cell["seconds"] < 100 else f"{cell['seconds']:.0f}"
    numbers = (f"{cell[key]:.0e}" for key in ("violation", "gap"))
    return [f"{cell['iterations']:,}{more}", seconds, *numbers]


def ended(cell: dict | None) -> bool:
    """Whether the rule ended the run, not the limit of time."""
    return cell is not None and cell["stop"] == cell["rule"]


def plots(result: dict) -> dict:
    """Seconds of every selector under the sound rule, by kernel, where the run came to an end."""
    panels = {}
    for kernel in dict.fromkeys(entry["kernel"] for entry in result.get("tables", [])):
        seconds: dict[str, dict[str, float]] = {}
        for entry in largest(of_kernel(result["tables"], kernel)):
            if entry["rule"] == "kkt" and ended(entry):
                seconds.setdefault(entry["set"], {})[entry["selection"]] = entry["seconds"]
        if seconds:
            panels[kernel] = figures.bars(f"Working sets, {kernel}: to a maximal violation of 1e-3", seconds)
    return panels
