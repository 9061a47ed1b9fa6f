"""Planes of every example that past searches found: tried before the next search."""

from __future__ import annotations

from collections.abc import Sequence

from cutplane._types import Array
from cutplane.structured import vectors
from cutplane.structured.base import OracleError, Sweep
from cutplane.structured.example_planes import ExamplePlane, sweep_of, truth_plane
from cutplane.structured.tuning import ORACLE


class PlaneCache:
    """The last planes found for each example, least recently best first.

    Parameters
    ----------
    examples, dimension : int
    most : int
        Planes kept for an example.
    exact : bool
        Whether the searches claim to be exact: then a search that finds less than the cache is an error.
    """

    def __init__(self, examples: int, dimension: int, *, most: int = 10, exact: bool = True) -> None:
        self._planes: list[dict[bytes, ExamplePlane]] = [{} for _ in range(examples)]
        self._dimension = dimension
        self._most = most
        self._exact = exact

    def __len__(self) -> int:
        return sum(len(each) for each in self._planes)

    def best(self, w: Array) -> list[ExamplePlane]:
        """The highest plane of each example at w among those known; the truth's where there is none."""
        truth = truth_plane(self._dimension)
        chosen = []
        for known in self._planes:
            key, plane = max(known.items(), key=lambda item: item[1].height(w), default=(b"", truth))
            if known:  # used now: the last to be dropped
                known[key] = known.pop(key)
            chosen.append(plane)
        return chosen

    def sweep(self, w: Array) -> Sweep:
        """As a sweep of searches, over the planes known: below the risk, not at it."""
        return sweep_of(self.best(w), w, self._dimension)

    def add(self, planes: Sequence[ExamplePlane], w: Array) -> None:
        """Take up what a sweep found at w."""
        for index, (known, plane) in enumerate(zip(self._planes, planes, strict=True)):
            self._check(index, known, plane, w)
            key = vectors.key(plane.slope, plane.offset)
            known.pop(key, None)
            known[key] = plane
            while len(known) > self._most:
                del known[next(iter(known))]

    def _check(self, index: int, known: dict[bytes, ExamplePlane], plane: ExamplePlane, w: Array) -> None:
        if not self._exact or not known:
            return
        best = max(each.height(w) for each in known.values())
        found = plane.height(w)
        if found < best - ORACLE.score_rounding * (1.0 + abs(best) + plane.offset):
            raise OracleError(
                f"Example {index}: the search found a labelling of height {found:.6g}, but one it found earlier has "
                f"{best:.6g}; an exact oracle finds the highest (exact = False admits it is none)."
            )
