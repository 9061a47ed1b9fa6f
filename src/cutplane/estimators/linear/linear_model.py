"""What linear estimators share: settings, training of one or several problems, warm starts, the certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from cutplane._types import Arrays, Device, Document, Labels, Matrix, MatrixLike, Params, RandomState, Weights
from cutplane.device.arrays import check_device, copied_to_device
from cutplane.device.kernels import DeviceArray
from cutplane.device.source import DeviceRows
from cutplane.estimators.common import validation
from cutplane.estimators.common.callbacks import CallbackSupportMixin, Watched
from cutplane.estimators.common.checkpoint_entries import digests, fingerprint
from cutplane.estimators.common.savable import Savable
from cutplane.estimators.common.stored import finite
from cutplane.estimators.linear.dense_weights import SparseWeights, dense, products
from cutplane.estimators.linear.prior_and_bounds import check_features, check_prior
from cutplane.estimators.linear.problems import Prepared, Problems
from cutplane.objectives.factory import make_objective
from cutplane.objectives.generic import Objective
from cutplane.risks.base import Risk
from cutplane.shards.registry import threshold_of
from cutplane.solvers.result import Result, Step
from cutplane.solvers.run import LINE_SEARCHES, METHODS, Settings
from cutplane.solvers.stopping import Stopping
from cutplane.sources import Source, as_source
from cutplane.sources.augmented import AugmentedSource


class LinearModel(Savable, CallbackSupportMixin, SparseWeights, Watched):
    """A model of one score per example, or of one for each of several problems on the same examples.

    A subclass names its parameters in `__init__` (those that it leaves out have the values below), checks its
    examples in `_prepare`, and calls `_train` with what makes the risk of each problem.
    """

    C: float = 1.0
    penalty: str = "l2"
    dual: bool | str = "auto"
    tol: float = 1e-3
    absolute_tol: float = 0.0
    risk_tol: float = 0.0
    method: str = "auto"
    line_search: str = "adaptive"
    fit_intercept: bool = True
    intercept_scaling: float | None = None
    prior: ArrayLike | None = None
    nonnegative: ArrayLike | None = None
    max_iter: int | None = 10_000
    time_limit: float | None = None
    n_jobs: int | None = None
    device: Device = None
    warm_start: bool = False
    random_state: RandomState = None
    on_step: Callable[[Step], object] | None = None
    keep_proof: bool = False

    checkpoint: str | PathLike[str] | None = None
    checkpoint_every: float = 30.0

    def _prepare(self, training: Settings, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Prepared:
        """The examples checked, `n_features_in_` and the like set, and the problems to solve."""
        raise NotImplementedError

    def _training(self) -> Settings:
        """The settings, checked."""
        self._check_like_sklearn()
        if self.intercept_scaling is not None:
            validation.check_positive("intercept_scaling", self.intercept_scaling)
        if self.time_limit is not None:
            validation.check_positive("time_limit", self.time_limit)
        check_device(self.device)
        validation.check_file_name("checkpoint", self.checkpoint)
        validation.check_positive("checkpoint_every", self.checkpoint_every)
        return Settings(
            validation.check_strength("C", self.C),
            Stopping(
                validation.check_positive("tol", self.tol),
                validation.check_not_negative("absolute_tol", self.absolute_tol),
                validation.check_not_negative("risk_tol", self.risk_tol),
                validation.check_max_iter(self.max_iter),
                self.time_limit,
            ),
            validation.check_choice("method", self.method, METHODS),
            validation.check_choice("line_search", self.line_search, LINE_SEARCHES),
            validation.check_seed(self.random_state),
            validation.check_threads(self.n_jobs),
        )

    def _placed(self, X: Matrix | Source) -> Matrix | Source:
        """Examples where they are asked to be, their values checked there."""
        if self.device is None:
            return X
        there = copied_to_device(X)
        if there is not X:
            validation.check_copied(self, X, there)
        placed: Matrix | Source = there
        return placed

    def _checked(self, X: MatrixLike, y: ArrayLike | None) -> tuple[Matrix | Source, Labels]:
        """X and y; values are left for `_placed` where that copies them."""
        return validation.check_examples(self, X, y, unread=self.device is not None)

    def _check_like_sklearn(self) -> None:
        """What scikit-learn's signature has, and means nothing or one thing here."""
        validation.check_like_liblinear(self.penalty, self.dual, self.verbose)

    @property
    def _penalised(self) -> bool:
        return bool(self.fit_intercept) and self.intercept_scaling is not None

    @property
    def _plain_penalty(self) -> bool:
        """Whether the penalty is ½|w|² of all weights, and of nothing else."""
        return not self._penalised and self.prior is None and self.nonnegative is None

    def _source(self, X: Matrix | Source, n_threads: int) -> Source:
        """The examples, with a constant feature where the intercept is penalised."""
        source = as_source(X, n_threads=n_threads)
        validation.check_width(source.shape[1])
        return AugmentedSource(source, float(self.intercept_scaling or 0.0)) if self._penalised else source

    def _problem(
        self, source: Source, risk: Risk, training: Settings, index: int, n_problems: int
    ) -> tuple[Objective, Settings, NDArray[np.float64] | None]:
        """The objective of one problem, the settings for it, and the weights that those of it and bounds count from."""
        d = source.shape[1] - self._penalised
        origin = self._origin(index, n_problems, d)
        whole = None if origin is None else self._padded(origin, 0.0).ravel()
        mask = check_features("nonnegative", self.nonnegative, d)
        if mask is not None:
            bounds = self._padded(self._bounds(mask, origin), -np.inf)
            training = replace(training, bounds=bounds.ravel())
        return self._objective(source, risk, whole), training, whole

    def _origin(self, index: int, n_problems: int, d: int) -> NDArray[np.float64] | None:
        """The weights that those of a problem count from, a row for each feature; None: zero."""
        prior = self._prior_rows(n_problems, d)
        return None if prior is None else prior[index]

    def _bounds(self, mask: NDArray[np.bool_], origin: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """The least that the weights may be, counted from their origin."""
        return np.where(mask, 0.0 if origin is None else -origin, -np.inf)

    def _padded(self, values: NDArray[np.float64], last: float) -> NDArray[np.float64]:
        """With a row for the constant feature, where there is one."""
        more = [np.full_like(values[:1], last)] if self._penalised else []
        return np.ascontiguousarray(np.concatenate([values, *more]))

    def _prior_rows(self, n_problems: int, d: int) -> NDArray[np.float64] | None:
        return check_prior(self.prior, n_problems, d)

    def _weights(self, results: list[Result]) -> NDArray[np.float64]:
        """The weights of each problem, those of the constant feature included: what was found, beside the prior."""
        w = np.vstack([r.w for r in results])
        prior = self._prior_rows(len(results), w.shape[1] - self._penalised)
        if prior is not None:
            w[:, : prior.shape[1]] += prior
        return w

    def _train(self, training: Settings, prepared: Prepared, begin: Sequence[Result] | None = None) -> list[Result]:
        """Solve each problem and keep the results; from those of an earlier run on, where there are some."""
        solver = Problems(self, training, prepared, begin)
        results = solver.solved()
        self._keep(results)
        for name in ("proof_", "intercept_bounds_", "_class_ends"):  # of another fit
            self.__dict__.pop(name, None)
        solver.close()
        return results

    def _learned_beside(
        self,
        training: Settings,
        prepared: Prepared,
        grid: Sequence[float],
        results: Sequence[list[Result]],
        sample_weight: ArrayLike | None,
    ) -> list[Params]:
        """What models learn after their training, as attributes for each C of a grid; `results` are by C."""
        return [{} for _ in grid]

    def _with_threshold(
        self, result: Result, objective: Objective, risk: Risk, source: Source, origin: NDArray[np.float64] | None
    ) -> Result:
        """Where an intercept is wanted but changes nothing of the objective, what the risk makes of the scores."""
        if not self.fit_intercept or self._penalised or objective.intercept:
            return result
        w = result.w if origin is None else result.w + origin
        return replace(result, intercept=threshold_of(source, risk, w))

    def _objective(self, source: Source, risk: Risk, origin: NDArray[np.float64] | None = None) -> Objective:
        """The objective of a problem, made for what its risk can do."""
        return make_objective(source, risk, intercept=self.fit_intercept and not self._penalised, origin=origin)

    def _keep(self, results: list[Result]) -> None:
        """The fitted model and its certificate, as attributes."""
        for name, value in self._fitted(results).items():
            setattr(self, name, value)
        self._certify_problems(results)
        if self._warm_key is not None:
            self._warm = (self._warm_key, results)
        else:
            self.__dict__.pop("_warm", None)

    def _fitted(self, results: list[Result]) -> Params:
        """The attributes that predictions need: a row of weights and an intercept for each problem."""
        w = self._weights(results)
        intercept = np.array([r.intercept for r in results])
        if self._penalised:
            intercept = float(self.intercept_scaling or 0.0) * w[:, -1]
            w = np.ascontiguousarray(w[:, :-1])
        return {"coef_": w, "intercept_": intercept}

    def _warm_results(self, source: Source, prepared: Prepared) -> list[Result] | None:
        """The results of the last fit if it was on the same data."""
        self._warm_key: tuple[dict[str, str], list[object]] | None = None
        if self.warm_start:
            # Losses of the user's own are compared as objects: within a process, a name would say less.
            own = [part for part in prepared.key if not isinstance(part, np.ndarray)]
            self._warm_key = digests(self._key(source, prepared)), own
        last, results = getattr(self, "_warm", (None, None))
        return results if self._warm_key is not None and last == self._warm_key else None

    def _key(self, source: Source, prepared: Prepared) -> dict[str, object]:
        """All that planes depend on, by name; examples are recognised by the scores of a fixed vector."""
        probe = np.random.default_rng(0).standard_normal(source.shape[1])
        scores = source.scores(probe)
        y, *loss = prepared.key
        if any(map(callable, loss)):  # the name of a loss does not say what it is
            loss.append(fingerprint(prepared.problems[0](None), scores))
        return {
            "the estimators": type(self).__name__,
            "the shapes of X": source.shape,
            "the values of X": scores,
            "the targets y": y,
            "the sample or class weights": prepared.weights,
            "the losses or their options": loss,
            "the values of fit_intercept": bool(self.fit_intercept),
            "the values of intercept_scaling": self.intercept_scaling,
            "the values of prior": _as_key(self.prior),
            "the values of nonnegative": _as_key(self.nonnegative),
        }

    def _products_there(self, rows: DeviceRows, weights: Weights) -> DeviceArray:
        """X @ weights.T of rows on a GPU, where it stays."""
        self._check_features(rows)
        return rows.scores(np.ascontiguousarray(dense(weights).T))

    def _check_features(self, rows: Source) -> None:
        found = rows.shape[1]
        if found != self.n_features_in_:
            raise ValueError(f"X has {found} features, but the model was trained with {self.n_features_in_}.")

    def _products(self, X: MatrixLike, weights: Weights) -> NDArray[np.float64]:
        """X @ weights.T, wherever X lies."""
        source = validation.source_of(X)
        if source is None:
            return products(validation.check_new_rows(self, X), weights, validation.check_threads(self.n_jobs))
        self._check_features(source)
        return np.asarray(source.scores(np.ascontiguousarray(dense(weights).T)))

    def _to_file(self) -> tuple[Arrays, Document]:
        return {"coef": dense(self.coef_), "intercept": np.asarray(self.intercept_)}, {}

    def _weights_from_file(self, arrays: Arrays, shape: tuple[int, ...]) -> None:
        """Take `coef_` of the given shape and an intercept for each of its rows."""
        self.coef_: Weights = finite(arrays, "coef", shape)
        self.intercept_: NDArray[np.float64] = finite(arrays, "intercept", shape[:-1] or (1,))

    def __sklearn_tags__(self) -> Tags:
        """Scikit-learn's description of what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _as_key(parameter: ArrayLike | None) -> NDArray[np.generic] | None:
    return None if parameter is None else np.asarray(parameter)
