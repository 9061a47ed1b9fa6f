"""When dual ascent looks for a certificate, and when it gives up: what the epochs so far have shown."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from cutplane.solvers.base import Climb
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.protocols import AscentLike
from cutplane.solvers.result import relative_gap


@dataclass(frozen=True, slots=True)
class AscentTuning:
    """What dual ascent is tuned by.

    Chosen by hand, most on news20 and w8a (see docs/decisions.md). benchmarks/binary.py shows what they do.
    """

    #: Before this epoch there is little to certify, unless the gap is foreseen to be small.
    first_certificate: int = 2
    #: The same after a resumed start: variables that were found under other bounds are out of place at first.
    #: Paths.
    first_certificate_if_resumed: int = 3
    #: Where the first plane takes this much of its bound, most dual variables end there: ascent begins from it.
    mostly: float = 0.3
    #: Where it takes this much, one epoch mostly does the rest.
    nearly_all: float = 0.9
    #: C times the squared lengths of all examples, above which such a start is out of the question.
    small_C: float = 30.0
    #: Before this many epochs the pace says little.
    first_epochs: int = 5
    #: Ascent is hopeless where no more than this share of the dual variables above zero has met its bound at first.
    unbound: float = 0.02
    #: With more features, steps of Newton's method are expensive, and a second epoch for a better start pays. MNIST.
    many_features: int = 400
    #: After a certificate that left more than this of the gap, every example is looked at again.
    hardly: float = 0.9
    #: An epoch has gained at most so many times the gap it left: after a greater gain than this times the gap aimed
    #: at, a certificate is not worth its pass.
    most_gain: float = 12.0
    #: Certificates in a row that fail although the running sums promise them.
    most_disputes: int = 50
    #: Of the gap aimed at, what the rounding of running sums may take before they are added up afresh: a pass.
    room_for_drift: float = 1e-4
    #: After so many of them the running sums are added up afresh: extrapolations multiply their rounding.
    doubtful: int = 5
    #: Features per example from which weights are also scaled and epochs extrapolated: with fewer, neither paid.
    wide: float = 0.25
    #: Epochs until the next certificate at most, relative to those before it.
    patient: float = 0.5
    #: The same where the sweeps foretell when it may succeed. news20, C = 100.
    patient_if_foretold: float = 3.0
    #: A certificate is tried where the gap that the sweeps foretell is at most so many times the one aimed at.
    promising: float = 1.1
    #: What scaling and mixing leave of the gap that the sweeps foretell: at first, at least and at most. news20.
    first_gap_ratio: float = 0.8
    least_gap_ratio: float = 0.2
    most_gap_ratio: float = 1.5
    #: How many times as large the gap may be that two sweeps foretell. news20 and text, paths.
    cautious: float = 1.45
    #: No sweep leaves less than this of the gap that it meets. text, logistic loss.
    steepest: float = 0.04
    #: Of the gap that the last sweep of the first epoch meets, where that has several, what it leaves at least. rcv1.
    first_share: float = 0.1
    #: From this epoch on, a certificate costs little beside those before it, and tells more than they foretell.
    last_foretold: int = 10
    #: With no larger share of the examples still moving, epochs cost next to nothing...
    few_active: float = 0.1
    #: ... and the first certificate may wait until this epoch.
    last_first: int = 20
    #: A longer step multiplies the rounding of both ends: its scores are computed afresh.
    longest_step: float = 2.0
    #: Epochs from one extrapolation to the next. news20, C = 100.
    extrapolate_after: int = 2
    #: Epochs before the variables between their bounds are solved for by themselves, and the products that this may
    #: take. Where it pays, it may take so many times as many after as many epochs again; where it does not, the next
    #: time is as many times later. news20 and text, C = 1 to 10.
    climb_after: int = 20
    climb_products: int = 10
    climb_longer: int = 4
    climb_later: int = 2
    #: They are only where examples are wide or there are as many features: few cannot tell so many variables apart, and
    #: most of the time goes into looking at the examples that rest. w8a, C = 1.
    climb_features: int = 2500
    #: Of what as many epochs gain: how much it must gain where it leads to no bound. news20, C = 10.
    climb_gains: float = 0.1
    #: Of the gap aimed at, what those variables may leave; and of that, after certificates that fail although the
    #: running sums promise them.
    climb_leaves: float = 0.3
    climb_leaves_if_disputed: float = 0.3


TUNING = AscentTuning()


@dataclass
class Pace:
    """The epochs so far: what each gained, what certificates found, when the next one is due.

    Parameters
    ----------
    wide : bool
        Whether examples have nearly as many features to differ in as there are examples.
    features : int
        How many there are.
    promise, patience : float
        The most epochs that may be needed in all: as foreseen early on, and later.
    """

    ledger: Ledger
    ascent: AscentLike
    wide: bool
    features: int
    promise: float
    patience: float
    due: int = TUNING.first_certificate
    epochs: int = 0
    disputes: int = 0
    gains: list[float] = field(default_factory=lambda: [math.inf])
    open_gaps: list[float] = field(default_factory=lambda: [math.inf])  # that the sweeps met
    gaps: list[tuple[int, float]] = field(default_factory=lambda: [(0, 1.0)])  # at each certificate
    next_climb: int = TUNING.climb_after
    climb_wait: int = TUNING.climb_after
    climb_products: int = TUNING.climb_products
    gap_ratio: float = field(init=False)  # of the gap that is proven to the one that the sweeps foretell

    def __post_init__(self) -> None:
        self.gap_ratio = TUNING.first_gap_ratio if self.wide else math.inf
        if self.ascent.sweeps > 1 or self.ascent.first_gap <= self.ledger.allowed_fraction:
            self.due = 1

    def entered(self, gain: float) -> None:
        """Another epoch has been made."""
        self.epochs += 1
        self.gains.append(gain)
        self.open_gaps.append(self.ascent.open_gap)

    @property
    def extrapolates(self) -> bool:
        """Whether the next epoch begins where the last ones lead."""
        return self.wide and self.epochs > 0 and self.epochs % TUNING.extrapolate_after == 0

    @property
    def climbs(self) -> bool:
        """Whether to solve for the variables between their bounds before the next epoch."""
        return self.can_climb and self.epochs >= self.next_climb

    @property
    def can_climb(self) -> bool:
        """Whether a linear system in those variables may be worth its products."""
        return self.wide or self.features >= TUNING.climb_features

    @property
    def climb_gap(self) -> float:
        """The gap that these may leave."""
        leaves = TUNING.climb_leaves * (TUNING.climb_leaves_if_disputed if self.disputes else 1.0)
        return leaves * self.ledger.allowed_fraction * abs(self.ascent.estimate)

    def climbed(self, climb: Climb) -> None:
        """They have been solved for: say when to do so again, and how long.

        It pays where it gained more than as many epochs would, or nearly as much where the variables at their bounds
        stay there: the last products gain most.
        """
        enough = TUNING.climb_gains if climb.stands else 1.0
        if climb.products == 0:  # most was left to do elsewhere
            pass
        elif climb.rise > enough * climb.products * self.gains[-1]:
            self.climb_wait, self.climb_products = TUNING.climb_after, TUNING.climb_longer * self.climb_products
        else:
            self.climb_wait, self.climb_products = TUNING.climb_later * self.climb_wait, TUNING.climb_products
        self.next_climb = self.epochs + self.climb_wait

    @property
    def goes_on(self) -> bool:
        """Whether another epoch comes before the next certificate."""
        if self.epochs == self.gaps[-1][0]:
            return True
        if self.epochs < self.due and not self._promising(self._likely_ratio):
            return True
        if self.epochs < TUNING.first_epochs and self._far_off:
            return True
        if len(self.gaps) > 1 or self.ledger.ending:
            return False
        return self._foretold_far or (self.epochs < TUNING.last_first and self._cheap)

    @property
    def _foretold_far(self) -> bool:
        """Whether sweeps foretell a gap that is too large yet, where nothing else would take over."""
        if not self.wide or self.epochs >= TUNING.last_foretold or math.isinf(self.ascent.open_gap):
            return False
        if self.epochs == 1:
            return self.ascent.sweeps > 1 and not self._promising(TUNING.first_share)
        return not self._promising(self._likely_ratio)

    @property
    def _cheap(self) -> bool:
        """Whether epochs cost next to nothing by now, and a certificate would hardly succeed."""
        few = self.ascent.share_active <= TUNING.few_active
        return few and not self._promising(TUNING.first_gap_ratio)

    @property
    def _likely_ratio(self) -> float:
        """Of the gap that is proven to the one that the last sweep met: as certificates told, or the last two sweeps.

        A sweep meets the gap that the one before has left; the last ones of two epochs are so many sweeps apart.
        """
        before, last = self.open_gaps[-2:]
        if len(self.gaps) > 1 or not self.wide or not 0.0 < last < before < math.inf:
            return self.gap_ratio
        share = math.pow(last / before, 1.0 / self.ascent.sweeps)
        return min(self.gap_ratio, max(TUNING.steepest, TUNING.cautious * share))

    def _promising(self, gap_ratio: float) -> bool:
        """Whether the last sweep foretells a gap that is small enough."""
        allowed = self.ledger.allowed_fraction * abs(self.ascent.estimate)
        return gap_ratio * self.ascent.open_gap <= TUNING.promising * allowed

    @property
    def _far_off(self) -> bool:
        """Whether the last epoch gained too much for the gap to be small, and the next one will gain much, too."""
        allowed = self.ledger.allowed_fraction * abs(self.ascent.estimate)
        before, last = self.gains[-2:]
        if self.ledger.ending or math.isinf(before):
            return False
        return last > TUNING.most_gain * allowed and 2.0 * last * last > allowed * before

    def certified(self) -> None:
        """A certificate has been found, and did not end the run: note the gap."""
        bound = max(self.ledger.lower, self.ascent.estimate)
        self.gaps.append((self.epochs, relative_gap(self.ledger.upper, bound)))
        # The running sums call it proven, the plane does not: rounding, or an intercept still out of balance.
        self.disputes = self.disputes + 1 if self.epochs_left == 0.0 else 0
        if self.disputes == 1:  # variables solved for more closely leave room for that
            self.next_climb = self.epochs + 1

    def schedule(self) -> None:
        """Say when the next certificate is due: it costs about half an epoch, and should succeed."""
        ascent = self.ascent
        # The pace slackens: not all of the epochs that seem to be left.
        self.due = self.epochs + max(1, math.ceil(min(self.epochs_left, TUNING.patient * self.epochs + 1)))
        # Until it is clear that nothing else will take over, the pace must be known, too.
        stays = self.wide or self.epochs >= 2 * TUNING.first_epochs or ascent.share_active <= TUNING.few_active
        if stays and 0.0 < ascent.open_gap < math.inf:
            ratio = self.gaps[-1][1] * abs(ascent.estimate) / ascent.open_gap
            self.gap_ratio = min(max(ratio, TUNING.least_gap_ratio), TUNING.most_gap_ratio)
            self.due = self.epochs + max(1, math.ceil(TUNING.patient_if_foretold * self.epochs))

    @property
    def disputed(self) -> bool:
        """Whether certificates fail again and again although the running sums promise them."""
        return self.disputes > TUNING.most_disputes

    @property
    def sums_are_doubtful(self) -> bool:
        """Whether it may be the rounding of the running sums that certificates fail by."""
        return self.disputes > 0 and self.disputes % TUNING.doubtful == 0

    @property
    def too_slow(self) -> bool:
        """Whether, at the pace of the last epochs, it would take too many in all."""
        # The pace slackens: what is promised early on takes several times as long.
        limit = self.promise if self.epochs < 2 * TUNING.first_epochs else self.patience
        # Until its own bound is the best one (an earlier run may have left a better), the pace says nothing.
        own = self.ascent.estimate >= self.ledger.lower
        return self.epochs >= TUNING.first_epochs and self.epochs + (self.epochs_left if own else 0.0) > limit

    @property
    def hardly_closer(self) -> bool:
        """Whether the gap has hardly closed since the last certificate: shrinking may have misled."""
        return self.gaps[-1][1] > TUNING.hardly * self.gaps[-2][1]

    @property
    def epochs_left(self) -> float:
        """Epochs still needed if the gap goes on shrinking by the same factor an epoch."""
        target = self.ledger.allowed_fraction
        end, now = self.gaps[-1]
        # The pace of the second half: it slackens as the easy examples settle.
        start, before = next((entry for entry in self.gaps[1:-1] if 2 * entry[0] >= end - 1), self.gaps[-2])
        if now <= target:
            return 0.0
        if now >= before:
            return math.inf
        return math.log(now / target) * (end - start) / math.log(before / now)
