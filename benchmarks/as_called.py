"""Linear models as users call them: every loss, an intercept, several classes, small data; LIBLINEAR and scikit-learn.

    python benchmarks/as_called.py --data DIR [--quick] [--parts losses,intercept] [--sets news20,text] [--Cs 0.1,1]

Ours is the whole of `fit`, checks of the input included, to a PROVEN gap of 1e-3 with an intercept where the part
says so. LIBLINEAR is its C function alone, at the loosest tolerance that arrives within 1e-3 of the optimum, by the
fastest of its solvers for that loss. The two are timed alternately.
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import scipy.sparse as sp

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import harness, measure, peers
from benchmarks.called_data import load

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


def fit_seconds(model, X, y) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        model.fit(X, y)
        return perf_counter() - start


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
    contestants = {"ours": lambda: fit_seconds(ours, X, y)}
    for solver, tolerance in settings.items():
        if tolerance is not None:
            contestants[f"-s {solver}"] = lambda s=solver, t=tolerance: peer.train(C, s, t)[0]
    seconds = measure.alternate(contestants, options.repeats, options.budget)
    medians = {key: measure.median(values) for key, values in seconds.items()}
    best = min((value for key, value in medians.items() if key != "ours"), default=None)
    return {
        "seconds": medians,
        "tolerances": settings,
        "gap": ours.gap_,
        "iterations": int(ours.n_iter_),
        "ratio": None if best is None else best / medians["ours"],
    }


def tables(result: dict) -> dict[str, str]:
    """As Markdown."""
    made = {}
    if "losses" in result:
        rows = result["losses"]["rows"]
        cells = [
            (r["data"], r["loss"], r["C"], r["seconds"]["ours"], r["ratio"] if r["ratio"] else "never") for r in rows
        ]
        made["Every loss: LIBLINEAR's time / ours"] = measure.table(("data", "loss", "C", "ours, s", "ratio"), cells)
        means = [
            (loss, measure.geometric_mean(found), min(found))
            for loss in SOLVERS
            if (found := [r["ratio"] for r in rows if r["loss"] == loss and r["ratio"]])
        ]
        made["Geometric means"] = measure.table(("loss", "mean", "least"), means)
    return made


def main() -> None:
    """Measure what is asked for."""
    parser = harness.parser(__doc__, "as_called", ("losses",))
    parser.add_argument("--losses", type=lambda text: text.split(","), help="only these")
    parser.add_argument("--Cs", type=lambda text: [float(C) for C in text.split(",")], default=list(CS))
    parser.add_argument("--budget", type=float, default=20.0, help="seconds for a cell (%(default)s)")
    options = parser.parse_args()
    if options.quick and not options.sets:
        options.sets = QUICK[1].split(",")
    harness.run(options, {"losses": measure_losses}, ("liblinear-official",), tables, lambda _: {})


if __name__ == "__main__":
    main()
