"""Models for a whole grid of C at little more than the price of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from cutplane.estimators import validation
from cutplane.estimators.linear_model import LinearModel, Prepared, total_weight
from cutplane.estimators.training import Training, warn_unless_proven
from cutplane.objective import ScoredPoint
from cutplane.risks.base import Rows
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.path import follow
from cutplane.solvers.result import Result
from cutplane.sources import Source


class CPathMixin:
    """Adds `path` to a linear model that has a C."""

    def path(self: Any, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> list[Any]:
        """Train a model for each C, each from the planes of the others; all are certified to `tol`.

        Parameters
        ----------
        X, y, sample_weight : as for `fit`
        Cs : sequence of float
            In any order.

        Returns
        -------
        list of fitted models
            In the order of `Cs`; this estimator itself stays as it is.

        Examples
        --------
        >>> from cutplane import LinearSVC
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> [round(float(model.coef_[0, 0]), 2) for model in LinearSVC(tol=1e-6).path(X, y, [0.1, 1.0, 10.0])]
        [0.4, 1.0, 2.0]
        """
        grid = validation.check_grid(Cs)
        pattern: Any = clone(self)
        training = pattern._training()
        prepared = pattern._prepare(training, X, y, sample_weight)
        source = pattern._source(prepared.X, training.n_threads)
        results = path_results(pattern, training, prepared, source, grid)
        return [_fitted_model(pattern, C, [each[k] for each in results]) for k, C in enumerate(grid)]


def path_results(
    model: LinearModel,
    training: Training,
    prepared: Prepared,
    source: Source,
    grid: Sequence[float],
    rows: Rows | None = None,
) -> list[list[Result]]:
    """For each problem the results along the grid, on some rows of the examples or all; `source` holds these."""
    weights = prepared.weights
    part = weights if rows is None or weights is None else weights[rows]
    results = []
    for index, make_risk in enumerate(prepared.problems):
        risk = make_risk(rows)
        objective, settings = model._problem(source, risk, training, index, len(prepared.problems))
        settings = settings.for_risk(total_weight(risk, source.shape[0], part), model.on_step)

        run = _PathRun(objective, settings, settings.C / training.C, type(model).__name__)
        found = follow(grid, run.train, falling=settings.falls(objective))
        results.append([model._with_threshold(each, objective, risk, source) for each in found])
    return results


class _PathRun:
    """The runs along a grid of C, each of which knows where the last two ended."""

    def __init__(self, objective: Any, settings: Training, scale: float, name: str) -> None:
        self._objective, self._settings, self._scale, self._name = objective, settings, scale, name
        self._reached: list[ScoredPoint] = []

    def train(self, C: float, warm: Result | None) -> Result:
        books: list[Ledger] = []

        def watch(ledger: Ledger) -> None:
            ledger.keeps_scores = True
            books.append(ledger)

        settings = self._settings.with_C(C * self._scale)
        result = settings.run(self._objective, warm, watch, self._reached)
        end = books[0].incumbent
        # Cutting planes keep no scores.
        self._reached = [*self._reached[-1:], end] if isinstance(end, ScoredPoint) else []
        warn_unless_proven(result, self._name)
        return result


def _fitted_model(pattern: Any, C: float, results: list[Result]) -> Any:
    model = clone(pattern).set_params(C=C)
    parameters = pattern.get_params(deep=False)
    # What preparing the examples has found out: classes, names of features.
    vars(model).update({name: value for name, value in vars(pattern).items() if name not in parameters})
    model._warm_key = None
    model._keep(results)
    return model
