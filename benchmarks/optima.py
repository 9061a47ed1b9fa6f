"""The best known optimum of each data set and C: a proven lower bound and the least objective ever evaluated.

Kept in results/optima.json, so that every run judges by the same optimum and no solver is judged by itself
alone. A lower bound above a known objective, or an objective below a known lower bound, is a false one.
"""

import json
from pathlib import Path

from benchmarks.measure import RESULTS, write_json

FILE = RESULTS / "optima.json"
ROUNDING = 1e-9  # relative; sums of half a million terms differ by this much with their order


def _set_of(data: str) -> str:
    return data.removesuffix("-dense")  # the same examples, laid out otherwise


class FalseCertificateError(Exception):
    """A bound contradicts an objective that was evaluated."""


class Optima:
    """Brackets [lower, upper] by data set and C."""

    def __init__(self, file: Path = FILE) -> None:
        self._file = file
        self._known: dict[str, dict[str, list[float]]] = json.loads(file.read_text()) if file.exists() else {}

    def get(self, data: str, C: float) -> tuple[float, float] | None:
        found = self._known.get(_set_of(data), {}).get(f"{C:g}")
        return (found[0], found[1]) if found else None

    def learn(self, data: str, C: float, lower: float, upper: float) -> tuple[float, float]:
        """Narrow the bracket by what a run proved; returns the bracket."""
        old_lower, old_upper = self.get(data, C) or (lower, upper)
        if lower > old_upper * (1 + ROUNDING) or upper < old_lower * (1 - ROUNDING):
            raise FalseCertificateError(
                f"{data}, C = {C:g}: [{lower!r}, {upper!r}] contradicts [{old_lower!r}, {old_upper!r}]"
            )
        bracket = (max(lower, old_lower), min(upper, old_upper))
        self._known.setdefault(_set_of(data), {})[f"{C:g}"] = list(bracket)
        return bracket

    def save(self) -> None:
        write_json(self._file, self._known)
