"""Progress for callers: `on_step`, and scikit-learn's own callbacks where the installed version has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from cutplane._types import MatrixLike
from cutplane.solvers.result import Step

Method = TypeVar("Method", bound=Callable[..., object])


class FitContext(Protocol):
    """What scikit-learn's callbacks know of a fit, or of one of its iterations."""

    def subcontext(self, *, task_name: str) -> FitContext: ...  # noqa: D102

    def call_on_fit_task_begin(self, **about: object) -> object: ...  # noqa: D102

    def call_on_fit_task_end(self, **about: object) -> object: ...  # noqa: D102


if TYPE_CHECKING:

    class CallbackSupportMixin:
        """Stands in for scikit-learn's mixin."""

    def with_callbacks(method: Method) -> Method: ...  # noqa: D103

else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # scikit-learn before 1.9

        class CallbackSupportMixin:
            """Stands in for scikit-learn's mixin."""

        def with_callbacks(method: Method) -> Method:
            """Leave the method as it is."""
            return method


class Watched(BaseEstimator):
    """An estimator whose clones call its own `on_step`: scikit-learn would copy the object that a method belongs to."""

    on_step: Callable[[Step], object] | None = None
    verbose: bool | int = False

    @property
    def _listener(self) -> Callable[[Step], object] | None:
        """What is called with every step: `on_step`, after a line is printed where that is wanted."""
        return _printing(self.on_step) if self.verbose else self.on_step

    def __sklearn_clone__(self) -> Self:
        """What `sklearn.base.clone` gives."""
        twin: Self = super().__sklearn_clone__()
        twin.on_step = self.on_step
        return twin


def _printing(on_step: Callable[[Step], object] | None) -> Callable[[Step], object]:
    def listen(step: Step) -> object:
        violation = f"violation {step.violation:.2e}, " if math.isfinite(step.violation) else ""
        print(
            f"[cutplane] problem {step.problem + 1}, iteration {step.iteration}: {violation}gap {step.gap:.2e}, "
            f"{step.seconds:.2f} s"
        )
        return on_step is not None and on_step(step)

    return listen


class StepHooks:
    """Calls `on_step` and scikit-learn's hooks after every iteration.

    Parameters
    ----------
    estimator : estimator
        May or may not support scikit-learn's callbacks.
    on_step : callable or None
        Called with each `Step`; returning True ends the fit.
    fitted : callable
        Gives the attributes that make a fitted estimator of the run so far, or None while there is none.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        on_step: Callable[[Step], object] | None,
        X: MatrixLike,
        y: ArrayLike | None,
        fitted: Callable[[], Mapping[str, object] | None],
    ) -> None:
        self._estimator = estimator
        self._on_step = on_step
        self._data = {"X": X, "y": y}
        self._fitted = fitted
        self._context: FitContext | None = None
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=None)
            assert self._context is not None
            self._context.call_on_fit_task_begin(estimator=estimator, **self._data)

    @property
    def wanted(self) -> bool:
        """Whether anyone listens."""
        return self._on_step is not None or self._context is not None

    def __call__(self, step: Step) -> bool:
        """Report a step; True if somebody wants the fit to end."""
        stop = self._on_step is not None and self._on_step(step) is True
        if self._context is not None:
            task = self._context.subcontext(task_name="iteration")
            task.call_on_fit_task_begin(estimator=self._estimator, **self._data)
            stop |= bool(
                task.call_on_fit_task_end(
                    estimator=self._estimator, reconstruction_attributes=self._fitted, **self._data
                )
            )
        return stop

    def close(self) -> None:
        """The fit is over."""
        if self._context is not None:
            self._context.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=self._fitted, **self._data
            )
