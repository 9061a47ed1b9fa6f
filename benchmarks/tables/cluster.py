"""Pictures of fits on a cluster."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.measure import median


def plots(result: dict) -> dict:
    """Seconds on a cluster and in one process, by rows and workers."""
    groups = {"the largest": result["runs"], "strong scaling": result["strong"], "weak scaling": result["weak"]}
    seconds: dict[str, dict[str, float]] = {}
    for group, runs in groups.items():
        for run in runs:
            for name, cell in run["settings"].items():
                place = seconds.setdefault(f"{group}: {run['rows']:,} rows, {run['workers']} workers, {name}", {})
                place["cluster"] = median(cell["seconds"])
                place["one process"] = median(cell["one process"]["seconds"])
    drawn = {"seconds": figures.bars("Fits of rows of 54 features", seconds)}
    panels = []
    if strong := result["strong"]:
        panels.append(_scaling(f"Strong scaling: {strong[0]['rows']:,} rows", strong))
    if weak := result["weak"]:
        panels.append(_scaling(f"Weak scaling: {weak[0]['rows'] // weak[0]['workers']:,} rows a worker", weak))
    return drawn | ({"scaling": figures.draw(panels)} if panels else {})


def _scaling(title: str, runs: list[dict]) -> figures.Panel:
    """Seconds by the number of workers, and those of one process with as many threads."""
    lines: dict[str, figures.Line] = {}
    runs = sorted(runs, key=lambda run: run["workers"])
    workers = [run["workers"] for run in runs]
    for name in runs[0]["settings"]:
        cells = [run["settings"][name] for run in runs]
        lines[f"cluster, {name}"] = workers, [median(cell["seconds"]) for cell in cells]
        lines[f"one process, {name}"] = workers, [median(cell["one process"]["seconds"]) for cell in cells]
    dotted = {name: ":" for name in lines if name.startswith("one process")}
    return figures.Panel(title, "workers, or threads", "seconds", lines, log_x=False, log_y=False, styles=dotted)
