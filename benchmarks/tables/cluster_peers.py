"""A picture of fits on a cluster beside Spark and dask-ml."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.measure import median


def plots(result: dict) -> dict:
    """Seconds of each, where its objective came close enough."""
    seconds = {
        "hinge, intercept": {"Cutplane, proven": median(result["hinge"]["seconds"])},
        "logistic": {"Cutplane, proven": median(result["logistic"]["seconds"])},
    }
    if result["spark"]["seconds"]:
        seconds["hinge, intercept"]["Spark"] = median(result["spark"]["seconds"])
    for solver, found in result["dask-ml"].items():
        if found.get("seconds"):
            seconds["logistic"][f"dask-ml, {solver}"] = median(found["seconds"])
    title = f"{result['rows']:,} rows of 54 features on {result['workers']} workers"
    return {"seconds": figures.bars(title, seconds)}
