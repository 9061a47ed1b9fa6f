"""`cutplane train --kernel --sampled-cuts`: classes and label sequences with kernels, by cuts of sampled examples."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import typer

from cutplane.cli.classification import refuse_targets
from cutplane.cli.output import warn
from cutplane.cli.request import TrainRequest
from cutplane.cli.sequences import SequenceRun, read_sequences
from cutplane.cli.training import fit, fit_until_stopped, quietly
from cutplane.estimators.kernel.sampled_cut_svc import SampledCutSVC
from cutplane.estimators.structured.kernel_structural_svm import KernelStructuralSVM
from cutplane.io.model_file import ModelFile
from cutplane.report.progress import TrainingProgress
from cutplane.structured.chain import ChainModel
from cutplane.structured.metrics import SequenceScores, score_sequences
from cutplane.structured.tokens import Vocabulary

_MEGABYTE = 1 << 20


def train(request: TrainRequest) -> int:
    """Train a kernel classifier on the examples of an svmlight file."""
    _refuse(request)
    if request.class_weight is not None:
        raise ValueError("--class-weight is not for --sampled-cuts: every example weighs the same in a sample.")
    examples = request.read()
    refuse_targets(request.data, examples.y)
    _check_cut_size(request, len(examples.y))
    held_out, names = request.read_for_report(examples)
    assert request.kernel is not None
    model = SampledCutSVC(**_params(request), algorithm=request.kernel.sampled_cuts or "linear")
    run = fit(model, examples.X, examples.y, quiet=request.quiet, problems=1)
    return request.finish(
        run, notes={"zero_based": examples.zero_based}, train=examples, held_out=held_out, names=names
    )


def train_sequences(request: TrainRequest) -> int:
    """Train a chain with kernelised emissions on the last column of a token file."""
    _refuse(request)
    sentences, Y, template, columns = read_sequences(request)
    _check_cut_size(request, len(Y))
    assert request.kernel is not None
    vocabulary = Vocabulary()
    X = _rows(vocabulary, sentences, grow=True)
    labels, codes = np.unique(np.array([label for y in Y for label in y]), return_inverse=True)
    if len(labels) < 2:
        raise ValueError(f"{request.data} has the label {labels[0]} only; two or more are needed.")
    truth = np.split(codes, np.cumsum([len(y) for y in Y])[:-1])
    chain = ChainModel(len(labels), X[0].shape[1])
    model = KernelStructuralSVM(chain, **_params(request), algorithm=request.kernel.sampled_cuts or "exact")
    start = time.perf_counter()
    with TrainingProgress(request.tol, enabled=not request.quiet) as progress, quietly() as caught:
        fit_until_stopped(model.set_params(on_step=progress), X, truth)
    model.set_params(on_step=None)
    for message in caught():
        warn(message)
    run = SequenceRun(model, len(X), time.perf_counter() - start, sum(map(len, Y)), labels.tolist())
    notes = {"template": template.text, "columns": columns, "names": vocabulary.names, "labels": labels.tolist()}
    return request.finish(run, notes=notes)


@dataclass(frozen=True)
class NamedSequences:
    """A chain with a kernel as `SequenceSVM` is used: tokens are lists of names, labels are words."""

    model: KernelStructuralSVM
    vocabulary: Vocabulary
    labels: list[str]

    @classmethod
    def restored(cls, model: KernelStructuralSVM, file: ModelFile) -> NamedSequences:
        """With the names that the model file keeps."""
        notes = file.metadata.get("notes", {})
        names, labels = notes.get("names"), notes.get("labels")
        if not isinstance(names, list) or not isinstance(labels, list):
            raise ValueError("A KernelStructuralSVM that was trained in Python takes no files; use it in Python.")
        return cls(model, Vocabulary(names), labels)

    def predict(self, X: Any) -> list[list[str]]:
        """The label of each token."""
        found = self.model.predict(_rows(self.vocabulary, X, grow=False))
        return [[self.labels[code] for code in codes.tolist()] for codes in found]

    def evaluate(self, X: Any, Y: Any) -> SequenceScores:
        """How the predictions compare with the true labels."""
        return score_sequences([list(y) for y in Y], self.predict(X))


def _rows(vocabulary: Vocabulary, X: Any, *, grow: bool) -> list[Any]:
    tokens = vocabulary.encode(X, grow=grow)
    values = np.ones(len(tokens.indices)) if tokens.values is None else tokens.values
    matrix = sp.csr_array((values, tokens.indices, tokens.indptr), shape=(len(tokens.indptr) - 1, tokens.n_features))
    matrix.sum_duplicates()
    starts = tokens.starts.tolist()
    return [matrix[begin:end] for begin, end in pairwise(starts)]


def _refuse(request: TrainRequest) -> None:
    assert request.kernel is not None
    if request.kernel.probability:
        raise typer.BadParameter("is not for models by cuts; leave it out.", param_hint="--probability")
    if request.plot is not None:
        raise typer.BadParameter("shows proven bounds, which sampled cuts lack; take --report.", param_hint="--plot")


def _check_cut_size(request: TrainRequest, n: int) -> None:
    assert request.kernel is not None
    size = request.kernel.cut_size
    if size is not None and size > n:
        raise typer.BadParameter(
            f"{size} is more than the {n:,} examples of {request.data}; a sample has at most as many.",
            param_hint="--cut-size",
        )


def _params(request: TrainRequest) -> dict[str, Any]:
    kernel = request.kernel
    assert kernel is not None
    return {
        "C": request.C,
        **kernel.kernel_params(),
        "r": kernel.cut_size,
        "epsilon": request.tol,
        "memory": None if kernel.cache_size is None else max(1, int(kernel.cache_size * _MEGABYTE)),
        "max_iter": request.max_iter,
        "time_limit": request.time_limit,
        "n_jobs": request.threads,
    }
