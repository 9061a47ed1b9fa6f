"""Fits on a GPU: tables."""

from __future__ import annotations

from benchmarks.harness import markdown

_TITLES = {
    "fits": "Twenty million rows, to a proven gap of 1e-3",
    "path": "A path of C",
    "wide": "Embeddings of half precision",
    "sparse": "Sparse rows",
    "peers": "Beside L-BFGS on the same device",
    "start": "The first fit of a process",
}


def tables(result: dict) -> dict[str, str]:
    """Seconds on the device and elsewhere; rates of passes."""
    found = {}
    if "passes" in result:
        header = ("rows", "copy, GB/s", "X @ w, GB/s", "of the copy's", "X' @ coef, GB/s", "of the copy's")
        found["Passes"] = markdown(header, [_rates(row) for row in result["passes"]["rows"]])
    for part, title in _TITLES.items():
        if part in result:
            rows = result[part]["rows"]
            others = [name for name in rows[0]["seconds"] if name != "device"]
            header = (
                "examples",
                "",
                "device, s",
                *(f"{name}, s" for name in others),
                *("times as fast" for _ in others),
            )
            found[title] = markdown(header, [_line(row, others) for row in rows])
    return found


def _rates(row: dict) -> tuple:
    rates = row["gigabytes_a_second"]
    scores, combine = rates["scores"], rates["combine"]
    return row["data"], rates["copy"], scores, scores / rates["copy"], combine, combine / rates["copy"]


def _line(row: dict, others: list[str]) -> tuple:
    seconds = row["seconds"]
    ratios = (seconds[name] / seconds["device"] for name in others)
    return row["data"], row["what"], seconds["device"], *(seconds[name] for name in others), *ratios


def figures(result: dict) -> dict:
    """None."""
    return {}
