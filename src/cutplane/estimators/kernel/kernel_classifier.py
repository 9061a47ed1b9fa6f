"""What kernel classifiers share: a machine for each pair of classes or for each class, decisions, probabilities."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from cutplane.estimators.common import validation
from cutplane.estimators.common.stored import Arrays, finite, labels_from_file, labels_to_file
from cutplane.estimators.common.validation.class_weights import class_factors
from cutplane.estimators.kernel import one_vs_one
from cutplane.estimators.kernel.calibration import Curve, agree, curves_from_arrays, curves_to_arrays, fit_curve
from cutplane.estimators.kernel.kernel_machine import KernelMachine
from cutplane.estimators.kernel.kernel_proofs import ProvenMachine
from cutplane.estimators.kernel.machines import MachineTraining
from cutplane.estimators.kernel.splits import Folds, Kept, Split, warn_if_cut_short, warn_of_haste
from cutplane.kernels import DualProblem, KernelMatrix, SMOResult
from cutplane.proof.kernel_machines import Sided

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

# Pairwise probabilities are coupled for as many examples at a time as take about this many numbers.
_COUPLED_AT_ONCE = 4_000_000


def _wants_probability(model: Any) -> bool:
    if not model.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class KernelClassifier(ClassifierMixin, KernelMachine):
    """A kernel classifier; a subclass makes the dual problem of two sides and reads the machine off its solution."""

    class_weight: Any = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    multi_class: str = "ovo"
    probability: bool | str = False
    random_state: Any = None
    _needs_two = "a classifier needs two"

    def _check_own(self) -> None:
        """The parameters that the subclass has for itself."""
        raise NotImplementedError

    def _problem(self, split: Split) -> DualProblem:
        raise NotImplementedError

    def _scale(self, result: SMOResult) -> tuple[float, float]:
        """What coefficients are divided by, and the intercept."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on X (dense, CSR, a kernel matrix, or what a callable kernel takes) and labels y of any type.

        Returns
        -------
        self
        """
        training = self._training()
        self._check_choices()
        given = X
        X, y = self._examples(X, y)
        check_classification_targets(y)
        self.classes_, codes = validation.check_labels(y)
        own_weights = self._weights(sample_weight, X)
        self.class_weight_ = class_factors(self.class_weight, self.classes_, y)
        weights = own_weights * self.class_weight_[codes]
        self._check_every_class(codes, weights)
        self._pairwise = len(self.classes_) > 2 and self.multi_class == "ovo"
        kernel = self._make_kernel(X)
        order = np.flatnonzero(weights > 0)
        if self._pairwise:  # the rows of a pair lie together then
            order = order[np.argsort(codes[order], kind="stable")]
        splits = self._splits(codes[order], weights[order])
        problems = [self._problem(split) for split in splits]
        folds = self._folds(codes[order]) if self.probability else None
        matrix, positions = self._arrange(kernel, X, order)
        examples = Kept(own_weights[order], positions)
        machines = examples.machines(problems, splits)
        results = training.run(matrix, machines)
        self._assemble(X, kernel, order, codes, splits, results)
        self._certify(matrix, machines, results, training)
        self.n_iter_ = np.array([result.n_iter for result in results], np.int32)
        self._curves: list[Curve] | None = None
        if folds is not None and (training.late or any(result.stop_reason == "interrupted" for result in results)):
            warn_of_haste()
            decisions = [self._own_decisions(*solved) for solved in zip(problems, results, strict=True)]
            self._curves = self._curves_of(decisions, splits, examples)
        elif folds is not None:
            self._curves = self._calibrated(training.silent(), matrix, examples, splits, folds)
        return self._proven(given, y, sample_weight)

    # --- checks ---

    def _check_choices(self) -> None:
        self._check_own()
        validation.check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        validation.check_choice("multi_class", self.multi_class, ("ovo", "ovr"))
        if self.multi_class == "ovr" and self.decision_function_shape == "ovo":
            raise ValueError("decision_function_shape='ovo' needs multi_class='ovo': 'ovr' trains no pairs of classes.")
        if self.probability not in (False, True, "sigmoid", "isotonic"):
            raise ValueError(
                f"probability={self.probability!r} must be False, True (which is 'sigmoid'), 'sigmoid' or 'isotonic'."
            )

    def _check_every_class(self, codes: Codes, weights: Array) -> None:
        left = np.bincount(codes[weights > 0], minlength=len(self.classes_)) > 0
        if left.sum() < 2:
            raise ValueError(
                f"Invalid input - all samples with positive weights belong to the same class; {self._needs_two}."
            )
        if not left.all():
            gone = _shown(self.classes_[np.flatnonzero(~left)[0]])
            raise ValueError(f"All examples of class {gone!r} have weight zero; each class needs one with weight.")

    # --- training ---

    def _splits(self, codes: Codes, weights: Array) -> list[Split]:
        """The machines: of two classes the second is the positive one, of a pair of several the first (LIBSVM's)."""
        k = len(self.classes_)
        shown = [repr(_shown(label)) for label in self.classes_]
        members = [np.flatnonzero(codes == code) for code in range(k)]

        def split(positive: int, rows: Codes, name: str) -> Split:
            return Split(name, rows, np.where(codes[rows] == positive, 1, -1).astype(np.int8), weights[rows])

        everyone = np.arange(len(codes))
        if k == 2:
            return [split(1, everyone, f"classes {shown[0]} and {shown[1]}")]
        if self.multi_class == "ovr":
            return [split(code, everyone, f"class {shown[code]} and the rest") for code in range(k)]
        return [
            split(i, np.concatenate([members[i], members[j]]), f"classes {shown[i]} and {shown[j]}")
            for i, j in one_vs_one.pairs(k)
        ]

    def _assemble(
        self, X: Any, kernel: Any, order: Codes, codes: Codes, splits: list[Split], results: list[SMOResult]
    ) -> None:
        """Support vectors class by class, and their coefficients in every machine as LIBSVM lays them out."""
        k = len(self.classes_)
        of_kept = codes[order]
        coefficients, intercepts = [], []
        for split, result in zip(splits, results, strict=True):
            scale, intercept = self._scale(result)
            full = np.zeros(len(order))
            full[split.rows] = split.signs * result.alpha / scale
            coefficients.append(full)
            intercepts.append(intercept)
        if self._pairwise:
            dual_coef = np.zeros((k - 1, len(order)))
            for number, i, j, row_of_i, row_of_j in one_vs_one.places(k):
                dual_coef[row_of_i, of_kept == i] = coefficients[number][of_kept == i]
                dual_coef[row_of_j, of_kept == j] = coefficients[number][of_kept == j]
        else:
            dual_coef = np.vstack(coefficients)
        used = np.flatnonzero(dual_coef.any(axis=0))
        used = used[np.argsort(of_kept[used], kind="stable")]
        self.n_support_ = np.bincount(of_kept[used], minlength=k).astype(np.int32)
        self._keep(X, kernel, order[used], np.ascontiguousarray(dual_coef[:, used]), np.array(intercepts))

    def _problem_names(self) -> list[str]:
        """What the machines are about, for reports."""
        shown = [str(_shown(label)) for label in self.classes_]
        if self._pairwise:
            return [f"{shown[i]} against {shown[j]}" for i, j in one_vs_one.pairs(len(shown))]
        return shown if len(shown) > 2 else ["problem 1"]

    def _class_parts(self) -> list[slice]:
        """Where the support vectors of each class lie."""
        ends = np.cumsum(self.n_support_).tolist()
        return [slice(end - int(count), end) for end, count in zip(ends, self.n_support_, strict=True)]

    def _machine_coefficients(self) -> Array:
        if not self._pairwise:
            return super()._machine_coefficients()
        parts = self._class_parts()
        columns = np.zeros((len(self.support_), len(self.intercept_)))
        for number, i, j, row_of_i, row_of_j in one_vs_one.places(len(self.classes_)):
            columns[parts[i], number] = self._dual_coef[row_of_i, parts[i]]
            columns[parts[j], number] = self._dual_coef[row_of_j, parts[j]]
        return columns

    # --- predictions ---

    def _machine_scores(self, X: Any) -> Array:
        if not self._pairwise:
            return super()._machine_scores(X)
        # Class by class: a support vector has a coefficient in the machines of its own class only.
        parts = self._class_parts()
        by_class = [self._scores(X, part, self._dual_coef[:, part].T) for part in parts]
        scores = np.empty((X.shape[0], len(self.intercept_)))
        for number, i, j, row_of_i, row_of_j in one_vs_one.places(len(self.classes_)):
            scores[:, number] = by_class[i][:, row_of_i] + by_class[j][:, row_of_j]
        return scores

    def decision_function(self, X: Any) -> Array:
        """Decision values.

        Of two classes: one value for each example, above 0 for the second class. Of several: a value for each class,
        or with ``decision_function_shape="ovo"`` one for each pair, above 0 for its first class.
        """
        return self._shaped(self._decisions(X))

    def _shaped(self, decisions: Array) -> Array:
        if len(self.classes_) == 2:
            return decisions[:, 0]
        if self._pairwise and self.decision_function_shape == "ovr":
            return one_vs_one.class_scores(decisions, len(self.classes_))
        return decisions

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each example: by the sign, by votes, or of the largest decision value."""
        check_is_fitted(self)
        self._check_ties()
        return np.asarray(self.classes_[self._winners(self._decisions(X))])

    def _check_ties(self) -> None:
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'.")

    def _winners(self, decisions: Array) -> Codes:
        k = len(self.classes_)
        if k == 2:
            return (decisions[:, 0] > 0).astype(np.intp)
        if not self._pairwise:
            return np.asarray(np.argmax(decisions, axis=1))
        if self.break_ties:
            return np.asarray(np.argmax(one_vs_one.class_scores(decisions, k), axis=1))
        return np.asarray(np.argmax(one_vs_one.votes(decisions, k), axis=1))

    # --- probabilities ---

    def _own_decisions(self, problem: DualProblem, result: SMOResult) -> Array:
        """The decision value of every example of the problem: its gradient is Qa + p, with Q_ij = y_i y_j K_ij."""
        try:
            scale, intercept = self._scale(result)
        except ValueError:  # a fold that leaves no margin tells nothing
            return np.zeros(len(problem.y))
        return np.asarray(problem.y * (result.gradient - problem.p) / scale + intercept)

    def _folds(self, codes: Codes) -> Folds:
        return Folds.of(codes, [_shown(label) for label in self.classes_], self.random_state)

    def _calibrated(
        self, training: MachineTraining, matrix: KernelMatrix, kept: Kept, splits: list[Split], folds: Folds
    ) -> list[Curve]:
        """A curve for each machine, from decisions on examples that were left out of training."""
        parts = [folds.without(split, number) for split in splits for number in range(folds.count)]
        problems = [self._problem(part) for part in parts]
        results = training.run(matrix, kept.machines(problems, parts))
        warn_if_cut_short(results)
        decisions = [self._own_decisions(problem, result) for problem, result in zip(problems, results, strict=True)]
        joined = [folds.joined(split, decisions, number) for number, split in enumerate(splits)]
        return self._curves_of(joined, splits, kept)

    def _curves_of(self, decisions: list[Array], splits: list[Split], kept: Kept) -> list[Curve]:
        kind = "isotonic" if self.probability == "isotonic" else "sigmoid"
        return [
            fit_curve(kind, values, split.signs > 0, kept.weights[split.rows])
            for values, split in zip(decisions, splits, strict=True)
        ]

    @available_if(_wants_probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, of shape (n, n_classes); the largest of a row is that of `predict`.

        Decision values become probabilities by curves fitted to cross-validated decisions; those of several classes
        are coupled (pairs) or normalised (one against the rest). Where that says otherwise than `predict`, the nearest
        probabilities that agree with it are given.
        """
        decisions = self._decisions_for_probabilities(X)
        k = len(self.classes_)
        assert self._curves is not None
        sides = np.column_stack([curve(column) for curve, column in zip(self._curves, decisions.T, strict=True)])
        if k == 2:
            p = np.column_stack([1.0 - sides[:, 0], sides[:, 0]])
        elif self._pairwise:
            size = max(1, _COUPLED_AT_ONCE // k**2)
            p = np.vstack([one_vs_one.couple(sides[i : i + size], k) for i in range(0, max(1, len(sides)), size)])
        else:
            p = sides / sides.sum(axis=1, keepdims=True)
        return agree(p, self._winners(decisions))

    @available_if(_wants_probability)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _decisions_for_probabilities(self, X: Any) -> Array:
        check_is_fitted(self)
        self._check_ties()
        if self._curves is None:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        return self._decisions(X)

    # --- proofs ---

    def _proof_risk(self, split: Split) -> Sided:
        """What a machine minimises, for the checker."""
        raise NotImplementedError

    def _proven_machines(self, y: Any, weights: Array) -> tuple[Codes, list[ProvenMachine]]:
        self.classes_, codes = validation.check_labels(y)
        all_weights = weights * class_factors(self.class_weight, self.classes_, y)[codes]
        kept = np.flatnonzero(all_weights > 0)
        splits = self._splits(codes[kept], all_weights[kept])
        return kept, [ProvenMachine(split.name, split.rows, self._proof_risk(split)) for split in splits]

    # --- files ---

    def _to_file(self) -> tuple[Arrays, dict[str, Any]]:
        arrays, stored = super()._to_file()
        class_arrays, stored["classes"] = labels_to_file(self.classes_)
        arrays |= {**class_arrays, "class_weight": np.asarray(self.class_weight_, np.float64)}
        if self._curves is not None:
            arrays |= curves_to_arrays(self._curves)
            stored["calibration"] = self._curves[0].kind
        return arrays, stored

    def _from_file(self, arrays: Arrays, stored: dict[str, Any]) -> None:
        super()._from_file(arrays, stored)
        self.classes_ = labels_from_file(arrays, stored["classes"])
        k = len(self.classes_)
        self.class_weight_ = finite(arrays, "class_weight", (k,))
        self._pairwise = k > 2 and self.multi_class == "ovo"
        machines = 1 if k == 2 else k * (k - 1) // 2 if self._pairwise else k
        layers = 1 if k == 2 else k - 1 if self._pairwise else k
        if self.intercept_.shape != (machines,) or self.dual_coef_.shape[0] != layers or len(self.n_support_) != k:
            raise ValueError("the machines do not fit the classes")
        self.n_iter_ = np.array(stored["n_iters"], np.int32)
        self._curves = None
        if "calibration" in stored:
            self._curves = curves_from_arrays(stored["calibration"], arrays, machines)
        self._settle()


def _shown(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
