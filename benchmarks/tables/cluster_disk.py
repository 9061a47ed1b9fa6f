"""A picture of fits whose rows do not fit the memory of the workers."""

from __future__ import annotations

from benchmarks import figures


def plots(result: dict) -> dict:
    """Seconds with and without the memory."""
    kinds = {f"workers of {result['limit']}": result["limited"], "workers with room": result["unlimited"]}
    seconds = {name: {kind: found[name]["seconds"] for kind, found in kinds.items()} for name in result["limited"]}
    return {"seconds": figures.bars(f"{result['gigabytes']:.1f} GB on {result['workers']} workers", seconds)}
