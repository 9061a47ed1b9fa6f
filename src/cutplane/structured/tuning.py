"""The constants of training structured models, by solver."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FrankWolfeTuning:
    """The constants of block-coordinate Frank-Wolfe, and what chose each."""

    # Steps among the planes that an example has, for each search: they cost no search. By hand.
    steps_per_search: int = 5
    # This share of the visits is spread evenly over all examples, whatever their gaps were. By hand.
    uniform_share: float = 0.1
    # Gaps seen on visits grow stale: after so many epochs a sweep renews them all. By hand.
    renew_after: int = 10
    # The newest of k points has the weight this/(this - 1 + k) in their mean; 1 would be the plain mean. By hand,
    # on the chains of OCR letters.
    forgetting: float = 3.0


@dataclass(frozen=True, slots=True)
class OneSlackTuning:
    """The constants of the 1-slack algorithm, and what chose each."""

    # A cached plane serves where it is above the model by this share of the gap still open. On chains of three labels,
    # 100 examples to a gap of 1e-4: 0.5 needs 11 sweeps, 0.1 needs 8, no cache 102.
    cache_share: float = 0.1


@dataclass(frozen=True, slots=True)
class LineTuning:
    """The constants of searches along a line, and what chose each."""

    # A search ends when its planes leave less than this share of the improvement to be found. By hand.
    line_share: float = 0.1
    # A search makes no more sweeps than this. By hand.
    most_sweeps: int = 6


@dataclass(frozen=True, slots=True)
class OracleTuning:
    """The constants of searches by a user's model, and what chose each."""

    # Examples are searched in so many chunks at most. The number does not depend on the workers, so that sums are the
    # same to the bit for any number of them. By hand.
    most_chunks: int = 64
    # Terms that a search may add up beyond one for each weight. By hand: far more than the models of this package need.
    search_terms: int = 1024
    # The reach of features that are all zero, as far as they are known: greater than 0, and its square is, too.
    least_reach: float = 2.0**-300
    # What rounding may take from a score, relative to the size of its parts. By hand: a search that finds less than
    # another labelling by more than this is a fault of the model.
    score_rounding: float = 1e-8


@dataclass(frozen=True, slots=True)
class ProofTuning:
    """The constants of what is proven at the end of a run, and what chose each."""

    # A run goes on from what the prover granted so often at most. By hand.
    most_disputes: int = 2
    # Roundings of the mean, of C, and of their product. By counting, generously.
    operations: float = 16.0


FRANK_WOLFE = FrankWolfeTuning()
ONE_SLACK = OneSlackTuning()
LINE = LineTuning()
ORACLE = OracleTuning()
PROOF = ProofTuning()
