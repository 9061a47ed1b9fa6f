"""`SequenceSVM`: label the tokens of sequences, with a certificate."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence, Sized
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, TypeGuard, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Arrays, Document, Matrix, RandomState, is_sparse
from cutplane.estimators.common import validation
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.stored import labels_from_file, labels_to_file
from cutplane.estimators.common.validation.input_kinds import check_in_process, plain_labels
from cutplane.estimators.common.validation.words import check_listed, check_listed_sequences
from cutplane.estimators.structured.descriptions import STRUCTURED
from cutplane.estimators.structured.example_weights import check_example_weights, with_weight
from cutplane.estimators.structured.structured_training import StructuredEstimator
from cutplane.io.sparse_vector import vector_from_arrays, vector_to_arrays
from cutplane.kernels.memory import free_memory
from cutplane.solvers.result import OnStep
from cutplane.structured.chain import ChainModel, ChainSample
from cutplane.structured.chain_decoding import best_labellings, token_margins
from cutplane.structured.metrics import SequenceScores, score_sequences, token_accuracy
from cutplane.structured.tokens import Sequences, Token, Tokens, Vocabulary, tokens_from_matrices
from cutplane.structured.vectors import rows_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The least memory that a weight takes: vectors of a run and a few planes. By hand.
_BYTES_A_WEIGHT = 64

# The labels of each sequence's tokens, as users hand them over.
LabelSequences = Sequence[Collection[Hashable]]


@documented(STRUCTURED)
class SequenceSVM(StructuredEstimator):
    """A structural SVM for label sequences, proven optimal up to `tol`.

    The score of a labelling adds up weights of the tokens' features with their labels, and of pairs of neighbouring
    labels. Minimises ½|w|² + C·Σ over sequences of the most violated margin, the number of wrong labels.

    Parameters
    ----------
    C : float, default=0.1
        Weight of the losses against the margin, per sequence.
    cost : array of shape (n_labels, n_labels) or None, default=None
        cost[true, predicted] of a token, labels in sorted order; None is 1 for each mistake.
    method : {"auto", "frank-wolfe", "one-slack", "oca"}, default="auto"
        How planes are found; "auto" is "frank-wolfe".
    line_search, tol, max_iter, time_limit, n_jobs, random_state, on_step, checkpoint, checkpoint_every

    Attributes
    ----------
    coef_ : array of shape (n_features, n_labels)
        Weights of features by label.
    transitions_ : array of shape (n_labels, n_labels)
        Weights of a label followed by another.
    classes_ : array of shape (n_labels,)
        The labels of tokens, sorted.
    feature_names_ : list of str or None
        Where tokens are dicts or lists of names.
    certificates_, objective_, lower_bound_, gap_, n_iter_, history_, stop_reason_
    n_features_in_ : int
        Features of a token.

    Examples
    --------
    >>> from cutplane import SequenceSVM
    >>> X = [[["the"], ["dog"], ["barks"]], [["a"], ["dog"]]]  # or dicts, arrays, sparse rows for the tokens
    >>> y = [["D", "N", "V"], ["D", "N"]]
    >>> model = SequenceSVM(C=10.0).fit(X, y)
    >>> model.predict([[["the"], ["barks"]]])
    [['D', 'V']]
    """

    def __init__(
        self,
        C: float = 0.1,
        *,
        cost: ArrayLike | None = None,
        method: str = "auto",
        line_search: str = "three-point",
        tol: float = 1e-2,
        max_iter: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        on_step: OnStep | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_every: float = 30.0,
    ) -> None:
        self.C = C
        self.cost = cost
        self.method = method
        self.line_search = line_search
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.on_step = on_step
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    def fit(self, X: Sequences, y: LabelSequences, sample_weight: ArrayLike | None = None) -> Self:
        """Train on sequences X and their labels y.

        Parameters
        ----------
        X : sequence of sequences
            For each sequence an array or a sparse matrix with a row for each token, or a list of tokens, each a dict
            (``{"word": "the", "capital": True, "length": 3}``) or a list of names of features.
        y : sequence of sequences
            The labels of the tokens.
        sample_weight : array of shape (n_sequences,), optional
            How often each sequence counts. One of weight 0 is left out, its features, too; its labels stay.

        Returns
        -------
        self
        """
        settings = self._settings()
        _check_sequences(X, y)
        weights = check_example_weights(sample_weight, len(y))
        flat = np.asarray(plain_labels([label for labels in y for label in labels]))
        self.classes_, codes = validation.check_labels(flat)
        if weights is not None:
            codes = codes[np.repeat(weights > 0.0, [len(labels) for labels in y])]
            X = with_weight(X, weights)
        self._vocabulary = None if _are_matrices(X) else Vocabulary()
        check_room(len(self.classes_), 0)
        tokens = self._tokens(X, grow=True, n_threads=settings.n_threads)
        self.n_features_in_ = tokens.n_features
        check_room(len(self.classes_), tokens.n_features)
        model = ChainModel(len(self.classes_), tokens.n_features, self.cost)
        sample = ChainSample(model, tokens, codes.astype(np.int32), n_threads=settings.n_threads)
        result = self._train(settings, sample, 0, weights)
        self._keep(result.w)
        return self

    def _keep(self, w: NDArray[np.float64]) -> None:
        self._w = w
        table = w.reshape(-1, len(self.classes_))
        self.coef_, self.transitions_ = table[: self.n_features_in_], table[self.n_features_in_ :]

    @property
    def feature_names_(self) -> list[str] | None:
        """The names of the features, in order."""
        return None if self._vocabulary is None else self._vocabulary.names

    def predict(self, X: Sequences) -> list[list[Any]]:
        """The labels of each token of each sequence."""
        check_is_fitted(self)
        check_listed_sequences(X)
        if not len(X):
            return []
        tokens = self._tokens(X, grow=False)
        chains = tokens.chains(len(self.classes_))
        codes = chains.label(self._w, None, None, validation.check_threads(self.n_jobs))
        return [labels.tolist() for labels in tokens.split(self.classes_[codes])]

    def n_best(self, X: Sequences, n: int = 5) -> list[list[tuple[list[Any], float]]]:
        """The n best labellings of each sequence with their scores, best first.

        Scores are no probabilities: the model is trained for the order of labellings, and no softmax over a few of them
        makes their scores more than that.

        Parameters
        ----------
        X : sequence of sequences
        n : int, default=5
            There are fewer where a short sequence has no more.
        """
        check_is_fitted(self)
        validation.check_count("n", n, or_none=False)
        found = [best_labellings(scores, self.transitions_, n) for scores in self._token_scores(X)]
        return [[(self.classes_[codes].tolist(), score) for score, codes in ways] for ways in found]

    def margins(self, X: Sequences) -> list[NDArray[np.float64]]:
        """How sure each label is: how much the score falls if the token has another label and all else is at its best.

        The least of a sequence's is the distance to the second of `n_best`.
        """
        check_is_fitted(self)
        return [token_margins(scores, self.transitions_) for scores in self._token_scores(X)]

    def top_features(self, n: int = 10) -> dict[Any, list[tuple[str, float]]]:
        """For each label, the n features with the largest weights in size. Negative weights speak against the label."""
        check_is_fitted(self)
        validation.check_count("n", n, or_none=False)
        return {
            label: [(self._feature_name(index), float(column[index])) for index in _largest(column, n)]
            for label, column in zip(self.classes_.tolist(), self.coef_.T, strict=True)
        }

    def top_transitions(self, n: int = 10) -> list[tuple[Any, Any, float]]:
        """The n transitions with the largest weights in size: a label, the one that follows, and the weight."""
        check_is_fitted(self)
        validation.check_count("n", n, or_none=False)
        labels, flat = self.classes_.tolist(), self.transitions_.ravel()
        pairs = [(int(index), *divmod(int(index), len(labels))) for index in _largest(flat, n)]
        return [(labels[before], labels[after], float(flat[index])) for index, before, after in pairs]

    def _token_scores(self, X: Sequences) -> list[NDArray[np.float64]]:
        """The score of each label for each token, by sequences."""
        check_listed_sequences(X)
        if not len(X):
            return []
        tokens = self._tokens(X, grow=False)
        values = np.ones(len(tokens.indices)) if tokens.values is None else tokens.values
        rows = sp.csr_array(
            (values, tokens.indices, tokens.indptr), shape=(len(tokens.indptr) - 1, self.n_features_in_)
        )
        return tokens.split(rows @ self.coef_)

    def score(self, X: Sequences, y: LabelSequences, sample_weight: ArrayLike | None = None) -> float:
        """The share of tokens that are labelled rightly, each with the weight of its sequence."""
        check_listed_sequences(X)
        truth = [list(labels) for labels in y]
        weights = check_example_weights(sample_weight, len(truth))
        return token_accuracy(truth, self.predict(X), weights)

    def evaluate(self, X: Sequences, y: LabelSequences) -> SequenceScores:
        """Accuracy and F1 of the labels, and of the entities that B-, I- labels spell out."""
        return score_sequences([list(labels) for labels in y], self.predict(X))

    def _tokens(self, X: Sequences, *, grow: bool, n_threads: int = 0) -> Tokens:
        if self._vocabulary is not None:
            if not grow and _are_matrices(X):
                raise ValueError("X has arrays, but the model was trained on tokens with named features.")
            named = cast(Sequence[Sequence[Token]], X)
            tokens = self._vocabulary.encode(named, grow=grow, n_threads=n_threads)
            if grow and not len(self._vocabulary):
                raise ValueError("No token of X has a feature; at least one is needed.")
            return tokens
        if not _are_matrices(X):
            raise ValueError("X has named features, but the model was trained on arrays of numbers.")
        return tokens_from_matrices(X, int(X[0].shape[1]) if grow else self.n_features_in_)

    def _feature_name(self, index: int) -> str:
        names = self.feature_names_
        return f"feature {index}" if names is None else names[index]

    def _draw_own(self, ax: Axes) -> None:
        from cutplane.report.overview import draw_heat

        draw_heat(ax, self.transitions_, self.classes_.tolist(), self.classes_.tolist())
        ax.set_title("weights of transitions: a column is the next label", loc="left")

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays, classes = labels_to_file(self.classes_)
        arrays |= vector_to_arrays("weights", self._w)
        if self._vocabulary is not None:
            names = [name.encode() for name in self._vocabulary.names]
            arrays["names"] = np.frombuffer(b"".join(names), dtype=np.uint8)
            arrays["names.lengths"] = np.array([len(name) for name in names], dtype=np.int64)
        return arrays, {"classes": classes}

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        self.classes_ = labels_from_file(arrays, stored["classes"])
        count = (int(self.n_features_in_) + len(self.classes_)) * len(self.classes_)
        w = vector_from_arrays("weights", arrays, count)
        self._vocabulary = None
        if "names" in arrays:
            text, ends = arrays["names"].tobytes(), np.cumsum(arrays["names.lengths"]).tolist()
            self._vocabulary = Vocabulary(
                text[begin:end].decode() for begin, end in zip([0, *ends[:-1]], ends, strict=True)
            )
            if max(1, len(self._vocabulary)) != self.n_features_in_:
                raise ValueError("there is not one name per feature")
        self._keep(w)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a model."""
        return hasattr(self, "_w")


def _largest(weights: NDArray[np.float64], n: int) -> NDArray[np.intp]:
    """Places of the n largest in size, without zeros."""
    order = np.argsort(-np.abs(weights), kind="stable")[:n]
    return np.asarray(order[weights[order] != 0.0])


def _are_matrices(X: Sequences) -> TypeGuard[Sequence[Matrix]]:
    first = X[0]
    return is_sparse(first) or (isinstance(first, np.ndarray) and first.dtype.kind in "biuf")


def check_room(labels: int, features: int) -> None:
    """`ValueError` where the weights of so many labels and features are more than there is memory for."""
    weights, free = labels * (labels + features), free_memory()
    if weights * _BYTES_A_WEIGHT > free:
        of = f"{features:,} features and {labels:,} labels" if features else f"Transitions between {labels:,} labels"
        raise ValueError(
            f"{of} have {weights:,} weights, more than {free / 2**30:.1f} GB of free memory hold: tokens need "
            "labels that repeat, from a list of a few."
        )


def _check_sequences(X: Sequences, y: LabelSequences) -> None:
    check_in_process("X", X)
    check_in_process("y", y)
    check_listed_sequences(X)
    check_listed("y", y)
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} sequences and y {len(y)}; as many are needed.")
    if not len(X):
        raise ValueError("X is empty; at least one sequence is needed.")
    for index, (x, labels) in enumerate(zip(X, y, strict=True)):
        if not isinstance(labels, Sized):
            raise ValueError(f"y[{index}] is {labels!r}; it must be the labels of the tokens of X[{index}].")
        length, given = rows_in(x), len(labels)
        if length != given:
            raise ValueError(f"Sequence {index} has {length} tokens and {given} labels; one label for each is needed.")
        if not length:
            raise ValueError(f"Sequence {index} is empty; every sequence needs a token or more.")
