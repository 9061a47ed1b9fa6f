"""What the estimators of structured models share: settings checked, a run, its certificate kept."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cutplane._runtime.warned import users_line
from cutplane._types import Array, Document
from cutplane.estimators.common import validation
from cutplane.estimators.common.callbacks import Watched
from cutplane.estimators.common.checkpoint import Checkpoint
from cutplane.estimators.common.checkpoint_entries import digests
from cutplane.estimators.common.savable import Savable
from cutplane.estimators.common.training import warn_unless_proven
from cutplane.estimators.structured.labelled_objects import LabelledObjects
from cutplane.proof.rounding import exact_sum
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.result import Result
from cutplane.solvers.stopping import Stopping
from cutplane.structured.base import Sample
from cutplane.structured.cache import PlaneCache
from cutplane.structured.objective import StructuredObjective
from cutplane.structured.oracle import OracleSample
from cutplane.structured.training import LINE_SEARCHES, METHODS, StructuredTraining
from cutplane.structured.weighted import factors_of


class StructuredEstimator(LabelledObjects, Savable, Watched):
    """An estimator with the settings that all structured ones have, and their run."""

    _no_proof = "its planes are of labellings, which only the model's own search can compare"

    def _settings(self) -> StructuredTraining:
        """The settings, checked."""
        if self.time_limit is not None:
            validation.check_positive("time_limit", self.time_limit)
        validation.check_file_name("checkpoint", self.checkpoint)
        validation.check_positive("checkpoint_every", self.checkpoint_every)
        return StructuredTraining(
            validation.check_strength("C", self.C),
            Stopping(
                validation.check_positive("tol", self.tol),
                max_iter=validation.check_max_iter(self.max_iter),
                time_limit=self.time_limit,
            ),
            validation.check_choice("method", self.method, METHODS),
            validation.check_choice("line_search", self.line_search, LINE_SEARCHES),
            validation.check_seed(self.random_state),
            validation.check_threads(self.n_jobs),
            on_step=self.on_step,
        )

    def _train(self, settings: StructuredTraining, sample: Sample, planes_kept: int, weights: Array | None) -> Result:
        """Minimise; of `weights`, those of the examples in the sample are greater than 0."""
        total = float(sample.examples)
        if weights is not None:
            sample, total = sample.weighted(factors_of(weights[weights > 0.0])), exact_sum(weights)
        objective, cache = StructuredObjective(sample), None
        ledgers: list[Ledger] = []
        checkpoint = self._checkpoint(settings, objective)
        if planes_kept and type(sample) is OracleSample:
            cache = PlaneCache(sample.examples, sample.dimension, most=planes_kept, exact=sample.exact)
            sample.on_planes = cache.add
        run = settings.for_weight(total, cache)
        run = replace(run, on_step=checkpoint.watching(0, ledgers, run.on_step))
        result = run.run(objective, ledgers.append, checkpoint.warm(0, run, objective))
        checkpoint.note(0, run, result, ledgers[-1])
        self._certify_problems([result])
        if result.stop_reason != "interrupted":
            checkpoint.remove()
        if sample.exact:
            warn_unless_proven([result], type(self).__name__)
        else:
            warnings.warn(
                f"The model's searches are not exact, so nothing is certified: no upper bound is known, and the lower "
                f"bound {result.lower:.6g} is all that is proven.",
                ConvergenceWarning,
                stacklevel=users_line(),
            )
        return result

    def _checkpoint(self, settings: StructuredTraining, objective: StructuredObjective) -> Checkpoint:
        if self.checkpoint is not None and settings.by_blocks(objective):
            chosen = ", which method='auto' chooses here," if settings.method == "auto" else ""
            raise ValueError(
                f"checkpoint={self.checkpoint!r} needs method='one-slack' or 'oca', which go on from planes; "
                f"'frank-wolfe'{chosen} has none to go on from."
            )
        return Checkpoint(self.checkpoint, self.checkpoint_every, lambda: digests(self._key(objective)))

    def _key(self, objective: StructuredObjective) -> Document:
        """All that planes depend on, by name; model and examples are recognised by two sweeps."""
        d = objective.dimension
        sweeps = [objective.sample.sweep(w) for w in (np.zeros(d), np.random.default_rng(0).standard_normal(d))]
        return {
            "the estimators": type(self).__name__,
            "the numbers of examples or weights": (objective.examples, d),
            "the models, the examples or their labels": [
                (sweep.heights, float(sweep.offset), sweep.slope) for sweep in sweeps
            ],
        }
