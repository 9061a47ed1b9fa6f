"""Fits on a GPU: tables."""

from __future__ import annotations

from benchmarks.harness import markdown

PAGE = "../gpu.md"
_PARTS = (
    "fits",
    "path",
    "wide",
    "sparse",
    "text",
    "classes",
    "joint",
    "rankings",
    "kernels",
    "scores",
    "folds",
    "cuts",
    "strings",
    "scans",
    "peers",
    "start",
)


def tables(result: dict) -> dict[str, str]:
    """Seconds on the device and elsewhere; rates of passes."""
    found = {}
    if "passes" in result:
        header = ("rows", "copy, GB/s", "X @ w, GB/s", "of the copy's", "X' @ coef, GB/s", "of the copy's")
        found["gpu-passes"] = markdown(header, [_rates(row) for row in result["passes"]["rows"]])
    for part in _PARTS:
        if part in result:
            rows = result[part]["rows"]
            others = list(dict.fromkeys(name for row in rows for name in row["seconds"] if name != "device"))
            others = [name for name in others if name != "host" or not all("host_commit" in r for r in _hosts(rows))]
            ratios = ("times as fast" for _ in others)
            header = ("examples", "", "device, s", *(f"{name}, s" for name in others), *ratios)
            found[f"gpu-{part}"] = markdown(header, [_line(row, others) for row in rows])
    if "copies" in result:
        header = ("examples", "", "GB", "fit, s", "copy alone, s", "CuPy's copy, s")
        found["gpu-copies"] = markdown(header, [_copied(row) for row in result["copies"]["rows"]])
    return found


def _hosts(rows: list[dict]) -> list[dict]:
    """Rows with seconds of the host; those of earlier commits are not shown."""
    return [row for row in rows if "host" in row["seconds"]]


def _copied(row: dict) -> tuple:
    seconds = row["seconds"]
    return row["data"], row["what"], row["gigabytes"], seconds["device"], seconds["copy"], seconds["CuPy's copy"]


def _rates(row: dict) -> tuple:
    copy, scores, combine = (row["gigabytes_a_second"][name] for name in ("copy", "scores", "combine"))
    return row["data"], round(copy), round(scores), scores / copy, round(combine), combine / copy


def _line(row: dict, others: list[str]) -> tuple:
    seconds = row["seconds"]
    known = [seconds.get(name) for name in others]  # not everything is measured everywhere
    # A host that was measured at another commit gives no ratio.
    apart = "host_commit" in row
    ratios = (None if each is None or apart else each / seconds["device"] for each in known)
    return row["data"], row["what"], seconds["device"], *map(_known, known), *map(_known, ratios)


def _known(value: float | None) -> float | str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 1000 else value


def figures(result: dict) -> dict:
    """None."""
    return {}
