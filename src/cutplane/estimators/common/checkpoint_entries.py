"""What a checkpoint keeps of one problem, as arrays and JSON, and back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar, get_args

import numpy as np

from cutplane._types import Arrays, Document, Params
from cutplane.estimators.common.history_arrays import history_from_arrays, history_to_arrays
from cutplane.estimators.common.left_out import qualified_name
from cutplane.estimators.common.stored import finite
from cutplane.proof.prover import Plane
from cutplane.risks.base import Array, Risk
from cutplane.solvers.base import Duals
from cutplane.solvers.bundle.planes import BundleLike
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.result import Result, StopReason
from cutplane.solvers.stopping import Stopping

_SCALES = (0.1, 1.0, 10.0)


class Problem(Protocol):
    """An objective, as far as checkpoints see it."""

    @property
    def dimension(self) -> int: ...  # noqa: D102

    @property
    def examples(self) -> int: ...  # noqa: D102


P = TypeVar("P", bound=Problem, contravariant=True)


class Run(Protocol[P]):
    """The settings of a run, as far as checkpoints see them."""

    @property
    def C(self) -> float: ...  # noqa: D102

    @property
    def stopping(self) -> Stopping: ...  # noqa: D102

    def new_bundle(self, objective: P) -> BundleLike: ...  # noqa: D102


@dataclass(frozen=True)
class Entry:
    """The incumbent and the planes of a problem; of one that has ended, the plane that proves its bound.

    Attributes
    ----------
    arrays : dict of str to ndarray
    about : dict
        What JSON can hold. "reason" is why the run ended; None: it has not.
    """

    arrays: Arrays
    about: Document

    @classmethod
    def running(cls, ledger: Ledger) -> Self:
        """A run under way, which has an incumbent."""
        point = ledger.incumbent
        assert point is not None
        slopes, offsets, errors = ledger.planes()
        arrays: Arrays = {"w": point.w, "intercept": np.asarray(point.intercept, np.float64)}
        arrays |= {"slopes": slopes, "offsets": offsets, "errors": errors}
        duals = ledger.current_duals
        if duals is not None:
            arrays |= {"duals.slopes": duals.slopes, "duals.w": duals.w}
            arrays |= {"duals.C": np.array(duals.C), "duals.intercept": np.array(duals.intercept)}
        return cls(arrays, {"reason": None})

    @classmethod
    def ended(cls, result: Result, witness: Plane, run: Run[P]) -> Self:
        """A run that has ended by itself."""
        arrays, described = history_to_arrays(result.history)
        arrays |= {"w": result.w, "intercept": np.asarray(result.intercept, np.float64)}
        arrays |= {"slopes": witness.slope[None, :], "offsets": np.array([witness.offset])}
        arrays |= {"errors": np.array([witness.error]), "mass": np.array(witness.mass)}
        return cls(arrays, {"reason": result.stop_reason, "settings": settings_of(run), "history": described})

    def has_ended(self, run: Run[P]) -> bool:
        """Whether this is where such a run ends."""
        return self.about["reason"] is not None and self.about["settings"] == settings_of(run)

    def witness(self, objective: Problem) -> Plane:
        """The plane that proves the bound of a run that has ended."""
        slope = finite(self.arrays, "slopes", (1, objective.dimension))[0]
        offset, error = (float(finite(self.arrays, name, (1,))[0]) for name in ("offsets", "errors"))
        return Plane(slope, offset, error, float(finite(self.arrays, "mass", ())))

    def result(self, run: Run[P], objective: P) -> Result:
        """What a run goes on from; its bounds are not known. `ValueError` and the like where it does not fit."""
        arrays, d = self.arrays, objective.dimension
        heights = finite(arrays, "offsets", arrays["offsets"].shape[:1])
        slopes, errors = finite(arrays, "slopes", (len(heights), d)), finite(arrays, "errors", (len(heights),))
        bundle = run.new_bundle(objective)
        for slope, offset, error in zip(slopes, heights.tolist(), errors.tolist(), strict=True):
            bundle.add(slope, offset, error=error)
        intercept = finite(arrays, "intercept", arrays["intercept"].shape)
        reason: StopReason = self.about["reason"] or "interrupted"
        if reason not in get_args(StopReason):
            raise ValueError(f"{reason!r} is no reason to stop")
        history = history_from_arrays(self.about["history"], arrays) if "history" in self.about else []
        return Result(
            finite(arrays, "w", (d,)),
            intercept if intercept.ndim else float(intercept),
            float("inf"),
            float("-inf"),
            history,
            reason,
            bundle,
            self._duals(objective),
        )

    def _duals(self, objective: Problem) -> Duals | None:
        if "duals.w" not in self.arrays:
            return None
        duals = finite(self.arrays, "duals.slopes", (objective.examples,))
        C, intercept = (float(finite(self.arrays, name, ())) for name in ("duals.C", "duals.intercept"))
        return Duals(duals, C, finite(self.arrays, "duals.w", (objective.dimension,)), intercept)


def settings_of(run: Run[P]) -> Params:
    """What makes a run end where it does."""
    stopping = run.stopping
    return {
        "C": run.C,
        "relative_gap": stopping.relative_gap,
        "absolute_gap": stopping.absolute_gap,
        "risk_gap": stopping.risk_gap,
        "max_iter": None if stopping.max_iter is None else int(stopping.max_iter),
    }


def digests(values: Mapping[str, object]) -> dict[str, str]:
    """A digest of each value, the same in every process: of arrays their bytes, of functions their names."""
    return {name: hashlib.sha256(_bytes(value)).hexdigest() for name, value in values.items()}


def fingerprint(risk: Risk, scores: Array) -> list[tuple[float, float, Array]]:
    """A risk as it looks at a few vectors of scores."""
    cuts = [risk.cut(np.ascontiguousarray(scale * scores)) for scale in _SCALES]
    return [(cut.value, cut.offset, np.asarray(cut.coef)) for cut in cuts]


def _bytes(value: object) -> bytes:
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
    if isinstance(value, Mapping):
        return b"{" + b",".join(_bytes(part) for pair in value.items() for part in pair) + b"}"
    if isinstance(value, (list, tuple)):
        return b"[" + b",".join(map(_bytes, value)) + b"]"
    return (qualified_name(value) if callable(value) else repr(value)).encode()
