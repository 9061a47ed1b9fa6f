"""The search for dual variables that prove a linear model by themselves."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from cutplane._types import Array, Matrix, MatrixLike
from cutplane.estimators.common.proofs import AnyProving
from cutplane.estimators.common.training import prover_of, total_weight
from cutplane.objectives.rounded import RoundedObjective
from cutplane.proof.checker import Bounds
from cutplane.proof.data_hash import hash_data
from cutplane.risks.base import Risk
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.run import Settings, run
from cutplane.solvers.witness import find_witness

C = TypeVar("C")  # codes of dual variables

# Fewer bits are taken where they cost the gap no more than this, relative to it.
_FOR_BITS = 0.01
# Parts of the gap that is to be proven: those aimed at, one after the other, for the model is not the best one, and
# codes are rounded; and the part that multipliers of bounds are found with.
_AIMS, _MULTIPLIERS = (0.9, 0.3, 0.1), 0.1
# No relative gap: an absolute one is meant.
_LEAST = 1e-15


class Search:
    """The problems of a model, prepared as its fit did."""

    def __init__(
        self, proving: AnyProving, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> None:
        self._model, self._pattern = proving.model, proving.untrained()
        self._training = self._pattern._training()
        self.prepared = self._pattern._prepare(self._training, X, y, sample_weight)
        self._source = self._pattern._source(self.prepared.X, self._training.n_threads)

    @cached_property
    def hash(self) -> str:
        """Of the examples."""
        return hash_data(self.prepared.X, np.asarray(self.prepared.y), self.prepared.weights)

    def risk(self, index: int) -> Risk:
        """Of one problem."""
        risk: Risk = self.prepared.problems[index](None)
        return risk

    def gap(self, index: int) -> float:
        """What is to be proven: the gap that the model asks for, or the one that it has."""
        reached, asked = self._model.certificates_[index].gap, self._training.stopping.relative_gap
        return max(float(asked), reached if math.isfinite(reached) else 0.0)

    def proven(self, index: int, coded: Callable[[Array], tuple[C, Bounds]]) -> tuple[C, Bounds]:
        """The first dual variables, coded, that prove that gap of the model itself, or the best that were found."""
        best: tuple[C, Bounds] | None = None
        for aim in _AIMS:
            codes, bounds = coded(self._duals(index, aim * self.gap(index)))
            if best is None or bounds.lower_bound > best[1].lower_bound:
                best = codes, bounds
            if bounds.gap <= self.gap(index):
                break
        assert best is not None
        return best

    def _duals(self, index: int, aim: float) -> Array:
        """Coefficients of a plane that proves that much of the best model."""
        objective, settings = self._problem(self._pattern, index)
        stopping = replace(settings.stopping, relative_gap=aim, max_iter=None)
        if settings.bounds is not None:
            objective, settings = self._problem(self._freed(objective, settings, index, aim), index)
            # The objective that counts is that of the model, not the one with multipliers in its prior.
            close = aim * abs(self._model.certificates_[index].objective)
            stopping = replace(stopping, relative_gap=_LEAST, absolute_gap=max(close, stopping.absolute_gap))
        coef = find_witness(objective.keeping(), settings.C, stopping, settings.seed)
        if coef is None:
            raise ValueError("No dual variables were found that prove a bound; scaled features may help.")
        return coef

    def _problem(self, pattern: BaseEstimator, index: int) -> tuple[RoundedObjective, Settings]:
        risk = self.risk(index)
        objective, settings, _ = pattern._problem(
            self._source, risk, self._training, index, len(self.prepared.problems)
        )
        return objective, settings.for_risk(total_weight(risk, self.prepared.X.shape[0], self.prepared.weights), None)

    def _freed(self, objective: RoundedObjective, settings: Settings, index: int, aim: float) -> BaseEstimator:
        """The settings of a problem without bounds, whose dual variables are those of the one that has them.

        With multipliers m >= 0 of the bounds w >= 0, ½|w - prior|² - <m, w> is ½|w - prior - m|² but for a constant:
        they are part of the prior. A plane that is close to the best, with slope g, has m = max(0, g - prior).
        """
        ledgers: list[Ledger] = []
        assert settings.bounds is not None
        closer = replace(settings.stopping, relative_gap=_MULTIPLIERS * aim, max_iter=None)
        closely = replace(settings, stopping=closer)
        run(objective, closely, prover_of(objective, closely), None, ledgers.append)
        slope = settings.C * ledgers[-1].witness.slope
        multipliers = np.maximum(settings.bounds, -slope) + slope
        d = self.prepared.X.shape[1]
        rows = multipliers.reshape(self._source.shape[1], -1)[:d].T  # none of the constant feature
        freed = copy.copy(self._pattern)
        prior = self._pattern._prior_rows(len(self.prepared.problems), d)
        if prior is None:
            prior = np.zeros((max(len(self.prepared.problems), len(rows)), d))
        prior = prior.copy()
        prior[index : index + len(rows)] += rows
        freed.set_params(prior=prior, nonnegative=None)
        return freed


def smallest(attempt: Callable[[int], tuple[C, Bounds]], sizes: Sequence[int], gap: float) -> tuple[C, Bounds]:
    """The smallest codes that prove a gap, or leave the bound nearly as the largest do."""
    best = attempt(sizes[-1])
    for bits in sizes[:-1]:
        codes, bounds = attempt(bits)
        if bounds.gap <= gap or bounds.gap <= (1.0 + _FOR_BITS) * best[1].gap:
            return codes, bounds
    return best


def plain(X: Matrix) -> Matrix:
    """Examples as the checkers read them."""
    return sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
