"""`cutplane train --task ordinal`, and `cutplane evaluate` of such models."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cutplane._types import Labels
from cutplane.cli import exit_codes
from cutplane.cli.classification import read_classes, refuse_targets
from cutplane.cli.data import Examples
from cutplane.cli.divided import Divided, Measured, stratified
from cutplane.cli.output import print_facts, print_json
from cutplane.cli.ranking import ranking_facts, ranking_json
from cutplane.cli.request import TrainRequest
from cutplane.cli.settings import Settings
from cutplane.cli.training import fit
from cutplane.estimators.ranking.ordinal_svc import OrdinalSVC
from cutplane.report.ranking import evaluate_ranking


def train(request: TrainRequest) -> int:
    """Train a classifier into ordered classes on the examples of an svmlight file."""
    examples = request.read()
    refuse_targets(request.data, examples.y)
    held_out, names = request.read_test(examples), request.read_names(examples)
    model = model_for(request, examples.y)
    run = fit(model, examples.X, examples.y, quiet=request.quiet, watch=request.watch, problems=1)
    return request.finish(run, notes=request.notes(examples), train=examples, held_out=held_out, names=names)


def model_for(settings: Settings, y: Labels) -> OrdinalSVC:
    """The estimator that the options ask for, not trained."""
    return OrdinalSVC(**settings.solver_params())


def evaluate(model: OrdinalSVC, examples: Examples, model_path: Path, data: Path, *, as_json: bool) -> int:
    """Print how near the predicted classes are, and how well the scores rank."""
    predicted = model.predict(examples.X)
    accuracy = float(np.mean(predicted == examples.y))
    distance = float(np.mean(np.abs(predicted.astype(np.float64) - examples.y)))
    ranking = evaluate_ranking(examples.y, model.score_samples(examples.X), examples.qid)
    if as_json:
        print_json(
            {
                "model": model_path,
                "data": data,
                "accuracy": accuracy,
                "mean_absolute_error": distance,
                **ranking_json(ranking),
            }
        )
    else:
        print_facts(
            [
                ("examples", f"{len(examples.y):,}"),
                ("accuracy", f"{100 * accuracy:.2f} %"),
                ("mean absolute error", f"{distance:.4f}"),
                *ranking_facts(ranking),
            ]
        )
    return exit_codes.OK


def _measure(model: OrdinalSVC, examples: Examples) -> Measured:
    said = model.predict(examples.X)
    ranking = evaluate_ranking(examples.y, model.score_samples(examples.X), None)
    distance = float(np.mean(np.abs(said.astype(np.float64) - examples.y)))
    figures = {"accuracy": float(np.mean(said == examples.y)), "negative MAE": -distance}
    return Measured({**figures, "pair accuracy": ranking.pair_accuracy})


DIVIDED = Divided(read_classes, stratified, _measure)
