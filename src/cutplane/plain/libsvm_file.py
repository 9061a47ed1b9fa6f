"""LIBSVM's model files: kernel classifiers by pairs of classes, regressions and one-class machines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cutplane.io.atomic import replace_file
from cutplane.plain.decisions import Decision, Inside, Sign, Value, Votes
from cutplane.plain.form import PlainForm
from cutplane.plain.kernels import dense
from cutplane.plain.model_text import header_of, numbers, one, several, whole_labels
from cutplane.plain.probabilities import Calibrated, Curve
from cutplane.plain.scores import KernelScores, PrecomputedScores

if TYPE_CHECKING:
    from cutplane._types import Array, Integers, Matrix

# What the machines minimise, and their kernels: LIBSVM's names and ours.
_TYPES = {
    "c_svc": "hinge",
    "nu_svc": "nu_hinge",
    "one_class": "one_class",
    "epsilon_svr": "epsilon_insensitive",
    "nu_svr": "nu_epsilon_insensitive",
}
_KERNELS = {"linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid", "precomputed": "precomputed"}


# An int of C; and how many numbers support vectors may be before they stay sparse.
_LARGEST_INDEX, _LARGEST_DENSE = 2**31 - 1, 1 << 24


class _Machines(NamedTuple):
    """As LIBSVM has them: coefficients by support vector, a row for each class but one; rho; lines on the classes."""

    coef: Array
    rho: Array
    order: Integers
    lines: list[str]


def write(form: PlainForm, path: str | os.PathLike[str]) -> None:
    """Write a kernel machine; `ValueError` where LIBSVM has none like it."""
    if not isinstance(form.scores, (KernelScores, PrecomputedScores)):
        raise ValueError(
            f"LIBSVM has kernel machines alone, and {form.kind} is none; to_liblinear is for linear models."
        )
    kernel = _kernel_lines(form.scores)
    kind = next((name for name, objective in _TYPES.items() if objective == form.objective), None)
    if kind is None:
        raise ValueError(f"LIBSVM does not minimise {form.objective!r}; it has {', '.join(_TYPES.values())}.")
    machines = _machines(form.decision, form.scores, form)
    rows = _vectors(form.scores)[machines.order]
    lines = [f"svm_type {kind}", *kernel, f"nr_class {_n_classes(form.decision)}", f"total_sv {len(rows)}"]
    lines += [f"rho {_text(machines.rho)}", *machines.lines, "SV"]
    lines += [f"{_text(c)} {x}" for c, x in zip(machines.coef[:, machines.order].T, rows, strict=True)]
    with replace_file(path) as file:
        file.write("\n".join([*lines, ""]).encode())


def _kernel_lines(scores: KernelScores | PrecomputedScores) -> list[str]:
    ours = scores.kernel
    theirs = next((name for name, known in _KERNELS.items() if known == ours), None)
    if theirs is None:
        raise ValueError(f"LIBSVM has no kernel {ours!r}; it has {', '.join(_KERNELS.values())}.")
    lines = [f"kernel_type {theirs}"]
    if ours == "poly":
        lines.append(f"degree {scores.degree}")
    if ours in ("poly", "rbf", "sigmoid"):
        lines.append(f"gamma {scores.gamma!r}")
    if ours in ("poly", "sigmoid"):
        lines.append(f"coef0 {scores.coef0!r}")
    return lines


def _n_classes(decision: Decision) -> int:
    return len(getattr(decision, "classes", (0, 1)))


@singledispatch
def _machines(decision: Decision, scores: KernelScores | PrecomputedScores, form: PlainForm) -> _Machines:
    raise ValueError(
        f"LIBSVM has no model like this {form.kind}: its classifiers have a machine for each pair of classes."
    )


@_machines.register(Value)
@_machines.register(Inside)
def _(decision: Decision, scores: KernelScores | PrecomputedScores, form: PlainForm) -> _Machines:
    return _Machines(scores.coef, -scores.intercept, np.arange(scores.coef.shape[1]), [])


@_machines.register(Sign)
def _(decision: Sign, scores: KernelScores | PrecomputedScores, form: PlainForm) -> _Machines:
    # Decision values above 0 are the first label's there. Its support vectors come first.
    coef = -scores.coef
    first = coef[0] > 0.0
    order = np.concatenate([np.flatnonzero(first), np.flatnonzero(~first)])
    counts = [int(first.sum()), int((~first).sum())]
    return _Machines(coef, scores.intercept, order, _class_lines(decision, counts, _sigmoids(form, -1.0)))


@_machines.register(Votes)
def _(decision: Votes, scores: KernelScores | PrecomputedScores, form: PlainForm) -> _Machines:
    assert scores.n_support is not None
    counts = scores.n_support.tolist()
    lines = _class_lines(decision, counts, _sigmoids(form, 1.0))
    return _Machines(scores.coef, -scores.intercept, np.arange(scores.coef.shape[1]), lines)


def _class_lines(decision: Sign | Votes, counts: list[int], sigmoids: list[str]) -> list[str]:
    labels = whole_labels(decision.classes, "LIBSVM")
    return [f"label {' '.join(map(str, labels))}", *sigmoids, f"nr_sv {' '.join(map(str, counts))}"]


def _sigmoids(form: PlainForm, sign: float) -> list[str]:
    """LIBSVM's 1 / (1 + exp(A f + B)) of the first class of each pair; `sign`: whether that is our positive side."""
    if form.probabilities is None:
        return []
    curves: list[Curve] = getattr(form.probabilities, "curves", [])
    if any(curve.kind != "sigmoid" for curve in curves) or not curves:
        raise ValueError("LIBSVM has sigmoids for probabilities and no other curves; train with probability='sigmoid'.")
    at = np.array([curve.at for curve in curves])
    return [f"probA {_text(-at[:, 0])}", f"probB {_text(-sign * at[:, 1])}"]


def _vectors(scores: KernelScores | PrecomputedScores) -> Array:
    """Support vectors as text, an array of strings."""
    if isinstance(scores, PrecomputedScores):
        return np.array([f"0:{number + 1}" for number in scores.support.tolist()], dtype=object)
    return np.array(list(_row_texts(scores)), dtype=object)


def _row_texts(scores: KernelScores) -> Iterator[str]:
    for number in range(scores.vectors.shape[0]):
        row = dense(scores.vectors[number : number + 1])[0]
        used = np.flatnonzero(row).tolist()
        if number == 0 and (not used or used[-1] != len(row) - 1):
            used.append(len(row) - 1)  # a zero that says how many features there are
        yield " ".join(f"{index + 1}:{float(row[index])!r}" for index in used)


def _text(values: Array) -> str:
    return " ".join(repr(value) for value in np.asarray(values, np.float64).tolist())


def read(path: str | os.PathLike[str]) -> PlainForm:
    """The model in a file that LIBSVM or `write` has written; `ValueError` if it is none.

    Features are as many as the highest index of a support vector.
    """
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    header, begin = header_of(lines, "SV")
    kind, kernel = one(header, "svm_type"), one(header, "kernel_type")
    if kind not in _TYPES or kernel not in _KERNELS:
        raise ValueError(f"a {kind!r} with the kernel {kernel!r} is none of LIBSVM's models")
    n_classes, rows = _read_rows(header, lines[begin:])
    total = len(rows)
    coef = np.array([numbers(row[: n_classes - 1], n_classes - 1, "a support vector") for row in rows])
    coef = np.ascontiguousarray(coef.reshape(total, n_classes - 1).T)
    classifier = kind in ("c_svc", "nu_svc")
    rho = numbers(several(header, "rho"), n_classes * (n_classes - 1) // 2 if classifier else 1, "rho")
    two = classifier and n_classes == 2
    counts = _read_counts(header, n_classes, total) if classifier and not two else None
    sign = -1.0 if two else 1.0
    scores = _read_scores(header, [row[n_classes - 1 :] for row in rows], sign * coef, -sign * rho, counts)
    return _read_form(kind, header, scores, sign)


def _read_rows(header: dict[str, list[str]], lines: list[str]) -> tuple[int, list[list[str]]]:
    """How many classes there are, and the words of each support vector."""
    n_classes, total = int(one(header, "nr_class")), int(one(header, "total_sv"))
    if n_classes < 2 or total < 0:
        raise ValueError(f"there are {n_classes} classes and {total} support vectors")
    if len(lines) < total:
        raise ValueError(f"there are {len(lines)} support vectors where {total} are announced")
    return n_classes, [line.split() for line in lines[:total]]


def _read_counts(header: dict[str, list[str]], n_classes: int, total: int) -> Integers:
    """How many support vectors each class has."""
    counts = np.array([int(count) for count in several(header, "nr_sv")])
    if len(counts) != n_classes or counts.min() < 0 or counts.sum() != total:
        raise ValueError("nr_sv does not count the support vectors")
    return counts


def _read_scores(
    header: dict[str, list[str]], rows: list[list[str]], coef: Array, intercept: Array, counts: Integers | None
) -> KernelScores | PrecomputedScores:
    kernel = _KERNELS[one(header, "kernel_type")]
    entries = [[token.split(":") for token in row] for row in rows]
    if any(len(entry) != 2 for row in entries for entry in row):
        raise ValueError("a support vector has something other than index:value")
    if kernel == "precomputed":
        if not all(entries):
            raise ValueError("a support vector has no number")
        support = np.array([int(float(row[0][1])) - 1 for row in entries], np.int64)
        return PrecomputedScores(int(support.max(initial=-1)) + 1, support, coef, intercept, counts)
    vectors = _read_vectors(entries)
    settings = float(one(header, "gamma", "1")), int(one(header, "degree", "3")), float(one(header, "coef0", "0"))
    return KernelScores(kernel, *settings, vectors, coef, intercept, counts)


def _read_vectors(entries: list[list[list[str]]]) -> Matrix:
    """Support vectors, dense where that is small."""
    columns = np.array([int(index) - 1 for row in entries for index, _ in row], np.int64)
    values = np.array([float(value) for row in entries for _, value in row])
    if len(columns) and not 0 <= columns.min() <= columns.max() < _LARGEST_INDEX:
        raise ValueError("a support vector has an index below 1, or one that LIBSVM has not")
    width = int(columns.max(initial=-1)) + 1
    rows = np.repeat(np.arange(len(entries)), [len(row) for row in entries])
    if len(entries) * width > _LARGEST_DENSE:
        import scipy.sparse as sp

        return sp.csr_array((values, (rows, columns)), shape=(len(entries), width))
    vectors = np.zeros((len(entries), width))
    vectors[rows, columns] = values
    return vectors


def _read_form(
    kind: str, header: dict[str, list[str]], scores: KernelScores | PrecomputedScores, sign: float
) -> PlainForm:
    objective = _TYPES[kind]
    if kind == "one_class":
        return PlainForm("LIBSVM", objective, scores, Inside(float(-scores.intercept[0]), border=False))
    if kind not in ("c_svc", "nu_svc"):
        return PlainForm("LIBSVM", objective, scores, Value())
    labels = np.array([int(label) for label in several(header, "label")])
    if len(np.unique(labels)) != len(labels):
        raise ValueError("a label is there twice")
    decision = Sign(labels) if len(labels) == 2 else Votes(labels, by_class=False, break_ties=False)
    made = None
    if "probA" in header:
        slopes = -numbers(several(header, "probA"), scores.machines, "probA")
        offsets = -sign * numbers(several(header, "probB"), scores.machines, "probB")
        curves = [Curve("sigmoid", np.array(at), np.zeros(0)) for at in zip(slopes, offsets, strict=True)]
        made = Calibrated(curves, len(labels), len(labels) > 2)
    return PlainForm("LIBSVM", objective, scores, decision, made)
