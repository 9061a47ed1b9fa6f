"""The tables of docs/results/ofs.md."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.measure import geometric_mean
from benchmarks.tables.markdown import markdown_table

PAGE = "ofs.md"
SELECTIONS = ("second-order", "ofs1", "ofs2", "mvp", "hmg")
RULES = {"pair": "selected pair (the paper)", "kkt": "maximal violation", "gap": "duality gap"}


def tables(result: dict) -> dict[str, str]:
    """For each kernel the ratios to LIBSVM's way, and every run."""
    made = {}
    for kernel in dict.fromkeys(entry["kernel"] for entry in result["tables"]):
        entries = [entry for entry in result["tables"] if entry["kernel"] == kernel]
        made[f"{kernel} ratios"] = ratios(entries)
        made[f"{kernel} runs"] = runs(entries)
    return made


def ratios(entries: list[dict]) -> str:
    """Geometric means over the sets, relative to second-order selection under the sound rule: LIBSVM's way."""
    entries = largest(entries)
    cells = cells_of(entries)
    names = dict.fromkeys(name for name, *_ in cells)
    rows = []
    for rule in rules_of(entries):
        for what in ("iterations", "seconds"):
            row = [RULES[rule], what]
            for selection in SELECTIONS:
                found = [
                    cells[name, selection, rule][what] / cells[name, "second-order", "kkt"][what]
                    for name in names
                    if ended(cells.get((name, selection, rule)))
                ]
                row.append(f"{geometric_mean(found):.2f} ({len(found)})" if found else "-")
            rows.append(row)
    return markdown_table(["stops on", "", *SELECTIONS], rows)


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
    found = {}
    for kernel in dict.fromkeys(entry["kernel"] for entry in result.get("tables", [])):
        seconds: dict[str, dict[str, float]] = {}
        for entry in largest([entry for entry in result["tables"] if entry["kernel"] == kernel]):
            if entry["rule"] == "kkt" and ended(entry):
                seconds.setdefault(entry["set"], {})[entry["selection"]] = entry["seconds"]
        if seconds:
            found[kernel] = figures.bars(f"Working sets, {kernel}: to a maximal violation of 1e-3", seconds)
    return found
