"""Fits whose results are recorded: every estimator, loss, method, kind of rows and place; sentences of errors.

A case is a function without arguments that returns a fitted model. This file runs with any version of the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

import cutplane

Case = Callable[[], Any]

_rng = np.random.default_rng(0)
X = _rng.standard_normal((600, 8)) * np.geomspace(0.3, 3.0, 8)
TARGETS = X @ _rng.standard_normal(8) + 0.8 * _rng.standard_normal(600) + 0.5
SIGNS = np.where(TARGETS > 0.0, 1, -1)
CLASSES = np.array(["few", "more", "most"])[np.digitize(TARGETS, [-2.0, 1.0])]
GRADES = np.digitize(TARGETS, [-2.0, 0.0, 2.0])
QUERIES = np.repeat(np.arange(60), 10)
WEIGHTS = _rng.choice([0.5, 1.0, 2.0], 600)
WIDE = sparse.random(400, 3000, density=0.01, format="csr", random_state=0)
WIDE_SIGNS = np.where(_rng.random(400) < 0.4, 1, -1)
STRINGS = ["".join(letters) for letters in np.array(list("ACGT"))[_rng.integers(4, size=(300, 30))]]
STRING_SIGNS = [int(string[10:20].count("A") > 2) for string in STRINGS]
SENTENCES = [[[f"w{word}"] for word in words] for words in _rng.integers(30, size=(80, 8))]
TAGS = [[int(token[0][1:]) % 4 for token in sentence] for sentence in SENTENCES]

ROWS: dict[str, Callable[[np.ndarray], Any]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "float32": lambda rows: rows.astype(np.float32),
    "float16": lambda rows: rows.astype(np.float16),
    "int8": lambda rows: np.clip(np.round(8 * rows), -127, 127).astype(np.int8),
    "CSR": sparse.csr_array,
    "CSR float32": lambda rows: sparse.csr_array(rows.astype(np.float32)),
    "CSC": sparse.csc_array,
}
LOSSES: dict[str, dict[str, Any]] = {
    "hinge": {},
    "squared_hinge": {},
    "logistic": {},
    "roc_area": {},
    "f1": {},
    "prec@k": {"loss_options": {"k": 100}},
    "prbep": {},
    "error_cost": {},
}
TARGET_LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile")
METHODS = ("auto", "newton", "oca", "cpa")


def _linear() -> Iterator[tuple[str, Case]]:
    svc, svr = cutplane.LinearSVC, cutplane.LinearSVR
    for (loss, options), rows in product(LOSSES.items(), ("C", "CSR")):
        yield f"LinearSVC {loss} {rows}", partial(_fit, svc, X, SIGNS, rows, loss=loss, C=0.1, **options)
    for loss, rows in product(("hinge", "squared_hinge", "logistic"), ROWS):
        yield f"LinearSVC {loss} {rows}, 1e-7", partial(_fit, svc, X, SIGNS, rows, loss=loss, tol=1e-7)
    for loss, rows in product(TARGET_LOSSES, ("C", "float32", "CSR")):
        yield f"LinearSVR {loss} {rows}", partial(_fit, svr, X, TARGETS, rows, loss=loss)
    for method, loss in product(METHODS, ("hinge", "squared_hinge", "logistic", "roc_area", "f1")):
        if method == "newton" and loss == "f1":
            continue
        yield f"LinearSVC {loss} by {method}", partial(_fit, svc, X, SIGNS, loss=loss, C=0.1, method=method)
    for search in ("adaptive", "exact", "three-point"):
        yield f"LinearSVC line search {search}", partial(_fit, svc, X, SIGNS, method="oca", line_search=search)
    for (name, given), loss in product(_SETTINGS.items(), ("hinge", "logistic")):
        yield f"LinearSVC {loss}, {name}", partial(_fit, svc, X, SIGNS, loss=loss, **given)
        if name == "prior":
            given = {"prior": np.tile(given["prior"], (3, 1))}
        yield f"LinearSVC {loss}, {name}, classes", partial(_fit, svc, X, CLASSES, loss=loss, **given)
    for n_jobs in (1, 2):
        yield f"LinearSVC {n_jobs} threads", partial(_fit, svc, np.tile(X, (30, 1)), np.tile(SIGNS, 30), n_jobs=n_jobs)
    for loss in ("hinge", "squared_hinge", "logistic"):
        yield f"LinearSVC {loss} wide", partial(_fit, svc, WIDE, WIDE_SIGNS, loss=loss)
    yield "LinearSVC wide, 1e-8", partial(_fit, svc, WIDE, WIDE_SIGNS, tol=1e-8)
    yield "LinearSVC weights", partial(_weighted, svc, X, SIGNS)
    yield "LinearSVC calibrated", partial(_fit, svc, X, CLASSES, calibration="sigmoid")
    for rescaling, rows in product(("margin", "slack"), ("C", "CSR")):
        given = {"multi_class": "crammer_singer", "rescaling": rescaling}
        yield f"LinearSVC Crammer-Singer {rescaling} {rows}", partial(_fit, svc, X, CLASSES, rows, **given)
    for given in ({"C": 0.01}, {"C": 100.0}, {"fit_intercept": False}, {"tol": 1e-8}, {"intercept_scaling": 1.0}):
        yield f"LogisticRegression {given}", partial(_fit, cutplane.LogisticRegression, X, SIGNS, **given)
        yield f"LogisticRegression classes {given}", partial(_fit, cutplane.LogisticRegression, X, CLASSES, **given)
    for nu, rows in product((0.1, 0.5), ("C", "CSR")):
        yield f"LinearOneClassSVM {nu} {rows}", partial(_fit, cutplane.LinearOneClassSVM, X + 1.0, None, rows, nu=nu)
    yield "LinearSVCCV", partial(_fit, cutplane.LinearSVCCV, X, SIGNS, Cs=[0.01, 0.1, 1.0], cv=3)
    yield "LinearSVCCV classes", partial(_fit, cutplane.LinearSVCCV, X, CLASSES, Cs=[0.01, 1.0], cv=3)
    yield (
        "LinearSVCCV certified",
        partial(_fit, cutplane.LinearSVCCV, X, SIGNS, Cs=[0.01, 0.1, 1.0], cv=3, certify=0.02),
    )
    yield "LinearSVRCV", partial(_fit, cutplane.LinearSVRCV, X, TARGETS, Cs=[0.01, 0.1, 1.0], cv=3)
    yield "LogisticRegressionCV", partial(_fit, cutplane.LogisticRegressionCV, X, SIGNS, Cs=[0.01, 0.1, 1.0], cv=3)


_SETTINGS: dict[str, dict[str, Any]] = {
    "no intercept": {"fit_intercept": False},
    "penalised intercept": {"intercept_scaling": 1.0},
    "C = 0.001": {"C": 0.001},
    "C = 100": {"C": 100.0},
    "prior": {"prior": np.linspace(-1.0, 1.0, 8)},
    "nonnegative": {"nonnegative": np.arange(8) % 2 == 0},
    "balanced": {"class_weight": "balanced"},
    "proof": {"keep_proof": True},
    "1e-9": {"tol": 1e-9},
}


def _others() -> Iterator[tuple[str, Case]]:
    for loss in ("queries", "pairs"):
        yield f"RankSVM {loss}", partial(_ranked, weighting=loss)
        yield f"RankSVM {loss}, C = 100, 1e-6", partial(_ranked, weighting=loss, C=100.0, tol=1e-6)
    for method in METHODS:
        yield f"RankSVM by {method}", partial(_ranked, method=method)
        yield f"OrdinalSVC by {method}", partial(_fit, cutplane.OrdinalSVC, X, GRADES, method=method)
    machines = (
        (cutplane.SVC, CLASSES),
        (cutplane.NuSVC, CLASSES),
        (cutplane.SVR, TARGETS),
        (cutplane.NuSVR, TARGETS),
        (cutplane.OneClassSVM, None),
    )
    for (machine, y), kernel in product(machines, ("rbf", "linear", "poly")):
        given = {"nu": 0.3} if machine in (cutplane.NuSVC, cutplane.NuSVR, cutplane.OneClassSVM) else {}
        yield f"{machine.__name__} {kernel}", partial(_fit, machine, X[:200], y, kernel=kernel, gamma=0.1, **given)
    for machine, y in machines[::2]:
        yield f"{machine.__name__} gap", partial(_fit, machine, X[:200], y, stopping="gap", tol=1e-6)
    for selection in ("second-order", "mvp", "hmg", "ofs2", "conjugate"):
        yield f"SVC {selection}", partial(_fit, cutplane.SVC, X[:200], SIGNS, selection=selection)
    yield "SVC CSR", partial(_fit, cutplane.SVC, X[:200], SIGNS, "CSR")
    yield "SVC probability", partial(_fit, cutplane.SVC, X[:200], CLASSES, probability=True, random_state=0)
    yield "SVC proof", partial(_fit, cutplane.SVC, X[:200], SIGNS, keep_proof=True)
    for method in ("linear", "constant", "exact"):
        given = {"random_state": 0, "risk_tol": 0.05, "n_samples_cut": 50, "method": method}
        yield f"SampledCutSVC {method}", partial(_fit, cutplane.SampledCutSVC, X[:300], SIGNS, **given)
    yield "CholeskyFeatures", partial(_fit, cutplane.CholeskyFeatures, X[:200], None, n_components=20, random_state=0)
    yield "WhitenedKernelMap", partial(_fit, cutplane.WhitenedKernelMap, X[:100], None)
    for given in ({}, {"order": 3}, {"order": 2, "spectra": [(5, 25)], "spectrum_order": 3}, {"method": "oca"}):
        yield f"StringSVC {given}", partial(_plain, cutplane.StringSVC, STRINGS, STRING_SIGNS, **given)
    for given in ({}, {"C": 10.0}, {"method": "one-slack"}, {"method": "oca"}, {"method": "frank-wolfe"}):
        yield f"SequenceSVM {given}", partial(_plain, cutplane.SequenceSVM, SENTENCES, TAGS, **given)
    for given in ({}, {"method": "one-slack"}, {"rescaling": "slack"}):
        yield f"StructuralSVM {given}", partial(_structured, cutplane.StructuralSVM, **given)
    yield "KernelStructuralSVM", partial(_structured, cutplane.KernelStructuralSVM, risk_tol=0.05)


def _places() -> Iterator[tuple[str, Case]]:
    for place, (loss, y) in product(("twin", "two twins"), _ON_DEVICES.items()):
        if (place, loss) == ("two twins", "roc_area"):
            continue  # refused
        given = {"device": "cuda" if place == "twin" else ["cuda:0", "cuda:0"]}
        yield f"LinearSVC {loss} on {place}", partial(_on_twin, cutplane.LinearSVC, X, y, loss=loss.split()[0], **given)
    yield "SVC on twin", partial(_on_twin, cutplane.SVC, X[:200], SIGNS, device="cuda")
    yield "StringSVC on twin", partial(_on_twin, cutplane.StringSVC, STRINGS, STRING_SIGNS, order=3, device="cuda")
    yield "OrdinalSVC on twin", partial(_on_twin, cutplane.OrdinalSVC, X, GRADES, device="cuda")
    for loss in ("hinge", "logistic"):
        yield f"LinearSVC {loss} on Dask", partial(_on_dask, cutplane.LinearSVC, X, SIGNS, loss=loss)
    yield "LinearSVC classes on Dask", partial(_on_dask, cutplane.LinearSVC, X, CLASSES)


_ON_DEVICES = {
    "hinge": SIGNS,
    "squared_hinge": SIGNS,
    "logistic": SIGNS,
    "roc_area": SIGNS,
    "hinge classes": CLASSES,
    "logistic classes": CLASSES,
}


def _fit(estimator: type, rows: Any, y: Any, layout: str = "C", **given: Any) -> Any:
    X = rows if sparse.issparse(rows) else ROWS[layout](rows)
    return estimator(**given).fit(X, *([] if y is None else [y[: X.shape[0]]]))


def _weighted(estimator: type, rows: Any, y: Any, **given: Any) -> Any:
    return estimator(**given).fit(rows, y, WEIGHTS)


def _plain(estimator: type, examples: Any, labels: Any, **given: Any) -> Any:
    return estimator(**given).fit(examples, labels)


def _ranked(**given: Any) -> Any:
    return cutplane.RankSVM(**given).fit(X, GRADES, qid=QUERIES)


def _structured(estimator: type, **given: Any) -> Any:
    from cutplane.structured.chain import ChainModel

    rows = [X[begin : begin + 5] for begin in range(0, 100, 5)]
    labels = [GRADES[begin : begin + 5] for begin in range(0, 100, 5)]
    return estimator(ChainModel(4, 8), C=0.5, **given).fit(rows, labels)


@contextmanager
def _twin() -> Iterator[None]:
    from cutplane.device import arrays
    from cutplane.device.twin import TwinKernels

    kernels, found = TwinKernels(), arrays.cuda_kernels
    arrays.cuda_kernels = lambda: kernels
    try:
        yield
    finally:
        arrays.cuda_kernels = found


def _on_twin(estimator: type, rows: Any, y: Any, **given: Any) -> Any:
    with _twin():
        return estimator(**given).fit(rows, y[: len(rows)])


def _on_dask(estimator: type, rows: Any, y: Any, **given: Any) -> Any:
    import dask.array as da
    from distributed import Client, LocalCluster

    parts = (200, 300, 100)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        model = estimator(**given)
        return model.fit(da.from_array(rows, chunks=(parts, (8,))), da.from_array(y, chunks=(parts,)))


CASES: dict[str, Case] = dict([*_linear(), *_others(), *_places()])

# What is refused, in one sentence each.
REFUSED: dict[str, Case] = {
    "C": partial(_fit, cutplane.LinearSVC, X, SIGNS, C=-1.0),
    "tol": partial(_fit, cutplane.LinearSVC, X, SIGNS, tol="small"),
    "loss": partial(_fit, cutplane.LinearSVC, X, SIGNS, loss="l1"),
    "penalty": partial(_fit, cutplane.LinearSVC, X, SIGNS, penalty="l1"),
    "method": partial(_fit, cutplane.LinearSVC, X, SIGNS, method="sgd"),
    "kernel": partial(_fit, cutplane.SVC, X, SIGNS, kernel="laplace"),
    "one class": partial(_fit, cutplane.LinearSVC, X, np.ones(600)),
    "NaN": partial(_fit, cutplane.LinearSVC, np.full((3, 2), np.nan), np.array([0, 1, 1])),
    "lengths": partial(_plain, cutplane.LinearSVC, X, SIGNS[:5]),
    "no rows": partial(_plain, cutplane.LinearSVC, X[:0], SIGNS[:0]),
    "one dimension": partial(_plain, cutplane.LinearSVC, X[0], SIGNS[:8]),
    "text targets": partial(_plain, cutplane.LinearSVR, X, CLASSES),
    "nu": partial(_fit, cutplane.NuSVC, X, SIGNS, nu=1.5),
    "queries": lambda: cutplane.RankSVM().fit(X, GRADES, qid=QUERIES[:5]),
    "strings": partial(_plain, cutplane.StringSVC, ["ACGT", "AC"], [0, 1]),
    "letters": partial(_plain, cutplane.StringSVC, ["ACGX", "ACGT"], [0, 1]),
    "sequences": partial(_plain, cutplane.SequenceSVM, SENTENCES, TAGS[:3]),
    "negative weights": lambda: cutplane.LinearSVC().fit(X, SIGNS, -WEIGHTS),
    "prior": partial(_fit, cutplane.LinearSVC, X, SIGNS, prior=[1.0]),
    "not fitted": lambda: cutplane.LinearSVC().predict(X),
    "features": lambda: cutplane.LinearSVC().fit(X, SIGNS).predict(X[:, :3]),
    "device": partial(_fit, cutplane.LinearSVC, X, SIGNS, device="tpu"),
    "roc classes": partial(_fit, cutplane.LinearSVC, X, CLASSES, loss="roc_area", multi_class="crammer_singer"),
}
