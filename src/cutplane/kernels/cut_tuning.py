"""The constants of training by cuts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CutTuning:
    """The constants of exact and sampled cuts, and what chose each."""

    # Cuts without weight for so many iterations are dropped. Section 6.1 of Yu and Joachims (2008).
    idle_iterations: int = 20
    # Constant-time cuts end after so many samples in a row that hardly violate the model. The same section.
    satisfied_in_a_row: int = 4
    # Where a kernel is not positive semi-definite there may be no minimum to come near: runs end here at the latest. By
    # hand.
    indefinite_iterations: int = 1_000
    # Exact cuts end where so many have neither raised the bound nor found a better point: rounding is all that is left.
    # By hand.
    idle_cuts: int = 100
    # Kernels that are not positive semi-definite by construction are tried on so many rows first. By hand.
    tried_rows: int = 200
    # Samples drawn until one violates the model as the whole does (line 20 of Algorithm 3). The paper has no limit;
    # this one is by hand.
    most_samples: int = 20
    # OCA's cut is taken so far from the best point towards the model's minimiser. Franc and Sonnenburg (2008).
    mu: float = 0.1
    # Sums of minimisers start anew when a run has become so many times as long; the last two make the mean, which is
    # then over the last third to half of a run. `benchmarks/sampled_cuts.py` on Checkers with a million examples.
    longer: float = 1.5
    # Planes of the whole sample behind linear-time cuts may take this many kernel values when a run has ended, and as
    # many as the run took if it was given the time. By hand: some ten milliseconds.
    proof_values: float = 4e6
    # Products that take as long as the kernel value they are made with. Measured by hand, on one core.
    products_a_value: float = 12.0
    # They are planes of the examples with a loss in more than this part of the labellings: the fewer examples, the more
    # planes there is time for. By hand, on moons.
    often_wrong: float = 0.2
    # More planes are made for a bound while the last raised it by this part of what is missing. By hand.
    proof_gain: float = 0.001
    # Rows of dropped cuts are kept until they are more than this part of all. By hand.
    unused_part: float = 0.1
    # Rows are prepared together with all others when more than this part of all is new. By hand.
    new_part: float = 0.1
    # Rows without a coefficient are left out of sums when no more than this part of all has one. By hand, on Checkers
    # with a million examples.
    used_part: float = 0.85


TUNING = CutTuning()
