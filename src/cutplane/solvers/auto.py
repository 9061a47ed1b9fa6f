"""Whichever way of finding planes proves the gap soonest, switching while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from cutplane.solvers.ascent.dual import DualAscent
from cutplane.solvers.cutting_plane import CuttingPlane
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.interior_point import finish, most_examples
from cutplane.solvers.newton.samples import sample_sizes
from cutplane.solvers.newton.smoothed import SmoothedNewton
from cutplane.solvers.newton.start import Start, resumed_start
from cutplane.solvers.newton.tuning import TUNING as NEWTON
from cutplane.solvers.protocols import SmoothObjectiveLike
from cutplane.solvers.result import StopReason, relative_gap
from cutplane.solvers.small import SmallInterior


@dataclass(frozen=True, slots=True)
class AutoTuning:
    """When one solver takes over from another.

    Chosen by hand. benchmarks/binary.py (covtype, MNIST, a9a, w8a, news20, rcv1) shows what they do.
    """

    #: More features than this make Newton's systems expensive: coordinate ascent is given more time.
    few_features: int = 2500
    #: Epochs that Newton's method is worth, as they are promised early on and as they turn out. An objective may know
    #: better.
    epochs: tuple[float, float] = (27.0, 150.0)
    #: The same with fewer examples for each feature than this, where its systems are large against a pass: the first
    #: epochs promise too little.
    few_examples: float = 32.0
    epochs_if_few: tuple[float, float] = (float("inf"), 150.0)
    #: The same where there are many features, which make Newton's method slow.
    epochs_if_wide: tuple[float, float] = (float("inf"), 20_000.0)
    #: The same without kinks: Newton's method then takes some ten steps whatever the scales of features. Expression
    #: levels of 72 patients, unscaled: 0.3 s, and hours by dual ascent alone.
    epochs_if_smooth: tuple[float, float] = (float("inf"), 500.0)
    #: From an incumbent further off than this, Newton's method takes longer than the usual way from nothing.
    near: float = 0.1
    near_with_samples: float = 0.3
    #: Where coordinate ascent came this close...
    close: float = 5e-3
    #: ... and for this many multiplications a system, an interior point can hold...
    cheap: float = 4e7
    #: ... this share of the examples, it goes on with those within so many widths of their kinks.
    many: float = 0.05
    widths: float = 5.0
    #: From this many weights on, vectors are long against the examples on a kink, and the many products of Newton's
    #: method cost more than the passes of OCA: where examples cannot be visited one by one, nothing else is tried.
    very_wide: int = 100_000


TUNING = AutoTuning()


@dataclass
class Auto:
    """Dual coordinate ascent while it promises to arrive soon, then smoothed Newton, then OCA.

    Of small problems, an interior point over all examples, or Newton's method where the loss has no kinks.

    The choice depends on the problem and its bounds alone, not on the clock: the same data give the same model.
    """

    seed: int = 0
    epochs: tuple[float, float] | None = None

    def run(self, objective: SmoothObjectiveLike, ledger: Ledger, *, resumed: bool = False) -> StopReason:
        """Go on until the ledger says why to stop; `resumed` if it holds an incumbent to start from."""
        # Where samples tell nearly all, Newton's method starts from them and needs no help.
        ample = objective.examples >= NEWTON.ample * objective.dimension
        start = self._resumed(objective, ledger, ample=ample) if resumed else None
        small = SmallInterior.of(objective, ledger) if start is None else None
        if small is not None and small.knows_loss:
            reason = small.run(objective, ledger)
            if reason != "stalled" or ledger.mostly_rounding:
                return reason
            small = None
        if start is None and small is None and not (ample or self._sample_shows_way(objective, ledger)):
            reason = self._ascend(objective, ledger)
            if reason != "stalled" or ledger.mostly_rounding:
                return reason
            start = resumed_start(objective, ledger)
        if objective.newton_pays:
            reason = SmoothedNewton(self.seed).run(objective, ledger, start)
            if reason != "stalled" or ledger.mostly_rounding:
                return reason
        return self._planes(objective, ledger)

    @staticmethod
    def _sample_shows_way(objective: SmoothObjectiveLike, ledger: Ledger) -> bool:
        """Whether Newton's method should begin from samples at once.

        Without kinks, what is left after a sample is a step or two. benchmarks/as_called.py, a9a and parts of covtype:
        0.7 of the time that it takes after epochs of dual ascent.
        """
        drawable = objective.smooth and objective.newton_pays
        return drawable and bool(sample_sizes(objective, ledger.allowed_fraction))

    @staticmethod
    def _resumed(objective: SmoothObjectiveLike, ledger: Ledger, *, ample: bool) -> Start | None:
        """Where Newton's method goes on from, if the incumbent is near enough for it."""
        near = TUNING.near_with_samples if ample else TUNING.near
        if objective.dimension > TUNING.few_features or relative_gap(ledger.upper, ledger.lower) > near:
            return None
        return resumed_start(objective, ledger)

    def _ascend(self, objective: SmoothObjectiveLike, ledger: Ledger) -> StopReason:
        """Dual ascent, and what is better than Newton's method where it gives up; "stalled" where nothing is."""
        epochs = self.epochs or objective.ascent_epochs or self._epochs(objective)
        reason = DualAscent(self.seed, *epochs).run(objective, ledger)
        if reason != "stalled":
            return reason
        if ledger.overdue and ledger.incumbent is not None:
            return "time_limit"
        if not ledger.history and objective.dimension >= TUNING.very_wide and not objective.long_products:
            return self._planes(objective, ledger)
        if ledger.incumbent is None or not self._close(objective, ledger):
            return "stalled"
        start = resumed_start(objective, ledger)
        assert start is not None  # there is an incumbent
        incumbent = objective.with_scores(ledger.incumbent)
        most = most_examples(objective, TUNING.cheap)
        return finish(objective, ledger, incumbent, incumbent, TUNING.widths * start.h, most)

    @staticmethod
    def _epochs(objective: SmoothObjectiveLike) -> tuple[float, float]:
        """What Newton's method is worth, in epochs."""
        if objective.dimension > TUNING.few_features:
            return TUNING.epochs_if_smooth if objective.smooth else TUNING.epochs_if_wide
        few = objective.examples < TUNING.few_examples * objective.dimension
        return TUNING.epochs_if_few if few else TUNING.epochs

    @staticmethod
    def _planes(objective: SmoothObjectiveLike, ledger: Ledger) -> StopReason:
        """OCA, from the best weights known."""
        return CuttingPlane().run(objective, ledger, None if ledger.incumbent is None else ledger.incumbent.w)

    @staticmethod
    def _close(objective: SmoothObjectiveLike, ledger: Ledger) -> bool:
        """Whether an interior point can go on: little is left to do, and many examples are cheap."""
        close = relative_gap(ledger.upper, ledger.lower) <= TUNING.close
        return close and most_examples(objective, TUNING.cheap) >= TUNING.many * objective.examples
