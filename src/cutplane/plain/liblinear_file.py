"""LIBLINEAR's model files: linear classifiers, regressions and one-class machines."""

from __future__ import annotations

import os
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutplane.io.atomic import replace_file
from cutplane.plain.decisions import Decision, Highest, Inside, Sign, Value
from cutplane.plain.form import PlainForm
from cutplane.plain.model_text import header_of, numbers, one, several, whole_labels
from cutplane.plain.probabilities import Calibrated, Logistic
from cutplane.plain.scores import LinearScores

if TYPE_CHECKING:
    from cutplane._types import Array

# What the solvers minimise; several solvers may share a problem, the first is written.
_CLASSIFIERS = {
    "L2R_L1LOSS_SVC_DUAL": "hinge",
    "L2R_L2LOSS_SVC_DUAL": "squared_hinge",
    "L2R_L2LOSS_SVC": "squared_hinge",
    "L2R_LR": "logistic",
    "L2R_LR_DUAL": "logistic",
    "MCSVM_CS": "crammer_singer",
    "L1R_L2LOSS_SVC": "squared_hinge with an L1 penalty",
    "L1R_LR": "logistic with an L1 penalty",
}
_REGRESSIONS = {
    "L2R_L1LOSS_SVR_DUAL": "epsilon_insensitive",
    "L2R_L2LOSS_SVR_DUAL": "squared_epsilon_insensitive",
    "L2R_L2LOSS_SVR": "squared_epsilon_insensitive",
}
_ONE_CLASS = {"ONECLASS_SVM": "one_class"}


def write(form: PlainForm, path: str | os.PathLike[str]) -> None:
    """Write a linear model; `ValueError` where LIBLINEAR has no such model."""
    if not isinstance(form.scores, LinearScores):
        raise ValueError(f"LIBLINEAR has linear models alone; {form.kind} is none.")
    if form.objective == "logistic" and isinstance(form.probabilities, Calibrated):
        raise ValueError("LIBLINEAR has logistic probabilities alone; train with calibration=None for a file of its.")
    lines, signs, bias = _described(form.decision, form)
    intercepts = [form.scores.intercept] if bias else []
    columns = np.vstack([form.scores.coef.T, *intercepts]) * signs
    lines += [f"nr_feature {form.scores.n_features}", f"bias {1 if bias else -1}", *_offset(form.decision), "w"]
    lines += [" ".join(repr(value) for value in row) + " " for row in columns.tolist()]
    with replace_file(path) as file:
        file.write("\n".join([*lines, ""]).encode())


@singledispatch
def _described(decision: Decision, form: PlainForm) -> tuple[list[str], Array, bool]:
    """The first lines, what weights are multiplied by in each column, and whether the intercept is a weight."""
    raise ValueError(f"LIBLINEAR has no model like {form.kind}; it has classifiers, regressions, one-class machines.")


@_described.register(Sign)
def _(decision: Sign, form: PlainForm) -> tuple[list[str], Array, bool]:
    # Scores above 0 are the first label's there. Trained together, either class has a column; the highest wins.
    second, first = whole_labels(decision.classes, "LIBLINEAR")
    signs = np.array([0.5, -0.5]) if form.objective == "crammer_singer" else np.ones(1)
    return [f"solver_type {_solver(_CLASSIFIERS, form)}", "nr_class 2", f"label {first} {second}"], signs, True


@_described.register(Highest)
def _(decision: Highest, form: PlainForm) -> tuple[list[str], Array, bool]:
    labels = whole_labels(decision.classes, "LIBLINEAR")
    lines = [f"solver_type {_solver(_CLASSIFIERS, form)}", f"nr_class {len(labels)}"]
    return [*lines, f"label {' '.join(map(str, labels))}"], np.ones(len(labels)), True


@_described.register(Value)
def _(decision: Value, form: PlainForm) -> tuple[list[str], Array, bool]:
    return [f"solver_type {_solver(_REGRESSIONS, form)}", "nr_class 2"], np.ones(1), True


@_described.register(Inside)
def _(decision: Inside, form: PlainForm) -> tuple[list[str], Array, bool]:
    return [f"solver_type {_solver(_ONE_CLASS, form)}", "nr_class 2"], np.ones(1), False


def _offset(decision: Decision) -> list[str]:
    offset = getattr(decision, "offset", None)
    return [] if offset is None else [f"rho {offset!r}"]


def _solver(solvers: dict[str, str], form: PlainForm) -> str:
    for solver, objective in solvers.items():
        if objective == form.objective:
            return solver
    raise ValueError(
        f"LIBLINEAR does not minimise {form.objective!r}; it has {', '.join(dict.fromkeys(solvers.values()))}."
    )


def read(path: str | os.PathLike[str]) -> PlainForm:
    """The model in a file that LIBLINEAR or `write` has written; `ValueError` if it is none."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    header, begin = header_of(lines, "w")
    solver, n_features = one(header, "solver_type"), int(one(header, "nr_feature"))
    bias, n_classes = float(one(header, "bias", "-1")), int(one(header, "nr_class"))
    if solver not in _CLASSIFIERS | _REGRESSIONS | _ONE_CLASS:
        raise ValueError(f"the solver {solver!r} is not one of LIBLINEAR's")
    columns = n_classes if solver in _CLASSIFIERS and (n_classes > 2 or solver == "MCSVM_CS") else 1
    rows = [line.split() for line in lines[begin : begin + n_features + (bias >= 0.0)]]
    if len(rows) != n_features + (bias >= 0.0):
        raise ValueError(f"there are {len(rows)} rows of weights for {n_features} features")
    w = np.array([numbers(row, columns, "a row of weights") for row in rows]).reshape(-1, columns)
    coef = np.ascontiguousarray(w[:n_features].T)
    intercept = bias * w[n_features] if bias >= 0.0 else np.zeros(columns)
    if solver in _REGRESSIONS:
        return PlainForm("LIBLINEAR", _REGRESSIONS[solver], LinearScores(coef, intercept), Value())
    if solver in _ONE_CLASS:
        rho = float(one(header, "rho"))
        return PlainForm(
            "LIBLINEAR", _ONE_CLASS[solver], LinearScores(coef, intercept - rho), Inside(rho, border=False)
        )
    return _classifier(_CLASSIFIERS[solver], several(header, "label"), coef, intercept)


def _classifier(objective: str, given: list[str], coef: Array, intercept: Array) -> PlainForm:
    """Classes in ascending order; of two, the second is that of scores above 0."""
    labels = np.array([int(label) for label in given])
    if len(np.unique(labels)) != len(labels) or len(labels) != max(2, len(coef)):
        raise ValueError("the labels do not fit the weights")
    order = np.argsort(labels)
    made = Logistic() if objective.startswith("logistic") else None
    if len(labels) > 2:
        return PlainForm(
            "LIBLINEAR", objective, LinearScores(coef[order], intercept[order]), Highest(labels[order]), made
        )
    if len(coef) == 2:
        coef, intercept = coef[:1] - coef[1:], intercept[:1] - intercept[1:]
    sign = 1.0 if labels[0] > labels[1] else -1.0
    return PlainForm("LIBLINEAR", objective, LinearScores(sign * coef, sign * intercept), Sign(labels[order]), made)
