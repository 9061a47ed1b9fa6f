"""Linear chains: label sequences whose score adds up tokens and transitions, searched in the core."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane import _core
from cutplane._types import Array, Document, MatrixLike
from cutplane.proof.rounding import Rounding
from cutplane.structured.base import StructuredModel, Sweep
from cutplane.structured.chain_slack import best_by_mistakes
from cutplane.structured.costs import check_cost
from cutplane.structured.factored import Examples
from cutplane.structured.factored_chain import ChainFactors
from cutplane.structured.tokens import Tokens, tokens_from_matrices
from cutplane.structured.vectors import rows_in

Labels = NDArray[np.int32]


class ChainModel(StructuredModel[MatrixLike, ArrayLike]):
    """Sequences of tokens, each with one of `n_labels` labels.

    x has a row of features for each token (array or sparse matrix), y a label 0, ..., n_labels - 1 for each. The
    features of (x, y) are, for each label, the sum of its tokens' rows, and counts of the transitions between labels.

    Parameters
    ----------
    n_labels, n_features : int
    cost : array of shape (n_labels, n_labels), optional
        cost[true, predicted] of a token; the loss adds up over tokens. 1 for every mistake by default (Hamming).

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.structured.chain import ChainModel
    >>> model = ChainModel(n_labels=2, n_features=1)
    >>> w = np.array([-1.0, 1.0, 0.5, 0.0, 0.0, 0.5])  # by feature, then by transition; labels side by side
    >>> model.argmax(np.array([[1.0], [-0.1], [1.0]]), w)
    array([1, 1, 1], dtype=int32)
    """

    axes = 2

    def __init__(self, n_labels: int, n_features: int, cost: ArrayLike | None = None) -> None:
        self.n_labels = n_labels
        self.n_features = n_features
        self.cost = 1.0 - np.eye(n_labels) if cost is None else check_cost(cost, n_labels)

    @property
    def dimension(self) -> int:
        """The number of weights: one for each feature and label, and one for each transition."""
        return (self.n_features + self.n_labels) * self.n_labels

    def joint_feature(self, x: MatrixLike, y: ArrayLike) -> Array:
        """Sums of the tokens' features by label, and counts of transitions."""
        return self._chains([x]).features(_as_labels(y))

    def loss(self, y: ArrayLike, y_hat: ArrayLike) -> float:
        """The sum of the tokens' costs."""
        return float(self.cost[_as_labels(y), _as_labels(y_hat)].sum())

    def argmax(self, x: MatrixLike, w: Array) -> Labels:
        """The labelling with the highest score."""
        return self._chains([x]).label(w, None, None, 1)

    def loss_augmented_argmax(self, x: MatrixLike, y: ArrayLike, w: Array) -> Labels:
        """The labelling with the highest score plus loss."""
        return self._chains([x]).label(w, _as_labels(y), self.cost.ravel(), 1)

    def slack_augmented_argmax(self, x: MatrixLike, y: ArrayLike, w: Array) -> Labels:
        """The labelling with the highest loss times (1 + violation), for the Hamming loss: by number of mistakes."""
        if not np.array_equal(self.cost, 1.0 - np.eye(self.n_labels)):
            raise NotImplementedError(
                "rescaling='slack' is for chains whose mistakes cost 1 each; with other costs use rescaling='margin'."
            )
        truth, table = _as_labels(y), np.asarray(w).reshape(-1, self.n_labels)
        rows = x.toarray() if hasattr(x, "toarray") else np.asarray(x, dtype=np.float64)
        ways = best_by_mistakes(rows @ table[: self.n_features], table[self.n_features :], truth)
        right = ways[0][0]
        heights = [mistakes * (1.0 + score - right) for mistakes, (score, _) in enumerate(ways)]
        return ways[int(np.argmax([0.0, *heights[1:]]))][1]

    def features(self, w: Array | None) -> int:
        """What the model was made for."""
        return self.n_features

    def check(self, x: MatrixLike, y: ArrayLike) -> None:
        """As many labels as tokens, all of them known."""
        labels = np.asarray(y)
        length = rows_in(x)
        if labels.shape != (length,):
            raise ValueError(f"{length} tokens have labels of shape {labels.shape}; one label for each is needed")
        if not length:
            raise ValueError("the sequence is empty; each needs a token or more")
        if labels.dtype.kind in "biuf":
            labels = labels[~((labels >= 0) & (labels < self.n_labels) & (labels == np.floor(labels)))]
        else:
            labels = labels[[not isinstance(label, Integral) for label in labels.tolist()]]
        if len(labels):
            raise ValueError(f"the label {labels.tolist()[0]!r} is none of 0, ..., {self.n_labels - 1}")

    def params(self) -> Document:
        """What the constructor needs."""
        return {"n_labels": self.n_labels, "n_features": self.n_features, "cost": self.cost.tolist()}

    def factors(self) -> ChainFactors:
        """Emissions may be sums of kernel functions; transitions stay as they are."""
        return ChainFactors(self.n_features, self.cost)

    def bind(
        self, X: Examples[MatrixLike], y: Sequence[ArrayLike], *, rescaling: str, n_threads: int
    ) -> ChainSample | None:
        """All sequences flattened, searched by the core."""
        if rescaling != "margin":
            return None
        tokens = tokens_from_matrices(X, self.n_features)
        return ChainSample(self, tokens, np.concatenate([_as_labels(labels) for labels in y]), n_threads=n_threads)

    def predict(self, X: Examples[MatrixLike], w: Array, *, n_threads: int = 0) -> list[Labels]:
        """The best labelling of each sequence."""
        tokens = tokens_from_matrices(X, self.n_features)
        return list(tokens.split(tokens.chains(self.n_labels).label(w, None, None, n_threads)))

    def _chains(self, X: Examples[MatrixLike]) -> _core.Chains:
        return tokens_from_matrices(X, self.n_features).chains(self.n_labels)


class ChainSample:
    """Labelled sequences, one after the other.

    Parameters
    ----------
    model : ChainModel
    tokens : Tokens
    truth : array of shape (n_tokens,)
        The label of each token.
    n_threads : int
        0 leaves it to OpenMP. Results do not depend on it.
    """

    exact = True

    def __init__(self, model: ChainModel, tokens: Tokens, truth: Labels, *, n_threads: int = 0) -> None:
        self._chains = tokens.chains(model.n_labels)
        self._truth = truth
        self._cost = np.ascontiguousarray(model.cost).ravel()
        self._n_threads = n_threads
        self.dimension = model.dimension
        self.examples = len(tokens)
        self._factors = np.ones(self.examples)
        self.rounding = _rounding_of(tokens, float(self._cost.max(initial=0.0)))

    def sweep(self, w: Array) -> Sweep:
        """Search every sequence at w."""
        labels, heights, losses = self._chains.search(w, self._truth, self._cost, self._n_threads)
        factors = self._factors
        return Sweep(
            lambda: self._chains.difference(labels, self._truth, factors / self.examples),
            float(factors @ losses) / self.examples,
            factors * heights,
        )

    def ascent(self, C: float, seed: int) -> ChainAscent:
        """Block-coordinate ascent in the core."""
        core = _core.ChainAscent(self._chains, self._truth, self._cost, C, self._factors, seed)
        return ChainAscent(core, self._factors, self._n_threads)

    def weighted(self, factors: Array) -> ChainSample:
        """The same sequences, every plane times the factor of its sequence."""
        twin = copy.copy(self)
        twin._factors = np.ascontiguousarray(factors, dtype=np.float64)
        return twin


class ChainAscent:
    """See `cutplane.structured.block_ascent.BlockAscent`; this one runs in the core.

    Some sequences are searched side by side; which ones does not depend on the number of threads.
    """

    def __init__(self, core: _core.ChainAscent, factors: Array, n_threads: int) -> None:
        self._core = core
        self._factors = factors
        self._n_threads = n_threads

    def epoch(self) -> None:
        """As many visits as there are sequences."""
        self._core.epoch(self._n_threads)

    def renew(self, sweep: Sweep) -> None:
        """Take the sequences' gaps from a sweep at the present weights."""
        self._core.renew(sweep.heights / self._factors, self._n_threads)

    @property
    def weights(self) -> Array:
        """The weights reached."""
        return self._core.weights(self._n_threads)

    def blend(self, mean: Array, share: float) -> None:
        """Move a mean towards the weights, in place."""
        self._core.blend(mean, share, self._n_threads)

    @property
    def estimate(self) -> float:
        """The dual value by running sums."""
        return self._core.dual_value

    @property
    def gap_estimate(self) -> float:
        """The gap as the visits saw it."""
        return self._core.gap

    @property
    def most_planes(self) -> int:
        """The labellings that carry weight of the sequence that has most of them."""
        return self._core.most_labellings

    def plane(self) -> tuple[Array, float]:
        """The plane that the dual variables stand for, summed up afresh."""
        return self._core.plane(self._n_threads)


def _rounding_of(tokens: Tokens, dearest: float) -> Rounding:
    """What rounding does to the scores and sums of labelled sequences; the dearest mistake of a token is known."""
    squares = np.zeros(len(tokens.indptr) - 1)
    of_tokens = np.diff(tokens.indptr)
    values = np.ones(len(tokens.indices)) if tokens.values is None else tokens.values
    np.add.at(squares, np.repeat(np.arange(len(squares)), of_tokens), np.square(values))
    ends = np.concatenate([[0.0], np.cumsum(np.sqrt(squares) + 1.0)])  # 1 for the transition
    longest = int(np.diff(tokens.starts).max())
    terms = np.concatenate([[0], np.cumsum(of_tokens + 2)])  # the transition and the loss of each token
    return Rounding(
        reach=2.0 * float(np.diff(ends[tokens.starts]).max()) * (1.0 + 1e-9),
        row_depth=int(np.diff(terms[tokens.starts]).max()),
        sum_depth=4 * len(squares) + 16,
        scale=max(longest * dearest, 1.0),
    )


def _as_labels(y: ArrayLike) -> Labels:
    try:
        return np.ascontiguousarray(y, dtype=np.int32)
    except (TypeError, ValueError):
        raise ValueError(f"The labels {y!r:.60} must be numbers 0, 1, ..., one for each token.") from None
