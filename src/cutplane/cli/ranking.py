"""`cutplane train --task rank`, and `cutplane evaluate` of such models."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cutplane._types import Labels
from cutplane.cli import exit_codes
from cutplane.cli.data import Examples
from cutplane.cli.divided import Divided, Measured, Read, Reading, by_query, number_notes, read_numbers
from cutplane.cli.output import print_facts, print_json, warn
from cutplane.cli.request import TrainRequest
from cutplane.cli.settings import Settings
from cutplane.cli.training import fit
from cutplane.estimators.ranking.rank_svm import RankSVM
from cutplane.report.ranking import RankingEvaluation, evaluate_ranking


def train(request: TrainRequest) -> int:
    """Train a ranking on the examples of an svmlight file, by its qid where it has one."""
    examples = request.read()
    if examples.qid is None and not request.quiet:
        warn(f"{request.data} has no qid, so all of its examples are compared with one another, as one query.")
    held_out, names = request.read_test(examples), request.read_names(examples)
    model = model_for(request, examples.y)
    one_query = np.zeros(len(examples.y), dtype=np.int64)
    queries = one_query if examples.qid is None else examples.qid
    run = fit(model, examples.X, examples.y, quiet=request.quiet, watch=request.watch, problems=1, qid=queries)
    return request.finish(run, notes=request.notes(examples), train=examples, held_out=held_out, names=names)


def model_for(settings: Settings, y: Labels) -> RankSVM:
    """The estimator that the options ask for, not trained."""
    return RankSVM(**settings.solver_params())


def evaluate(model: RankSVM, examples: Examples, model_path: Path, data: Path, *, as_json: bool) -> int:
    """Print how well the model ranks the examples."""
    result = evaluate_ranking(examples.y, model.predict(examples.X), examples.qid)
    if as_json:
        print_json({"model": model_path, "data": data, **ranking_json(result)})
    else:
        print_facts([("examples", f"{result.n_examples:,} in {result.n_queries:,} queries"), *ranking_facts(result)])
    return exit_codes.OK


def ranking_json(result: RankingEvaluation) -> dict[str, object]:
    """The figures for machines; null where one is not defined."""
    figures = {
        **{f"ndcg@{k}": value for k, value in result.ndcg.items()},
        "map": result.mean_average_precision,
        "pair_accuracy": result.pair_accuracy,
        "roc_area": result.roc_area,
    }
    return {
        "n_examples": result.n_examples,
        "n_queries": result.n_queries,
        **{name: None if np.isnan(value) else value for name, value in figures.items()},
    }


def ranking_facts(result: RankingEvaluation) -> list[tuple[str, str]]:
    """The figures for people."""

    def shown(value: float) -> str:
        return "not defined for these labels" if np.isnan(value) else f"{value:.4f}"

    return [
        *((f"NDCG@{k}", shown(value)) for k, value in result.ndcg.items()),
        ("MAP", shown(result.mean_average_precision)),
        ("pair accuracy", shown(result.pair_accuracy)),
        ("area under ROC", shown(result.roc_area)),
    ]


def _read(reading: Reading) -> Read:
    examples = read_numbers(reading)
    return Read(examples, number_notes(reading, examples))


def _measure(model: RankSVM, examples: Examples) -> Measured:
    found = evaluate_ranking(examples.y, model.predict(examples.X), examples.qid)
    graded = {f"NDCG@{k}": value for k, value in found.ndcg.items() if k != 1}
    return Measured({"pair accuracy": found.pair_accuracy, **graded})


DIVIDED = Divided(_read, by_query, _measure, metadata=lambda examples: {"qid": examples.qid})
