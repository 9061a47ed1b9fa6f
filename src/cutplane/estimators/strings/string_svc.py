"""`StringSVC`: classification of strings of one length, DNA above all, with a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Arrays, ClassWeight, Document, Labels, RandomState
from cutplane.estimators.common import validation
from cutplane.estimators.common.callbacks import with_callbacks
from cutplane.estimators.common.certificates import one_against_rest
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.stored import labels_from_file, labels_to_file
from cutplane.estimators.common.validation.input_kinds import check_in_process
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.linear.descriptions import LINEAR_CLASSES
from cutplane.estimators.linear.linear_model import LinearModel
from cutplane.estimators.linear.problems import Prepared
from cutplane.estimators.strings.on_device import check_one_device, on_device
from cutplane.estimators.strings.string_input import StringsLike, as_strings, labels_for, windows_of
from cutplane.plain.decisions import Highest, Sign
from cutplane.plain.form import PlainForm
from cutplane.plain.strings import Kmers, StringScores
from cutplane.risks.base import Risk, Rows
from cutplane.risks.hinge import Hinge
from cutplane.risks.labels import signs
from cutplane.solvers.result import OnStep, Result
from cutplane.sources import Source
from cutplane.sources.alphabet import Alphabet, as_alphabet
from cutplane.sources.kmers import OccurringKmers, feature_name
from cutplane.sources.packed import StringCollection
from cutplane.sources.strings import StringPart, StringSource, degree_weights, string_part
from cutplane.sources.windows import SlidingWindows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cutplane.report.page import Section
    from cutplane.report.trained import Trained


@documented(LINEAR_CLASSES)
class StringSVC(ClassifierMixin, LinearModel):
    """Support vector classification of strings of one length, proven optimal up to `tol`.

    Features are k-mers of orders 1 to `order`, each at its position (weighted degree, over the whole string), and,
    for each of `spectra`, k-mers of orders 1 to `spectrum_order` anywhere in a window (spectrum). They are computed
    as they are needed. Unless ``normalize=False`` the vector of all features is scaled to length 1, so that C means
    the same at any order and length. k-mers with an unknown letter (N) are left out.

    Parameters
    ----------
    C
    order : int, default=8
        The longest k-mers at fixed positions; 0 leaves them out.
    spectra : sequence of (int, int), default=()
        Windows, from the first letter up to the last, which is not included.
    spectrum_order : int, default=8
        The longest k-mers in these windows.
    depth : int or None, default=None
        K-mers of order k weigh as in a weighted-degree kernel of this order; None is the order itself.
    alphabet : str or Alphabet, default="dna"
        "dna", "rna", "protein", or the letters.
    normalize : bool, default=True
        Whether feature vectors are scaled to length 1.
    tol, absolute_tol, risk_tol, method, line_search, fit_intercept
    class_weight : dict, "balanced" or None, default="balanced"
        The weight of each class. Sites are rare: with equal weights and C = 1, a model of 1,500 windows of which 3 %
        are sites says that there is none.
    max_iter, time_limit, n_jobs
    device : {"cuda"} or None, default=None
        "cuda" copies strings to the GPU and trains there; predictions are made on the host.
    warm_start, random_state, on_step, checkpoint, checkpoint_every

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Weights, in the order of the parts, the spectra first; of two classes, of the second against the first.
    intercept_, classes_, certificates_, objective_, lower_bound_, gap_, n_iter_, history_, stop_reason_
    length_ : int
        Letters of a string.
    n_features_in_ : int
        String features.

    Examples
    --------
    >>> from cutplane import StringSVC
    >>> model = StringSVC(order=3).fit(["ACGTA", "ACGTC", "TTGTA", "TTGTC"], [1, 1, 0, 0])
    >>> model.predict(["ACGTG", "TTGTG"])
    array([1, 0])
    >>> model.scan("TTGTACGTAA").argmax()  # the window that begins at letter 4, ACGTA
    np.int64(4)
    """

    _no_proof = "its features are k-mers, which are never stored as the matrix that the check needs"
    _columns: OccurringKmers | None = None  # while few strings are trained on

    def __init__(
        self,
        C: float = 1.0,
        *,
        order: int = 8,
        spectra: Sequence[tuple[int, int]] = (),
        spectrum_order: int = 8,
        depth: int | None = None,
        alphabet: str | Alphabet = "dna",
        normalize: bool = True,
        tol: float = 1e-3,
        absolute_tol: float = 0.0,
        risk_tol: float = 0.0,
        method: str = "auto",
        line_search: str = "adaptive",
        fit_intercept: bool = True,
        class_weight: ClassWeight = "balanced",
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
        warm_start: bool = False,
        random_state: RandomState = None,
        on_step: OnStep | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
    ) -> None:
        self.C = C
        self.order = order
        self.spectra = spectra
        self.spectrum_order = spectrum_order
        self.depth = depth
        self.alphabet = alphabet
        self.normalize = normalize
        self.tol = tol
        self.absolute_tol = absolute_tol
        self.risk_tol = risk_tol
        self.method = method
        self.line_search = line_search
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.device = device
        self.warm_start = warm_start
        self.random_state = random_state
        self.on_step = on_step
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    @with_callbacks
    def fit(self, X: StringsLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Train on strings and labels of any type.

        Parameters
        ----------
        X : list or array of str or bytes, PackedStrings, or path
            All of one length. A path is that of a FASTA file or of one that `cutplane convert` has written.
        y : array of shape (n,)
            Labels; a file brings its own.
        sample_weight : array of shape (n,), optional

        Returns
        -------
        self
        """
        check_one_device(self.device)
        training = self._training()
        validation.check_flags(self)
        check_in_process("X", X)
        strings, labels = as_strings(X, self.alphabet, n_threads=training.n_threads)
        y = labels_for(strings, labels if y is None else y, X)
        self.length_ = strings.length
        source = self._training_source(strings, training.n_threads)
        self.n_features_in_ = source.shape[1]
        self._columns = None
        if self.device is None and OccurringKmers.pay(here := cast(StringSource, source)):
            self._columns = OccurringKmers(here)
        self.classes_, codes = validation.check_many_labels(y, validation.check_threads(self.n_jobs))
        weights = validation.check_weights(sample_weight, y, self.class_weight, self.classes_, y)
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        problems = [partial(self._risk, codes, positive, weights, training.n_threads) for positive in positives]
        try:
            self._train(training, Prepared(self._columns or source, y, weights, problems, (codes,)))
        finally:
            self._columns = None
        return self

    def decision_function(self, X: StringsLike) -> NDArray[np.float64]:
        """The score of each string; of each class if there are more than two.

        Parameters
        ----------
        X : list or array of str or bytes, PackedStrings, SlidingWindows, or path
        """
        check_is_fitted(self)
        threads = validation.check_threads(self.n_jobs)
        strings, _ = as_strings(X, self.alphabet, n_threads=threads)
        if strings.length != self.length_:
            raise ValueError(f"Strings of {strings.length} letters are given to a model of {self.length_} letters.")
        source = self._string_source(strings, threads)
        scores = source.scores(np.ascontiguousarray(self.coef_.T)) + self.intercept_
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)

    def scan(self, text: str | bytes | NDArray[np.uint8], *, reverse: bool = False) -> NDArray[np.float64]:
        """The score of the window that begins at each letter of a text.

        Parameters
        ----------
        text : str, bytes or array of uint8
            A chromosome, say. No windows are cut out.
        reverse : bool
            Whether the opposite strand is read, in the same windows.

        Returns
        -------
        array of shape (len(text) - length_ + 1,), or one column per class
        """
        check_is_fitted(self)
        windows = SlidingWindows(text, self.length_, self.alphabet, reverse=reverse)
        return windows.forward(self.decision_function(windows))

    def predict(self, X: StringsLike) -> Labels:
        """The class of each string: by the sign of its score, or the highest score where there are several."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)])

    def _risk(
        self, codes: NDArray[np.intp], positive: int, weights: Array | None, n_threads: int, rows: Rows | None
    ) -> Risk:
        """The risk of one class against the rest, on some rows or all."""
        n_threads = validation.check_threads(self.n_jobs)
        labels = signs(codes if rows is None else codes[rows], positive, n_threads)
        part = weights if rows is None or weights is None else weights[rows]
        validation.check_both_sides(labels, part, self.classes_[positive])
        return Hinge(labels, part, n_threads=n_threads)

    def parts(self, length: int) -> list[StringPart]:
        """The features of strings of that length, the spectra first."""
        letters = as_alphabet(self.alphabet).size
        parts = [
            string_part(
                False, length, letters, self.spectrum_order, window, self._kernel_weights(self.spectrum_order), False
            )
            for window in windows_of(self.spectra)
        ]
        if self.order:
            parts.append(string_part(True, length, letters, self.order, None, self._kernel_weights(self.order), False))
        if not parts:
            raise ValueError("order=0 and spectra=() leave no features; give one of them.")
        return parts

    def _feature_name(self, index: int) -> str:
        """What reports call a feature."""
        return feature_name(self.parts(self.length_), as_alphabet(self.alphabet), index)

    def _report_sections(self, trained: Trained) -> list[Section]:
        from cutplane.report.sections import strings

        found = strings.section(trained)
        return [] if found is None else [found]

    def _draw_own(self, ax: Axes) -> None:
        from cutplane.report.string_plots import plot_logo

        plot_logo(self, ax=ax)

    def _kernel_weights(self, order: int) -> NDArray[np.float64] | None:
        if isinstance(order, int) and order >= 1 and self.depth is not None:
            return degree_weights(order, self.depth)
        return None

    def _string_source(self, strings: StringCollection, n_threads: int) -> StringSource:
        return StringSource(strings, self.parts(strings.length), normalize=bool(self.normalize), n_threads=n_threads)

    def _training_source(self, strings: StringCollection, n_threads: int) -> Source:
        """The features of strings, where they are asked to be."""
        if self.device is None:
            return self._string_source(strings, n_threads)
        parts, planes = self.parts(strings.length), self.method != "newton"
        return on_device(strings, parts, normalize=bool(self.normalize), n_threads=n_threads, planes=planes)

    def _weights(self, results: list[Result]) -> Array:
        found = super()._weights(results)
        return found if self._columns is None else self._columns.expanded(found)

    def _problem_labels(self) -> list[object]:
        return one_against_rest(self.classes_)

    def _fitted(self, results: list[Result]) -> Document:
        return {**super()._fitted(results), "classes_": self.classes_}

    def _plain_model(self) -> PlainForm:
        alphabet = as_alphabet(self.alphabet)
        parts = [
            Kmers(part.positional, part.begin, part.end, np.array(part.values)) for part in self.parts(self.length_)
        ]
        scores = StringScores(
            alphabet.codes,
            alphabet.size,
            self.length_,
            parts,
            bool(self.normalize),
            dense(self.coef_),
            np.asarray(self.intercept_),
        )
        decision = Sign(self.classes_) if len(self.classes_) == 2 else Highest(self.classes_)
        return PlainForm(type(self).__name__, "hinge", scores, decision)

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays, stored = super()._to_file()
        class_arrays, classes = labels_to_file(self.classes_)
        return {**arrays, **class_arrays}, {**stored, "classes": classes, "length": self.length_}

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        self.classes_ = labels_from_file(arrays, stored["classes"])
        self.length_ = int(stored["length"])
        expected = sum(part.dimension(as_alphabet(self.alphabet).size) for part in self.parts(self.length_))
        if expected != self.n_features_in_:
            raise ValueError(f"there are {self.n_features_in_} weights for {expected} features")
        problems = 1 if len(self.classes_) == 2 else len(self.classes_)
        self._weights_from_file(arrays, (problems, self.n_features_in_))

    def __sklearn_tags__(self) -> Tags:
        """Scikit-learn's description of what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags
