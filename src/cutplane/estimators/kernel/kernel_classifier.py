"""What kernel classifiers share: a machine for each pair of classes or for each class, decisions, probabilities."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Arrays, ClassWeight, Document, Labels, Matrix, MatrixLike
from cutplane.device.arrays import in_type_of
from cutplane.estimators.common import validation
from cutplane.estimators.common.calibration import curves_from_arrays, curves_to_arrays
from cutplane.estimators.common.calibration_folds import warn_of_haste
from cutplane.estimators.common.scored import ScoredAnywhere
from cutplane.estimators.common.stored import finite, labels_from_file, labels_to_file
from cutplane.estimators.common.validation.class_weights import class_factors
from cutplane.estimators.kernel.calibrated_machine import CalibratedMachine
from cutplane.estimators.kernel.kernel_input import kernel_examples, kernel_weights
from cutplane.estimators.kernel.kernel_proofs import ProvenMachine
from cutplane.estimators.kernel.kernel_scores import grouped_scores
from cutplane.estimators.kernel.placement import ScoresThere, answers_in_place
from cutplane.estimators.kernel.splits import Kept, Split
from cutplane.kernels import SMOResult
from cutplane.kernels.functions import Kernel
from cutplane.plain import one_vs_one
from cutplane.plain.decisions import Highest, Sign, Votes
from cutplane.plain.form import PlainForm
from cutplane.proof.kernel_machines import Sided

Codes = NDArray[np.intp]


class KernelClassifier(ScoredAnywhere, ClassifierMixin, CalibratedMachine):
    """A kernel classifier; a subclass makes the dual problem of two sides and reads the machine off its solution."""

    class_weight: ClassWeight = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    multi_class: str = "ovo"
    _needs_two = "a classifier needs two"
    _objective = "hinge"

    def _check_own(self) -> None:
        """The parameters that the subclass has for itself."""
        raise NotImplementedError

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on X (dense, CSR, a kernel matrix, or what a callable kernel takes) and labels y of any type.

        Returns
        -------
        self
        """
        training = self._training()
        self._check_choices()
        given = X = self._brought(X)
        labels = y
        X, y = kernel_examples(self, X, y)
        check_classification_targets(y)
        own_weights = kernel_weights(sample_weight, X)
        codes, weights = self._weighted(y, own_weights)
        self._check_two_classes(codes, weights)
        self.classes_ = in_type_of(labels, self.classes_)
        self._pairwise = len(self.classes_) > 2 and self.multi_class == "ovo"
        kernel = self._make_kernel(X)
        order = np.flatnonzero(weights > 0)
        if self._pairwise:  # the rows of a pair lie together then
            order = order[np.argsort(codes[order], kind="stable")]
        splits = self._splits(codes[order], weights[order])
        problems = self._problems(splits)
        folds = self._folds(codes[order]) if self.probability else None
        matrix, positions = self._arrange(kernel, X, order)
        examples = Kept(own_weights[order], positions)
        machines = examples.machines(problems, splits)
        results = training.run(matrix, machines)
        self._assemble(X, kernel, order, codes, splits, results)
        self._certify(matrix, machines, results, training)
        self._curves = None
        if folds is not None and (training.late or any(result.stop_reason == "interrupted" for result in results)):
            warn_of_haste()
            decisions = [self._own_decisions(*solved) for solved in zip(problems, results, strict=True)]
            self._curves = self._curves_of(decisions, splits, examples)
        elif folds is not None:
            self._curves = self._calibrated(training.silent(), matrix, examples, splits, folds)
        return self._proven(given, y, sample_weight)

    def _weighted(self, y: Labels, own_weights: Array) -> tuple[Codes, Array]:
        """The class of each example among those that have weight, which are kept, and the weight of each example."""
        classes, codes = validation.check_labels(y)
        factors = class_factors(self.class_weight, classes, y)
        weights = own_weights * factors[codes]
        self.classes_, among = validation.counted_classes(classes, codes, weights)
        self.class_weight_ = factors[np.isin(classes, self.classes_)]
        return among, weights

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

    def _check_two_classes(self, codes: Codes, weights: Array) -> None:
        left = np.bincount(codes[weights > 0], minlength=len(self.classes_)) > 0
        if left.sum() < 2:
            raise ValueError(
                f"Invalid input - all samples with positive weights belong to the same class; {self._needs_two}."
            )

    # --- training ---

    def _splits(self, codes: Codes, weights: Array) -> list[Split]:
        """The machines: of two classes the second is the positive one, of a pair of several the first (LIBSVM's)."""
        k = len(self.classes_)
        shown = [repr(validation.shown_label(label)) for label in self.classes_]
        members = [np.flatnonzero(codes == code) for code in range(k)]

        def split(positive: int, rows: Codes, name: str) -> Split:
            return Split(name, rows, np.where(codes[rows] == positive, 1, -1).astype(np.int8), weights[rows])

        def pair(i: int, j: int) -> Split:
            rows, own = np.concatenate([members[i], members[j]]), len(members[i])
            signs = np.ones(len(rows), np.int8)
            signs[own:] = -1
            return Split(f"classes {shown[i]} and {shown[j]}", rows, signs, weights[rows], own)

        everyone = np.arange(len(codes))
        if k == 2:
            return [split(1, everyone, f"classes {shown[0]} and {shown[1]}")]
        if self.multi_class == "ovr":
            return [split(code, everyone, f"class {shown[code]} and the rest") for code in range(k)]
        return [pair(i, j) for i, j in one_vs_one.pairs(k)]

    def _assemble(
        self, X: Matrix, kernel: Kernel, order: Codes, codes: Codes, splits: list[Split], results: list[SMOResult]
    ) -> None:
        """Support vectors class by class, and their coefficients in every machine as LIBSVM lays them out."""
        k = len(self.classes_)
        of_kept = codes[order]
        scales = [self._scale(result) for result in results]
        intercepts = [intercept for _, intercept in scales]
        dual_coef = np.zeros((k - 1 if self._pairwise else len(splits), len(order)))
        rows = [(number, number) for number in range(len(splits))]
        if self._pairwise:
            rows = [(row_of_i, row_of_j) for _, _, _, row_of_i, row_of_j in one_vs_one.places(k)]
        for split, result, (scale, _), (positive, negative) in zip(splits, results, scales, rows, strict=True):
            values = split.signs * result.alpha / scale
            if positive == negative:
                dual_coef[positive, split.rows] = values
            else:  # the positive class comes first
                own = split.positives
                dual_coef[positive, split.rows[:own]] = values[:own]
                dual_coef[negative, split.rows[own:]] = values[own:]
        used = np.flatnonzero(dual_coef.any(axis=0))
        used = used[np.argsort(of_kept[used], kind="stable")]
        self.n_support_ = np.bincount(of_kept[used], minlength=k).astype(np.int32)
        self._keep(X, kernel, order[used], np.ascontiguousarray(dual_coef[:, used]), np.array(intercepts))

    @property
    def n_iter_(self) -> NDArray[np.int32]:
        """Pair steps of each machine."""
        return np.array([each.n_iter for each in self.certificates_], np.int32)

    def _problem_labels(self) -> list[object]:
        labels: list[object] = self.classes_.tolist()
        if self._pairwise or len(labels) == 2:
            return [(labels[i], labels[j]) for i, j in one_vs_one.pairs(len(labels))]
        return labels

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

    def _machine_scores(self, X: Matrix) -> Array:
        if not self._pairwise:
            return super()._machine_scores(X)
        # Class by class: a support vector has a coefficient in the machines of its own class only.
        parts = self._class_parts()
        if self._kernel.computed:
            together = grouped_scores(
                self._kernel,
                X,
                self.support_vectors_,
                np.ascontiguousarray(self._dual_coef.T),
                [part.stop for part in parts],
                n_threads=validation.check_threads(self.n_jobs),
            )
            by_class = [together[:, i] for i in range(len(parts))]
        else:
            by_class = [self._scores(X, part, self._dual_coef[:, part].T) for part in parts]
        return self._of_pairs(by_class)

    def _scores_there(self, there: ScoresThere) -> Array:
        if not self._pairwise:
            return super()._scores_there(there)
        ends = [part.stop for part in self._class_parts()]
        together = there.grouped(self.support_vectors_, np.ascontiguousarray(self._dual_coef.T), ends)
        return self._of_pairs([together[:, i] for i in range(len(ends))])

    def _of_pairs(self, by_class: list[Array]) -> Array:
        """The scores of the machines of pairs, from those of each class's support vectors."""
        scores = np.empty((len(by_class[0]), len(self.intercept_)))
        for number, i, j, row_of_i, row_of_j in one_vs_one.places(len(self.classes_)):
            scores[:, number] = by_class[i][:, row_of_i] + by_class[j][:, row_of_j]
        return scores

    @answers_in_place
    def decision_function(self, X: MatrixLike) -> Array:
        """Decision values.

        Of two classes: one value for each example, above 0 for the second class. Of several: a value for each class,
        or with ``decision_function_shape="ovo"`` one for each pair, above 0 for its first class.
        """
        decisions = self._decisions(X)
        return self._decision().decision_function(decisions)

    @answers_in_place
    def predict(self, X: MatrixLike) -> Labels:
        """The class of each example: by the sign, by votes, or of the largest decision value."""
        return self._labels(X)

    def _labels(self, X: MatrixLike) -> Labels:
        """What is predicted, on the host."""
        check_is_fitted(self)
        self._check_ties()
        return np.asarray(self.classes_[self._winners(self._decisions(X))])

    def _check_ties(self) -> None:
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'.")

    def _winners(self, decisions: Array) -> Codes:
        return self._decision().winners(decisions)

    def _decision(self) -> Sign | Highest | Votes:
        """How decision values of the machines become classes."""
        if len(self.classes_) == 2:
            return Sign(self.classes_)
        if not self._pairwise:
            return Highest(self.classes_)
        return Votes(self.classes_, self.decision_function_shape == "ovr", bool(self.break_ties))

    # --- proofs ---

    def _proof_risk(self, split: Split) -> Sided:
        """What a machine minimises, for the checker."""
        raise NotImplementedError

    def _proven_machines(self, y: Labels, weights: Array) -> tuple[Codes, list[ProvenMachine]]:
        codes, all_weights = self._weighted(y, weights)
        kept = np.flatnonzero(all_weights > 0)
        splits = self._splits(codes[kept], all_weights[kept])
        return kept, [ProvenMachine(split.name, split.rows, self._proof_risk(split)) for split in splits]

    # --- files ---

    def _plain_model(self) -> PlainForm:
        self._check_ties()
        scores = self._plain_scores(self.n_support_ if self._pairwise else None)
        made = None if self._curves is None else self._probabilities(self._curves)
        return PlainForm(type(self).__name__, self._objective, scores, self._decision(), made)

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays, stored = super()._to_file()
        class_arrays, stored["classes"] = labels_to_file(self.classes_)
        arrays |= {**class_arrays, "class_weight": np.asarray(self.class_weight_, np.float64)}
        if self._curves is not None:
            arrays |= curves_to_arrays(self._curves)
            stored["calibration"] = self._curves[0].kind
        return arrays, stored

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        super()._from_file(arrays, stored)
        self.classes_ = labels_from_file(arrays, stored["classes"])
        k = len(self.classes_)
        self.class_weight_ = finite(arrays, "class_weight", (k,))
        self._pairwise = k > 2 and self.multi_class == "ovo"
        machines = 1 if k == 2 else k * (k - 1) // 2 if self._pairwise else k
        layers = 1 if k == 2 else k - 1 if self._pairwise else k
        if self.intercept_.shape != (machines,) or self.dual_coef_.shape[0] != layers or len(self.n_support_) != k:
            raise ValueError("the machines do not fit the classes")
        self._curves = None
        if "calibration" in stored:
            self._curves = curves_from_arrays(stored["calibration"], arrays, machines)
        self._prepare_predictions()
