"""Linear models as users call them: every loss, an intercept, several classes, small data; LIBLINEAR and scikit-learn.

    python benchmarks/as_called.py --data DIR [--quick] [--parts losses,options] [--sets news20,text] [--Cs 0.1,1]

Ours ends at its own PROVEN gap of 1e-3. LIBLINEAR is its C function, at the loosest tolerance that arrives within 1e-3
of the optimum, by the fastest of its solvers for that loss; beside it stand the seconds of our solver, and those of the
whole of `fit`, checks of the input included. scikit-learn is the whole of `fit`, at the loosest tolerance that arrives.
They are timed alternately.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import scipy.sparse as sp

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import harness, measure, peers
from benchmarks.called_data import load, load_classes
from benchmarks.called_robust import measure_robust
from benchmarks.called_small import measure_small
from benchmarks.measure import fit_seconds
from benchmarks.tables.as_called import figures, tables

SETS = ("covtype", "mnist", "a9a", "w8a", "news20", "rcv1", "text", "text-pairs")
CS = (1e-4, 1e-2, 1.0, 10.0)
QUICK = ("--sets", "a9a,rcv1")
TOLERANCES = (100, 30, 10, 3, 1, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5)
# LIBLINEAR's solvers for each loss; their primal ones stop relative to the slope at zero.
SOLVERS = {
    "hinge": (3,),
    "squared_hinge": (1, 2),
    "logistic": (7, 0),
    "epsilon_insensitive": (13,),
    "squared_epsilon_insensitive": (12, 11),
}
REGRESSION = ("epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile")
EPSILON = 0.1


def losses_of(name: str, y: np.ndarray) -> Callable[[np.ndarray], float]:
    """The sum of the losses of scores."""
    sums = {
        "hinge": lambda s: np.maximum(0.0, 1.0 - y * s).sum(),
        "squared_hinge": lambda s: np.square(np.maximum(0.0, 1.0 - y * s)).sum(),
        "logistic": lambda s: np.logaddexp(0.0, -y * s).sum(),
        "epsilon_insensitive": lambda s: np.maximum(0.0, np.abs(s - y) - EPSILON).sum(),
        "squared_epsilon_insensitive": lambda s: np.square(np.maximum(0.0, np.abs(s - y) - EPSILON)).sum(),
    }
    return sums[name]


class Liblinear:
    """One solver of LIBLINEAR on one problem, without an intercept; only its C function is timed."""

    def __init__(self, X: sp.csr_matrix, y: np.ndarray, loss: str) -> None:
        self._library = peers.Liblinear()._module
        self._X, self._y, self._loss = X, y, losses_of(loss, y)
        self._problem = self._library.problem(y, sp.csr_matrix(X))

    def train(self, C: float, solver: int, tolerance: float) -> tuple[float, float]:
        """Seconds, and the objective."""
        lib = self._library
        given = lib.parameter(f"-s {solver} -B -1 -c {C:.17g} -e {tolerance:.17g} -p {EPSILON} -q")
        ctypes.CDLL(None).srand(1)
        start = perf_counter()
        trained = lib.liblinear.train(ctypes.byref(self._problem), ctypes.byref(given))
        seconds = perf_counter() - start
        model = lib.toPyModel(trained)
        w = np.ctypeslib.as_array(model.w, (model.nr_feature,)).copy()
        if solver < 11 and model.label[0] < 0:
            w = -w
        scores = self._X @ w
        return seconds, float(0.5 * w @ w + C * self._loss(scores))

    def arrives(self, C: float, solver: int, target: float, limit: float) -> float | None:
        """The loosest tolerance that ends at or below the target."""
        for tolerance in TOLERANCES:
            seconds, objective = self.train(C, solver, tolerance)
            if objective <= target:
                return tolerance
            if seconds > limit:
                return None
        return None


def model_of(loss: str, C: float, **settings):
    """Our estimator."""
    from cutplane import LinearSVC, LinearSVR

    if loss in REGRESSION:
        options = {"epsilon": EPSILON} if "epsilon" in loss else {}
        return LinearSVR(loss=loss, C=C, **options, **settings)
    return LinearSVC(loss=loss, C=C, **settings)


def measure_losses(options) -> list[dict]:
    """Every loss that LIBLINEAR has, without an intercept."""
    rows = []
    for name in options.sets or SETS:
        X, y, targets = load(name, options.data, options.cache)
        for loss in options.losses or SOLVERS:
            labels = targets if loss in REGRESSION else y
            peer = Liblinear(X, labels, loss)
            for C in options.Cs:
                rows.append({"data": name, "loss": loss, "C": C, **_loss_cell(peer, X, labels, loss, C, options)})
                print(rows[-1], flush=True)
    return rows


def _loss_cell(peer: Liblinear, X, y, loss: str, C: float, options) -> dict:
    ours = model_of(loss, C, fit_intercept=False, time_limit=options.limit, n_jobs=options.threads)
    tight = model_of(loss, C, fit_intercept=False, time_limit=options.limit, tol=1e-6)
    fit_seconds(tight, X, y)
    target = tight.objective_ * (1.0 + peers.ARRIVED)
    settings = {s: peer.arrives(C, s, target, options.limit) for s in SOLVERS[loss]}
    whole: list[float] = []

    def train() -> float:
        whole.append(fit_seconds(ours, X, y))
        return ours.history_[-1].seconds

    contestants = {"ours": train}
    for solver, tolerance in settings.items():
        if tolerance is not None:
            contestants[f"-s {solver}"] = lambda s=solver, t=tolerance: peer.train(C, s, t)[0]
    seconds = measure.alternate(contestants, options.repeats, options.budget)
    medians = {key: measure.median(values) for key, values in seconds.items()}
    best = min((value for key, value in medians.items() if key != "ours"), default=None)
    return {
        "seconds": medians | {"fit": measure.median(whole)},
        "tolerances": settings,
        "gap": ours.gap_,
        "ratio": None if best is None else best / medians["ours"],
    }


def measure_options(options) -> list[dict]:
    """What an intercept and other options cost: `fit` with them, beside `fit` without."""
    rows = []
    for name in options.sets or (*SETS[:-1], "news20-raw"):
        X, y, _ = load(name, options.data, options.cache)
        prior = 0.01 * np.random.default_rng(0).normal(size=X.shape[1])
        ways = {
            "none": {"fit_intercept": False},
            "intercept": {},
            "intercept_scaling=1": {"intercept_scaling": 1.0},
            "prior": {"fit_intercept": False, "prior": prior},
            "class_weight": {"fit_intercept": False, "class_weight": "balanced"},
            "nonnegative": {"fit_intercept": False, "nonnegative": True},
        }
        for loss in options.losses or ("hinge", "squared_hinge"):
            for C in options.Cs:
                models = {
                    way: model_of(loss, C, time_limit=options.limit, n_jobs=options.threads, **given)
                    for way, given in ways.items()
                }
                calls = {way: partial(fit_seconds, model, X, y) for way, model in models.items()}
                seconds = measure.alternate(calls, options.repeats, options.budget)
                medians = {way: measure.median(found) for way, found in seconds.items()}
                gaps = {way: model.gap_ for way, model in models.items()}
                rows.append({"data": name, "loss": loss, "C": C, "seconds": medians, "gaps": gaps})
                print(rows[-1], flush=True)
    return rows


def measure_classes(options) -> list[dict]:
    """Several classes against the rest: ours and scikit-learn's LinearSVC, both by the whole of `fit`."""
    rows = []
    for name in options.sets or ("news20", "news20-raw", "text", "sector", "mnist"):
        X, y = load_classes(name, options.data, options.cache)
        for loss in options.losses or ("hinge", "squared_hinge"):
            for intercept in (False, True):
                for C in options.Cs:
                    found = _class_cell(X, y, loss, C, intercept, options)
                    rows.append({"data": name, "loss": loss, "C": C, "intercept_scaling": intercept, **found})
                    print(rows[-1], flush=True)
    return rows


def _class_cell(X, y, loss: str, C: float, intercept: bool, options) -> dict:
    from sklearn.svm import LinearSVC

    scaling = {"intercept_scaling": 1.0} if intercept else {"fit_intercept": False}
    ours = model_of(loss, C, n_jobs=options.threads, time_limit=2 * options.limit, **scaling)
    first = fit_seconds(ours, X, y)
    target = ours.lower_bound_ * (1.0 + peers.ARRIVED)
    codes = np.searchsorted(ours.classes_, y)

    def objective(model) -> float:
        scores = np.asarray(X @ model.coef_.T) + model.intercept_
        w = np.hstack([model.coef_, np.reshape(model.intercept_, (-1, 1))]) if intercept else model.coef_
        signs = np.where(codes[:, None] == np.arange(scores.shape[1]), 1.0, -1.0)
        losses = np.maximum(0.0, 1.0 - signs * scores)
        return float(0.5 * np.square(w).sum() + C * (np.square(losses) if loss == "squared_hinge" else losses).sum())

    chosen = None
    for tolerance in (0.1, 0.01, 1e-3, 1e-4):
        theirs = LinearSVC(loss=loss, C=C, dual=True, tol=tolerance, fit_intercept=intercept, random_state=0)
        seconds = fit_seconds(theirs, X, y)
        if objective(theirs) <= target:
            chosen = theirs
            break
        if seconds > options.limit:
            break
    contestants = {"ours": lambda: fit_seconds(ours, X, y)}
    if chosen is not None:
        contestants["scikit-learn"] = lambda: fit_seconds(chosen, X, y)
    found = measure.alternate(contestants, 3 if first > 2.0 else options.repeats, options.budget)
    medians = {key: measure.median(values) for key, values in found.items()}
    return {
        "seconds": medians,
        "gap": ours.gap_,
        "tolerance": None if chosen is None else chosen.tol,
        "theirs_at_least": None if chosen is not None else seconds,
        "ratio": medians["scikit-learn"] / medians["ours"] if chosen is not None else None,
    }


PARTS = {
    "losses": measure_losses,
    "options": measure_options,
    "classes": measure_classes,
    "small": measure_small,
    "robust": measure_robust,
}


def main() -> None:
    """Measure what is asked for."""
    parser = harness.parser(__doc__, "as_called", tuple(PARTS))
    parser.add_argument("--losses", type=lambda text: text.split(","), help="only these")
    parser.add_argument("--Cs", type=lambda text: [float(C) for C in text.split(",")], default=list(CS))
    parser.add_argument("--budget", type=float, default=20.0, help="seconds for a cell (%(default)s)")
    options = parser.parse_args()
    if options.quick and not options.sets:
        options.sets = QUICK[1].split(",")
    harness.run(options, PARTS, ("liblinear-official", "rehline"), tables, figures)


if __name__ == "__main__":
    main()
