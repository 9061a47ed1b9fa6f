"""What smoothed Newton is tuned by."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NewtonTuning:
    """The numbers of smoothed Newton.

    Chosen by hand. benchmarks/binary.py (covtype, MNIST, a9a, w8a) shows what they do; for those marked "paths",
    benchmarks/path.py (covtype, MNIST, a9a).
    """

    # Rounding.
    #: The width after one that is solved, relative to it.
    narrowing: float = 0.15
    #: The same where samples have shown the way, for they are many.
    narrowing_on_samples: float = 0.25
    #: The same after a step cut shorter than `cut_short`: too many examples met their kinks on the way.
    narrowing_with_care: float = 0.5
    cut_short: float = 0.15
    #: After so many steps in a row cut shorter than `cut_short` that closed nothing of the gap, far from the rounded
    #: optimum, the width grows by this.
    #: benchmarks/certain.py: covtype, tubes at C = 10.
    most_short: int = 5
    widening: float = 5.0
    #: Scores are not known more finely, relative to the first width.
    least_width: float = 2.5e-13
    #: What rounding may cost in the end, of the gap aimed at.
    for_rounding: float = 0.4
    #: Examples on kinks, for each feature, from which they come and go like those of a smooth density.
    plenty: float = 20.0

    # Samples.
    #: With this many examples a feature, samples tell nearly all.
    ample: int = 2000
    #: The least sample: examples in all, and for each feature.
    least_sample: int = 2000
    least_sample_per_feature: int = 20
    #: The largest one, as a fraction of all: it is copied, and a greater one would take more memory than training.
    largest_sample: float = 0.08
    #: How close a sample comes to the whole, relative to its features over its examples.
    sample_tells: float = 1.0
    #: No sample comes closer than this, relative to the gap aimed at.
    sample_finer: float = 0.25
    #: The same where it has the slope of the whole at some point, relative to the gap there.
    anchored_sample_tells: float = 0.01
    #: Steps on a sample, or on the examples near their kinks, at most.
    most_inner_steps: int = 30
    #: With a gap above the first, a sample shows the way, unless it is off by more than the second.
    worth_a_sample: float = 0.03
    most_off: float = 1.0

    # Examples near their kinks.
    #: Where they are fewer than this fraction, steps are made on these alone: a fraction of all examples, of near ones,
    #: of a sample.
    few: float = 0.2
    few_of_near: float = 0.3
    few_of_sample: float = 0.15
    #: Examples within this many widths of their kinks are near. Kinks are within half a width, so the near are about
    #: 2 * reach times as many.
    reach: float = 3.0
    #: Where that is too many, each of them hardly counts and the width shrinks by `finer` or more, at a point no
    #: further from the rounded optimum than `settled` times what rounding costs, hardly any move further than their
    #: kinks are wide: then those within `on_kinks` widths are near.
    settled: float = 1.0
    finer: float = 0.6
    on_kinks: float = 0.5
    #: A step cut shorter than the first met the kinks of far examples; than the second, and tangents did not hold.
    whole: float = 0.9
    held: float = 0.5
    #: After a step shorter than the first, or where the first point is so many times as far from the rounded optimum
    #: as rounding costs, tangents of far examples will not hold: the next step is made on all examples.
    lost: float = 0.1
    lost_if_further: float = 100.0
    #: Where no more far examples were met, relative to the near ones, these are looked at from then on; else all that
    #: are twice as far.
    few_met: float = 0.05
    #: What the problem of the near examples may leave of the gap aimed at.
    for_near: float = 0.5

    # Steps.
    #: A narrower width is in reach of a single step where the optimum is off by no more than this times what rounding
    #: costs.
    in_reach: float = 50.0
    #: Steps are searched until the slope has fallen to this fraction.
    slope_left: float = 0.2
    #: With no more than this left, a step is as good taken whole: a search costs more than it gains.
    whole_left: float = 0.5
    #: A step on all examples takes the residual down by about the first, if that is no more than the second, a
    #: fraction of the objective. Paths.
    one_step: float = 100.0
    one_step_if_below: float = 0.1

    # The end.
    #: Where the gap asked for is so many times less than what rounding costs, and the last width took so many steps,
    #: an interior point ends the run as soon as few enough examples are near their kinks.
    far_off: float = 20.0
    many_steps: int = 7
    #: Steps in a row that close less than 2 % of the gap before it gives up.
    most_idle: int = 15
    #: What the very best intercept may gain on that of the rounded risk, of what rounding costs, where many examples
    #: are on their kinks. Examples elsewhere: covtype, normal features.
    settling: float = 0.1
    idle: float = 0.98

    # Starts from an earlier run.
    #: A sample that promised less than 1 / this of the objective has misled.
    misled: float = 1.5
    #: What rounding may cost at a start, of what a sample was off.
    for_sample_error: float = 0.25
    #: The incumbent is rounded so that this costs the given fraction of the gap it leaves; the second where the gap
    #: is more than the third of the objective, and no measure of how far the weights are off.
    start_error: float = 0.15
    start_error_if_far: float = 0.07
    far: float = 0.5
    #: No start is rounded more finely, relative to the first width.
    least_start_width: float = 2.5e-7
    #: Where the error of a start is foreseen, rounding may cost as much as that; or as much as in the end, if that is
    #: not this many times less. Paths.
    nearly_narrow: float = 4.0
    #: From the last evaluation for another C one step will mostly do, where it is so many times the gap aimed at away
    #: from the optimum of its width, and no more than the second, a fraction of the objective. Paths.
    one_step_from_last: float = 8.0
    close_to_last: float = 0.01


TUNING = NewtonTuning()
