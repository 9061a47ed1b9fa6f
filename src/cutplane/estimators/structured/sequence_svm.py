"""`SequenceSVM`: label the tokens of sequences, with a certificate."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from os import PathLike
from typing import Any, Self, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Arrays, Document, Matrix, RandomState, is_sparse
from cutplane.estimators.common import validation
from cutplane.estimators.common.documented import documented
from cutplane.estimators.common.stored import finite, labels_from_file, labels_to_file
from cutplane.estimators.common.validation.input_kinds import plain_labels
from cutplane.estimators.structured.descriptions import STRUCTURED
from cutplane.estimators.structured.structured_training import StructuredEstimator
from cutplane.solvers.result import OnStep
from cutplane.structured.chain import ChainModel, ChainSample
from cutplane.structured.metrics import SequenceScores, score_sequences
from cutplane.structured.tokens import Sequences, Token, Tokens, Vocabulary, tokens_from_matrices
from cutplane.structured.vectors import rows_in

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
    objective_, lower_bound_, gap_, n_iter_, history_, stop_reason_
    n_features_in_ : int
        Features of a token.

    Examples
    --------
    >>> from cutplane import SequenceSVM
    >>> X = [[["the"], ["dog"], ["barks"]], [["a"], ["dog"]]]  # or dicts, arrays, sparse rows for the tokens
    >>> Y = [["D", "N", "V"], ["D", "N"]]
    >>> model = SequenceSVM(C=10.0).fit(X, Y)
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

    def fit(self, X: Sequences, Y: LabelSequences) -> Self:
        """Train on sequences X and their labels Y.

        Parameters
        ----------
        X : sequence of sequences
            For each sequence an array or a sparse matrix with a row for each token, or a list of tokens, each a dict
            (``{"word": "the", "capital": True, "length": 3}``) or a list of names of features.
        Y : sequence of sequences
            The labels of the tokens.

        Returns
        -------
        self
        """
        settings = self._settings()
        _check_sequences(X, Y)
        flat = np.asarray(plain_labels([label for y in Y for label in y]))
        self.classes_, codes = validation.check_labels(flat)
        self._vocabulary = None if _are_matrices(X) else Vocabulary()
        tokens = self._tokens(X, grow=True)
        self.n_features_in_ = tokens.n_features
        model = ChainModel(len(self.classes_), tokens.n_features, self.cost)
        sample = ChainSample(model, tokens, codes.astype(np.int32), n_threads=settings.n_threads)
        result = self._train(settings, sample, 0)
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
        if not len(X):
            return []
        tokens = self._tokens(X, grow=False)
        chains = tokens.chains(len(self.classes_))
        codes = chains.label(self._w, None, None, validation.check_threads(self.n_jobs))
        return [labels.tolist() for labels in tokens.split(self.classes_[codes])]

    def score(self, X: Sequences, Y: LabelSequences) -> float:
        """The share of tokens that are labelled rightly."""
        return self.evaluate(X, Y).accuracy

    def evaluate(self, X: Sequences, Y: LabelSequences) -> SequenceScores:
        """Accuracy and F1 of the labels, and of the entities that B-, I- labels spell out."""
        return score_sequences([list(y) for y in Y], self.predict(X))

    def _tokens(self, X: Sequences, *, grow: bool) -> Tokens:
        if self._vocabulary is not None:
            if not grow and _are_matrices(X):
                raise ValueError("X has arrays, but the model was trained on tokens with named features.")
            tokens = self._vocabulary.encode(cast(Sequence[Sequence[Token]], X), grow=grow)
            if grow and not len(self._vocabulary):
                raise ValueError("No token of X has a feature; at least one is needed.")
            return tokens
        if not _are_matrices(X):
            raise ValueError("X has named features, but the model was trained on arrays of numbers.")
        return tokens_from_matrices(X, int(X[0].shape[1]) if grow else self.n_features_in_)

    def _feature_name(self, index: int) -> str:
        names = self.feature_names_
        return f"feature {index}" if names is None else names[index]

    def _to_file(self) -> tuple[Arrays, Document]:
        arrays, classes = labels_to_file(self.classes_)
        arrays["weights"] = self._w
        if self._vocabulary is not None:
            names = [name.encode() for name in self._vocabulary.names]
            arrays["names"] = np.frombuffer(b"".join(names), dtype=np.uint8)
            arrays["names.lengths"] = np.array([len(name) for name in names], dtype=np.int64)
        return arrays, {"classes": classes}

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        self.classes_ = labels_from_file(arrays, stored["classes"])
        count = (int(self.n_features_in_) + len(self.classes_)) * len(self.classes_)
        w = finite(arrays, "weights", (count,))
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


def _are_matrices(X: Sequences) -> TypeGuard[Sequence[Matrix]]:
    first = X[0]
    return is_sparse(first) or (isinstance(first, np.ndarray) and first.dtype.kind in "biuf")


def _check_sequences(X: Sequences, Y: LabelSequences) -> None:
    if len(X) != len(Y):
        raise ValueError(f"X has {len(X)} sequences and Y {len(Y)}; as many are needed.")
    if not len(X):
        raise ValueError("X is empty; at least one sequence is needed.")
    for index, (x, y) in enumerate(zip(X, Y, strict=True)):
        length = rows_in(x)
        if length != len(y):
            raise ValueError(f"Sequence {index} has {length} tokens and {len(y)} labels; one label for each is needed.")
        if not length:
            raise ValueError(f"Sequence {index} is empty; every sequence needs a token or more.")
