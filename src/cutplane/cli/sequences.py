"""Label sequences on the command line: token files in, token files out."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from cutplane._types import Label
from cutplane.cli import exit_codes
from cutplane.cli.data import Sentences
from cutplane.cli.divided import Divided, Measured, Read, Reading, shuffled
from cutplane.cli.named_sequences import NamedSequences, Sequences
from cutplane.cli.output import plain_label, print_facts, print_json
from cutplane.cli.request import TrainRequest
from cutplane.cli.settings import Settings
from cutplane.cli.summary import certificate_facts, label_list
from cutplane.cli.training import Run, fit_until_stopped
from cutplane.cli.watch import watched
from cutplane.estimators.structured.kernel_structural_svm import KernelStructuralSVM
from cutplane.estimators.structured.sequence_svm import SequenceSVM, check_room
from cutplane.io.atomic import replace_file
from cutplane.io.conll import Sentence, TokenFileError, read_tokens
from cutplane.io.feature_template import FeatureTemplate
from cutplane.io.model_file import ModelFile
from cutplane.report.progress import TrainingProgress
from cutplane.structured.metrics import SequenceScores


class Labeller(Protocol):
    """A model that labels tokens given as lists of names: a `SequenceSVM`, or a chain with a kernel."""

    def predict(self, X: Sequences) -> Sequence[Sequence[Label]]:
        """The label of each token."""

    def evaluate(self, X: Sequences, y: Sequence[Sequence[str]]) -> SequenceScores:
        """How the predictions compare with the true labels."""


@dataclass(frozen=True, slots=True)
class SequenceRun(Run):
    """A trained model and what it took."""

    n_tokens: int = 0
    labels: Sequence[Label] | None = None

    def facts(self) -> list[tuple[str, str]]:
        """The summary for people."""
        return [
            (
                "data",
                f"{self.n_examples:,} sequences, {self.n_tokens:,} tokens, {self.model.n_features_in_:,} features",
            ),
            ("labels", label_list(self.model.classes_ if self.labels is None else self.labels)),
            *certificate_facts(self.model),
            ("trained in", f"{self.seconds:.2f} s"),
        ]

    def as_json(self) -> dict[str, object]:
        """The summary for machines."""
        return {**Run.as_json(self), "n_tokens": self.n_tokens}


def train(request: TrainRequest) -> int:
    """Train on the last column of a token file."""
    sentences, template, columns = read_sequences(request)
    X, y, *_ = sentences
    held_out = _read_held_out(request, template, columns)
    model = model_for(request)
    progress = TrainingProgress(model.tol, enabled=not request.quiet)
    start = time.perf_counter()
    watching = watched(request.watch, model, model.tol, progress)
    with warnings.catch_warnings(), progress, watching as on_step:
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit_until_stopped(model.set_params(on_step=on_step), X, y)
    model.set_params(on_step=None)
    run = SequenceRun(model, len(X), time.perf_counter() - start, sum(map(len, X)))
    notes = _template_notes(template, columns)
    return request.finish(run, notes=notes, train=sentences, held_out=held_out)


def model_for(settings: Settings, y: object = None) -> SequenceSVM:
    """The estimator that the options ask for, not trained."""
    params = settings.solver_params()
    if params["method"] not in ("auto", "oca"):
        raise ValueError(f"--method {params['method']} is not for sequences; auto and oca are.")
    return SequenceSVM(**params)


def _read_held_out(request: TrainRequest, template: FeatureTemplate, columns: int) -> Sentences | None:
    """The sentences that the model is not trained on, before any training."""
    if request.feature_names is not None:
        raise ValueError("--feature-names is not for sequences: their features are called as the template says.")
    if request.test is None:
        return None
    sentences = read_tokens(request.test)
    width = len(sentences[0][0])
    if width != columns + 1:
        raise TokenFileError(f"{request.test} has {width} columns, the data to train on has {columns + 1}.")
    X = [template.apply([row[:-1] for row in sentence]) for sentence in sentences]
    return Sentences(X, [[row[-1] for row in sentence] for sentence in sentences])


def read_sequences(request: Reading) -> tuple[Sentences, FeatureTemplate, int]:
    """The features and labels of a token file's sentences, the template of the features, and the columns it takes."""
    sentences = read_tokens(request.data)
    width = len(sentences[0][0])
    if width < 2:
        raise TokenFileError(f"{request.data} has one column; features and, last, a label were expected.")
    check_room(len({row[-1] for sentence in sentences for row in sentence}), 0)
    template = FeatureTemplate.usual(width - 1) if request.template is None else FeatureTemplate.read(request.template)
    X = [template.apply([row[:-1] for row in sentence]) for sentence in sentences]
    return Sentences(X, [[row[-1] for row in sentence] for sentence in sentences]), template, width - 1


def _template_notes(template: FeatureTemplate, columns: int) -> dict[str, object]:
    return {"template": template.text, "columns": columns}


def _read(reading: Reading) -> Read:
    sentences, template, columns = read_sequences(reading)
    return Read(sentences, _template_notes(template, columns))


def _measure(model: SequenceSVM, sentences: Sentences) -> Measured:
    scores = model.evaluate(sentences.X, sentences.y)
    entities = {"entity F1": scores.entities.f1} if scores.by_type else {}
    return Measured({"token accuracy": scores.accuracy, "token F1": scores.token_f1, **entities})


DIVIDED = Divided(_read, shuffled, _measure)


def labeller(model: BaseEstimator, file: ModelFile) -> Labeller | None:
    """`model` if it labels the tokens of files; None for all others."""
    if isinstance(model, SequenceSVM):
        return model
    return NamedSequences.restored(model, file) if isinstance(model, KernelStructuralSVM) else None


def predict(model: Labeller, file: ModelFile, data: Path, output: Path | None, *, as_json: bool) -> int:
    """Write each token's columns and, last, its predicted label; a blank line after each sentence."""
    sentences = read_tokens(data)
    labels = model.predict(_features(file, data, sentences))
    text = "".join(_lines(sentence, found) for sentence, found in zip(sentences, labels, strict=True))
    if output is not None:
        with replace_file(output) as stream:
            stream.write(text.encode())
    if as_json:
        result: dict[str, object] = {"n_examples": len(labels), "output": output}
        if output is None:
            result["predictions"] = [[plain_label(label) for label in found] for found in labels]
        print_json(result)
    elif output is None:
        sys.stdout.write(text)
    return exit_codes.OK


def evaluate(model: Labeller, file: ModelFile, model_path: Path, data: Path, *, as_json: bool) -> int:
    """Compare the predictions with the last column of a token file."""
    sentences = read_tokens(data)
    columns = _noted(file)[1]
    if len(sentences[0][0]) <= columns:
        raise TokenFileError(f"{data} has {columns} columns; {columns + 1} with the label last were expected.")
    scores = model.evaluate(_features(file, data, sentences), [[row[-1] for row in each] for each in sentences])
    if as_json:
        print_json(
            {
                "model": model_path,
                "data": data,
                "n_examples": len(sentences),
                "n_tokens": scores.tokens,
                "accuracy": scores.accuracy,
                "token_f1": scores.token_f1,
                "precision": scores.entities.precision,
                "recall": scores.entities.recall,
                "f1": scores.entities.f1,
                "f1_by_type": {kind: counts.f1 for kind, counts in scores.by_type.items()},
            }
        )
        return exit_codes.OK
    facts = [
        ("data", f"{len(sentences):,} sequences, {scores.tokens:,} tokens"),
        ("accuracy", f"{100 * scores.accuracy:.2f} % of the tokens"),
        ("F1", f"{100 * scores.token_f1:.2f} % (mean over labels)"),
    ]
    if scores.by_type:
        entities = scores.entities
        facts.append(
            (
                "entities",
                f"precision {100 * entities.precision:.2f} %, recall {100 * entities.recall:.2f} %, "
                f"F1 {100 * entities.f1:.2f} %",
            )
        )
        facts += [(f"  {kind}", f"F1 {100 * counts.f1:.2f} %") for kind, counts in scores.by_type.items()]
    print_facts(facts)
    return exit_codes.OK


def _features(file: ModelFile, data: Path, sentences: list[Sentence]) -> list[list[list[str]]]:
    text, columns = _noted(file)
    width = len(sentences[0][0])
    if width not in (columns, columns + 1):
        raise TokenFileError(
            f"{data} has {width} columns; the model was trained with {columns}, and the label after them."
        )
    template = FeatureTemplate(text, "The model's template")
    return [template.apply([row[:columns] for row in sentence]) for sentence in sentences]


def _noted(file: ModelFile) -> tuple[str, int]:
    notes = file.metadata.get("notes", {})
    text, columns = notes.get("template"), notes.get("columns")
    if not isinstance(text, str) or not isinstance(columns, int):
        raise ValueError("The model was not made by 'cutplane train --task sequence': it does not know its template.")
    return text, columns


def _lines(sentence: Sentence, labels: Sequence[Label]) -> str:
    rows = zip(sentence, labels, strict=True)
    return "".join(" ".join([*row, str(label)]) + "\n" for row, label in rows) + "\n"
