"""`StructuralSVM`: labels that are objects, for any model that can be searched."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from os import PathLike
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Arrays, Document, Matrix, RandomState
from cutplane.estimators.common import validation
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.stored import finite
from cutplane.estimators.common.validation.input_kinds import check_in_process
from cutplane.estimators.structured.descriptions import STRUCTURED
from cutplane.estimators.structured.example_arrays import check_example_arrays, length_of
from cutplane.estimators.structured.example_weights import check_example_weights, minus_mean_loss, with_weight
from cutplane.estimators.structured.structured_training import StructuredEstimator
from cutplane.solvers.result import OnStep
from cutplane.structured.base import Sample, StructuredModel
from cutplane.structured.oracle import BACKENDS, RESCALINGS, OracleSample

# The models that files may hold, with their modules.
_MODELS = {
    "ChainModel": "cutplane.structured.chain",
    "HierarchyModel": "cutplane.structured.classes",
    "MatchingModel": "cutplane.structured.matching",
    "MulticlassModel": "cutplane.structured.classes",
    "MultilabelModel": "cutplane.structured.multilabel",
}


@documented(STRUCTURED)
class StructuralSVM(StructuredEstimator):
    """A structural SVM, proven optimal up to `tol`.

    Minimises ½|w|² + C·Σ maxᵧ (loss(yᵢ, y) + ⟨w, Ψ(xᵢ, y) - Ψ(xᵢ, yᵢ)⟩) over w, Ψ being the model's joint features.

    Parameters
    ----------
    model : StructuredModel
        Features, loss and searches: one of those in `cutplane.structured`, or your own.
    C : float, default=1.0
        Weight of the losses against the margin, per example.
    rescaling : {"margin", "slack"}, default="margin"
        Whether the loss is added to a labelling's violation or multiplies it: loss·(1 + ⟨w, Ψ(x, y) - Ψ(x, yᵢ)⟩).
    method : {"auto", "one-slack", "oca", "frank-wolfe"}, default="auto"
        How planes are found: one search per example and plane, with a line search (which pays where the small QP costs
        more than searches), or block-coordinate Frank-Wolfe, which wins where a search is cheap. "auto" is "one-slack"
        unless the model has compiled searches.
    line_search, tol, max_iter, time_limit
    planes_kept : int, default=10
        Labellings remembered for each example by "one-slack": they are tried before the next search. 0 keeps none.
    n_jobs : int or None, default=None
        Searches side by side, 1 by default (threads of compiled searches: left to OpenMP); -1 takes all processors.
        The result does not depend on it.
    backend : {"threads", "processes"}, default="threads"
        Processes serve models written in Python, threads those that release the interpreter's lock.
    random_state, on_step, checkpoint, checkpoint_every

    Attributes
    ----------
    coef_ : array of shape (n_weights,)
        Weights of the joint features.
    certificates_
    objective_, lower_bound_, gap_ : float
        The objective at the model, a proven lower bound on its least value, and their relative difference. Where the
        model's searches are not exact, `objective_` and `gap_` are infinite: nothing is certified.
    n_iter_, history_, stop_reason_

    Examples
    --------
    >>> from cutplane import StructuralSVM
    >>> from cutplane.structured.classes import HierarchyModel
    >>> model = HierarchyModel({"cat": "mammal", "dog": "mammal", "mammal": "animal", "fish": "animal"})
    >>> X = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    >>> svm = StructuralSVM(model, C=10.0).fit(X, ["cat", "dog", "fish"])
    >>> svm.predict(X)
    ['cat', 'dog', 'fish']
    >>> svm.gap_ <= 1e-3
    True
    """

    def __init__(
        self,
        model: StructuredModel | None = None,
        C: float = 1.0,
        *,
        rescaling: str = "margin",
        method: str = "auto",
        line_search: str = "three-point",
        tol: float = 1e-3,
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        planes_kept: int = 10,
        n_jobs: int | None = None,
        backend: str = "threads",
        random_state: RandomState = None,
        on_step: OnStep | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
    ) -> None:
        self.model = model
        self.C = C
        self.rescaling = rescaling
        self.method = method
        self.line_search = line_search
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.planes_kept = planes_kept
        self.n_jobs = n_jobs
        self.backend = backend
        self.random_state = random_state
        self.on_step = on_step
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    def fit(self, X: Sequence[object] | Matrix, y: Sequence[object], sample_weight: ArrayLike | None = None) -> Self:
        """Train on examples X and their labellings y, as many of each, with or without weights.

        Returns
        -------
        self
        """
        settings = self._settings()
        validation.check_not_negative("planes_kept", self.planes_kept)
        check_pairs(check_model(self.model), X, y)
        weights = check_example_weights(sample_weight, length_of("y", y))
        if weights is not None:
            X, y = with_weight(X, weights), with_weight(y, weights)
        sample = self._sample(X, y, settings.n_threads)
        result = self._train(settings, sample, int(self.planes_kept), weights)
        self.coef_ = result.w
        return self

    def _sample(self, X: Sequence[object] | Matrix, y: Sequence[object], n_threads: int) -> Sample:
        model = check_model(self.model)
        rescaling = validation.check_choice("rescaling", self.rescaling, RESCALINGS)
        backend = validation.check_choice("backend", self.backend, BACKENDS)
        bound = model.bind(X, y, rescaling=rescaling, n_threads=n_threads)
        if bound is not None:
            return bound
        return OracleSample(model, X, y, rescaling, max(1, n_threads), backend)

    def predict(self, X: Sequence[object] | Matrix) -> list[Any]:
        """The best labelling of each example."""
        check_is_fitted(self)
        model, threads = check_model(self.model), validation.check_threads(self.n_jobs)
        count = check_example_arrays(model, X, model.features(self.coef_))
        return list(model.predict(X, self.coef_, n_threads=threads)) if count else []

    def score(self, X: Sequence[object] | Matrix, y: Sequence[object], sample_weight: ArrayLike | None = None) -> float:
        """Minus the mean loss of the predictions, each with its weight: the greater the better, 0 at best."""
        return minus_mean_loss(check_model(self.model), y, self.predict(X), sample_weight)

    def _to_file(self) -> tuple[Arrays, Document]:
        return {"coef": self.coef_}, {"model": model_to_file(self.model)}

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        self.coef_ = finite(arrays, "coef", arrays["coef"].shape)
        self.model = model_from_file(stored["model"])


def check_model(model: object) -> StructuredModel:
    """`model` if it is one."""
    if not isinstance(model, StructuredModel):
        where = "" if model is not None else "; files keep the weights of a model of your own, not its code"
        raise ValueError(f"model={model!r} must be a StructuredModel{where}.")
    return model


def check_pairs(model: StructuredModel, X: Sequence[object] | Matrix, y: Sequence[object]) -> None:
    """`ValueError` unless there are as many examples as labellings, and all are for this model."""
    check_in_process("y", y)
    n_examples, n_labellings = check_example_arrays(model, X, model.features(None), new=False), length_of("y", y)
    if n_examples != n_labellings:
        raise ValueError(f"X has {n_examples} examples and y {n_labellings} labellings; as many are needed.")
    if not n_examples:
        raise ValueError("X is empty; at least one example is needed.")
    for index in range(n_examples):
        try:
            model.check(X[index], y[index])
        except ValueError as error:
            raise ValueError(f"Example {index}: {error}.") from error


def model_to_file(model: StructuredModel | None) -> Document:
    """What a file keeps of a structured model."""
    checked = check_model(model)
    return {"kind": type(checked).__name__, "params": checked.params()}


def model_from_file(described: Document) -> StructuredModel | None:
    """The model that `model_to_file` described; None for one of the user's own."""
    if described["params"] is None:
        return None
    kind = getattr(import_module(_MODELS[described["kind"]]), described["kind"])
    made: StructuredModel = kind(**described["params"])
    return made
