"""What more threads bring: tables and plots."""

from __future__ import annotations

from benchmarks.figures import Panel, draw
from benchmarks.harness import markdown, where

PAGE = "../cores.md"
ORDER = 11
TITLES = {
    "rows": "Rows by the million",
    "passes": "Passes",
    "classes": "Each class against the rest",
    "joint": "Several classes as one problem",
    "kernels": "Kernel machines",
    "sequences": "Sequences",
    "strings": "Strings",
    "text": "Text",
}


def tables(result: dict) -> dict[str, str]:
    """One for each part, one for the peers, one of where the time goes."""
    made = {TITLES[part]: _table(found) for part, found in result.items() if part != "passes" and _fits(found)}
    if "passes" in result:
        made[TITLES["passes"]] = _shares(result["passes"])
    found = result.get("rows", {"rows": []})
    if _fits(found) and len(_fits(found)) < len(found["rows"]):
        made["Peers"] = _peers(result["rows"])
    phases = _phases(result)
    return made | ({"Where the time goes": phases} if phases else {}) | {"machine": where(result)}


def overview(result: dict) -> str:
    """Rows by the million, beside those who could take them."""
    found = result["rows"]
    text = (
        "Covtype 35 times with noise, hinge loss, no intercept, to 1e-3. LIBLINEAR (in scikit-learn's `LinearSVC`) "
        "and `SGDClassifier` have one thread and were given a tenth of the rows; their seconds are multiplied by ten, "
        "which flatters them."
    )
    command = "`python benchmarks/cores.py --data DIR --threads 1,2,4,8,16`"
    return "\n\n".join(["### Twenty million rows", command, f"{text} {where({'rows': found})}", _peers(found)])


def _fits(part: dict) -> list[dict]:
    return [row for row in part["rows"] if not row.get("peer")]


def _scaled(part: dict) -> list[dict]:
    """Fits with several numbers of threads."""
    return [row for row in _fits(part) if _first(row) != _last(row)]


def _speedup(row: dict, threads: str) -> float:
    return row["seconds"][_first(row)] / row["seconds"][threads]


def _allowed(row: dict, threads: str) -> float:
    return row["floor_rate"][threads] / row["floor_rate"][_first(row)]


def _first(row: dict) -> str:
    return min(row["seconds"], key=int)


def _last(row: dict) -> str:
    return max(row["seconds"], key=int)


def share(row: dict, threads: str) -> float:
    """Of the rate of a copy, or of sgemm."""
    return 1e-9 * row["work"] / row["seconds"][threads] / row["floor_rate"][threads]


def _numbers(rows: list[dict]) -> list[str]:
    """Of threads: rows may be measured apart, with others."""
    return sorted({each for row in rows for each in row["seconds"]}, key=int)


def _table(part: dict) -> str:
    rows = _fits(part)
    numbers = _numbers(rows)
    header = ["data", "", *(f"{each} s" for each in numbers), "speed-up", "the machine's", "of it"]
    return markdown(header, [_line(row, numbers) for row in rows])


def _line(row: dict, numbers: list[str]) -> list[object]:
    late = row.get("limited", [])
    seconds = [_seconds(row, each) for each in numbers]
    last = _last(row)
    if last == _first(row):
        return [row["data"], row["what"], *seconds, "", "", ""]
    more = "> " if _first(row) in late and last not in late else ""
    speedup = "" if last in late else f"{more}{_speedup(row, last):.3g}x"
    machine = f"{_allowed(row, last):.3g}x ({row['floor']})"
    return [row["data"], row["what"], *seconds, speedup, machine, _of_machine(row, last)]


def _seconds(row: dict, threads: str) -> str:
    if threads not in row["seconds"]:
        return ""
    return f"{'> ' if threads in row.get('limited', []) else ''}{row['seconds'][threads]:.3g}"


def _of_machine(row: dict, threads: str) -> str:
    """Of the machine's rate where the work is known, else of its speed-up."""
    if "phases" not in row:
        return f"{share(row, threads):.0%} of {row['floor']}"
    late = set(row["limited"]) & {_first(row), threads}
    return "" if late else f"{_speedup(row, threads) / _allowed(row, threads):.0%}"


def _shares(part: dict) -> str:
    rows = _fits(part)
    numbers = _numbers(rows)
    header = ["data", "pass", *(f"of a copy, {each}" for each in numbers), "speed-up"]
    lines = [
        [
            row["data"],
            row["what"],
            *(f"{share(row, each):.0%}" for each in numbers),
            f"{_speedup(row, _last(row)):.3g}x",
        ]
        for row in rows
    ]
    copy = [f"{rows[0]['floor_rate'][each]:.3g} GB/s" for each in numbers]
    return markdown(
        header, [["a copy, read and written", "", *copy, f"{_allowed(rows[0], _last(rows[0])):.3g}x"], *lines]
    )


def _peers(part: dict) -> str:
    ours = _fits(part)[0]
    lines = [[f"Cutplane, threads: {each}", f"{spent:.3g}", "proven 1e-3"] for each, spent in ours["seconds"].items()]
    lines += [
        [row["what"], f"{row['seconds']['1']:.3g}", f"{row['above']:.1e} above the optimum"]
        for row in part["rows"]
        if row.get("peer")
    ]
    return markdown([f"{ours['data']}, {ours['what']}", "seconds", "precision"], lines)


def _phases(result: dict) -> str:
    """Seconds of the longest phases with one thread and with all of them."""
    rows = [row for part in result.values() for row in part["rows"] if row.get("phases")]
    lines = []
    for row in rows:
        first, last = (_longest(row["phases"][each]) for each in (_first(row), _last(row)))
        lines.append([row["data"], row["what"], "" if _first(row) == _last(row) else first, last])
    return markdown(["data", "", "fewest threads", "most threads"], lines) if lines else ""


def _longest(phases: dict[str, float], count: int = 4) -> str:
    ordered = sorted(phases.items(), key=lambda each: -each[1])[:count]
    return ", ".join(f"{name.replace('_', ' ')} {spent:.2g}" for name, spent in ordered)


def figures(result: dict) -> dict:
    """Speed-ups by the number of threads, a panel for each part, beside what the machine allows."""
    scaled = {part: _scaled(found) for part, found in result.items() if part != "passes"}
    panels = [_panel(TITLES[part], rows) for part, rows in scaled.items() if rows]
    drawn = {"speedups": draw(panels)} if panels else {}
    if "passes" in result:
        panels = [_pass_panel(way, result["passes"]["rows"]) for way in ("scores", "combine")]
        drawn["passes"] = draw([panel for panel in panels if panel.lines])
    return drawn


def _panel(title: str, rows: list[dict]) -> Panel:
    lines = {}
    for row in rows:
        ended = [each for each in row["seconds"] if each not in row.get("limited", [])]
        if _first(row) in ended:
            lines[f"{row['data']}, {row['what']}"] = [int(each) for each in ended], [_speedup(row, e) for e in ended]
    numbers = [int(each) for each in rows[0]["seconds"]]
    floor = f"the machine: {rows[0]['floor']}"
    lines[floor] = numbers, [_allowed(rows[0], str(each)) for each in numbers]
    return Panel(title, "threads", "times one thread", lines, log_x=False, log_y=False, styles={floor: ":"})


def _pass_panel(way: str, rows: list[dict]) -> Panel:
    lines = {
        row["data"]: ([int(each) for each in row["seconds"]], [share(row, each) for each in row["seconds"]])
        for row in rows
        if row["what"].endswith(way)
    }
    return Panel(way, "threads", "share of a copy", lines, log_x=False, log_y=False)
