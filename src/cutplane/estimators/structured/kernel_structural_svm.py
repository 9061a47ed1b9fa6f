"""`KernelStructuralSVM`: labels that are objects, scored by kernel functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from cutplane._runtime.ranges import MOST
from cutplane._types import Arrays, Document, Matrix, RandomState, is_sparse
from cutplane.estimators.common import validation
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.stored import finite
from cutplane.estimators.kernel.descriptions import CUTS
from cutplane.estimators.kernel.sampled_cut_training import SampledCutEstimator
from cutplane.estimators.structured.example_arrays import check_example_arrays
from cutplane.estimators.structured.example_weights import check_example_weights, minus_mean_loss
from cutplane.estimators.structured.labelled_objects import LabelledObjects
from cutplane.estimators.structured.structural_svm import check_model, check_pairs, model_from_file, model_to_file
from cutplane.kernels.functions import KernelFunction
from cutplane.solvers.result import OnStep
from cutplane.structured.base import StructuredModel
from cutplane.structured.factored import Factors
from cutplane.structured.weighted import WeightedRisk


@documented(CUTS)
class KernelStructuralSVM(LabelledObjects, SampledCutEstimator):
    """A structural SVM with a kernel, by cutting planes made of all or of sampled examples (Yu and Joachims 2008).

    Minimises ½|w|² + C·Σ maxᵧ (loss(yᵢ, y) + ⟨w, Ψ(xᵢ, y) - Ψ(xᵢ, yᵢ)⟩) in the feature space of the kernel. The
    model's joint kernel must factorise, as that of a linear chain does: ⟨Ψ(x, y), Ψ(x', y')⟩ is the sum of k(xₜ, x'ₛ)
    over pairs of tokens with the same label, plus the product of the counts of transitions.

    Parameters
    ----------
    model : StructuredModel
        One whose `factors` are not None: those of `cutplane.structured`, or your own.
    C
    kernel : str (a key of `cutplane.kernels.FORMULAS`, or "precomputed") or callable, default="rbf"
        Between the rows of examples: tokens of a chain.
    gamma, degree, coef0
    method : {"exact", "linear", "constant"}, default="exact"
        "exact": cuts of all examples, rows² kernel values an iteration, and a small gap. "linear": every example is
        looked at, cuts are made of `n_samples_cut` of those with a loss, and the gap is wider. "constant": nothing but
        that many sampled examples is looked at, and no gap is proven.
    n_samples_cut, risk_tol, stabilised
    memory : int or None, default=None
        Bytes for the products of cuts with all rows, 4·rows·columns for each cut ("linear" and "exact"); None: a
        quarter of what is free.
    max_iter, time_limit, n_jobs, device, random_state, on_step

    Attributes
    ----------
    support_, support_vectors_ : array
        The rows in the model, by position among all rows and as rows.
    dual_coef_ : array of shape (n_support, n_columns)
        A column for each label.
    explicit_coef_ : array
        Weights of explicit features: of a chain's transitions, a row of the table after the other.
    certificates_, objective_, violation_, bound_, bound_probability_, n_iter_, history_, stop_reason_,
    lower_bound_, gap_,
    certificate_of_, n_features_in_

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane import KernelStructuralSVM
    >>> from cutplane.structured.chain import ChainModel
    >>> X = [np.array([[0.0], [1.0], [2.0]]), np.array([[2.0], [1.0]])]
    >>> y = [[0, 1, 0], [0, 1]]  # no linear score of the one feature gives the middle another label
    >>> svm = KernelStructuralSVM(ChainModel(n_labels=2, n_features=1), C=10.0, gamma=2.0).fit(X, y)
    >>> [labels.tolist() for labels in svm.predict(X)]
    [[0, 1, 0], [0, 1]]
    """

    def __init__(
        self,
        model: StructuredModel | None = None,
        C: float = 1.0,
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        method: str = "exact",
        n_samples_cut: int | None = None,
        risk_tol: float = 1e-2,
        stabilised: bool = True,
        memory: int | None = None,
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
        random_state: RandomState = None,
        on_step: OnStep | None = None,
    ) -> None:
        self.model = model
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.method = method
        self.n_samples_cut = n_samples_cut
        self.risk_tol = risk_tol
        self.stabilised = stabilised
        self.memory = memory
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.on_step = on_step

    def fit(self, X: Sequence[object] | Matrix, y: Sequence[object], sample_weight: ArrayLike | None = None) -> Self:
        """Train on examples X and their labellings y, as many of each, with or without weights.

        Returns
        -------
        self
        """
        with self._settings_checked():
            model, factors = self._factorised()
            check_pairs(model, X, y)
            self._sample_size(len(y))
            rows = _finite_rows(factors.rows(X))
            self.n_features_in_ = int(rows.shape[1])
            risk = factors.risk(X, y, n_threads=validation.check_threads(self.n_jobs))
            weights = check_example_weights(sample_weight, len(y))
            if weights is not None:
                risk = WeightedRisk(risk, weights)
            outcome = self._train(risk, rows, self._make_kernel(rows), there=self.device is not None)
            self.explicit_coef_ = outcome.explicit
        return self

    def predict(self, X: Sequence[object] | Matrix) -> list[Any]:
        """The best labelling of each example."""
        check_is_fitted(self)
        model, factors = self._factorised()
        if not check_example_arrays(model, X, self.n_features_in_):
            return []
        threads = validation.check_threads(self.n_jobs)
        scores = self._row_scores(_finite_rows(factors.rows(X)))
        return list(factors.label(X, scores, self.explicit_coef_, n_threads=threads))

    def score(self, X: Sequence[object] | Matrix, y: Sequence[object], sample_weight: ArrayLike | None = None) -> float:
        """Minus the mean loss of the predictions, each with its weight: the greater the better, 0 at best."""
        return minus_mean_loss(check_model(self.model), y, self.predict(X), sample_weight)

    def _factorised(self) -> tuple[StructuredModel, Factors]:
        model = check_model(self.model)
        factors = model.factors()
        if factors is None:
            raise ValueError(
                f"{type(model).__name__} has no factors(), which say how its joint kernel factorises over rows of X, "
                "so no kernel can take the place of its features; ChainModel, MulticlassModel, HierarchyModel, "
                "MultilabelModel, MatchingModel and models with factors() of their own can have one."
            )
        return model, factors

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays, described = super()._to_file()
        return arrays | {"explicit_coef": self.explicit_coef_}, described | {"model": model_to_file(self.model)}

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        super()._from_file(arrays, stored)
        self.explicit_coef_ = finite(arrays, "explicit_coef", arrays["explicit_coef"].shape)
        self.model = model_from_file(stored["model"])

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a model."""
        return hasattr(self, "explicit_coef_")


def _finite_rows(rows: Matrix) -> Matrix:
    wrong = np.flatnonzero(~(np.abs(rows.data if is_sparse(rows) else rows) <= MOST))
    if not len(wrong):
        return rows
    if is_sparse(rows):
        row, column = int(np.searchsorted(rows.indptr, wrong[0], side="right")) - 1, int(rows.indices[wrong[0]])
    else:
        row, column = divmod(int(wrong[0]), rows.shape[1])
    value = float(rows[row, column])
    raise ValueError(
        f"Row {row} of X, counted through all examples, has the value {'NaN' if value != value else value} in column "
        f"{column}; every value must be " + ("finite." if not np.isfinite(value) else f"below {MOST:g} in size.")
    )
