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
    return {"seconds": figures.bars("Fits of rows of 54 features", seconds)}
