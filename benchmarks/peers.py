"""The solvers Cutplane is compared with, each behind the same three methods.

A peer is prepared once per data set (conversions are not timed), then trained at one setting of its own
accuracy knob at a time. `sweep` goes from the loosest setting to the tightest and stops at the first whose
objective is within a given distance of the optimum: the setting a well-informed user would have chosen. A
peer that is not installed says so in `missing`; it is shown as missing, not left out.
"""

import ctypes
import importlib.util
import re
import warnings
from dataclasses import dataclass, field
from importlib import import_module, metadata
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Protocol

import numpy as np
import scipy.sparse as sp

ARRIVED = 1e-3  # relative distance from the optimum at which every solver is compared
TIME_LIMIT = 60.0  # seconds; no tighter setting is tried after a run that took longer
# How many runs may end at a peer's own cap of passes before its sweep is given up: where the cap ends a run,
# a tighter setting changes only which examples were shrunk away, yet now and then that is enough to arrive.
CAPPED_RUNS = 3


class Problem:
    """One data set, with the objective all solvers are judged by: ½|w|² + C·Σ hinge, in float64."""

    def __init__(self, name: str, X: sp.csr_matrix, y: np.ndarray) -> None:
        self.name, self.X, self.y = name, X, y
        self._wide = X.astype(np.float64)

    def objective(self, C: float, w: np.ndarray) -> float:
        w = np.asarray(w, dtype=np.float64).ravel()
        hinge = np.maximum(0.0, 1.0 - self.y * (self._wide @ w)).sum()
        return float(0.5 * w @ w + C * hinge)


@dataclass(frozen=True)
class Run:
    """One training: at which setting, how long it took, where it ended."""

    setting: float
    seconds: float
    objective: float
    passes: int | None = None
    lower: float | None = None  # dual value, where the peer tells it
    capped: bool = False  # stopped by its own limit of passes, not by the setting


@dataclass
class Sweep:
    """The runs of one peer on one problem, loosest setting first."""

    peer: str
    runs: list[Run] = field(default_factory=list)
    arrived: Run | None = None
    ended: str = ""  # why no tighter setting was tried

    def best(self) -> Run | None:
        return min(self.runs, key=lambda run: run.objective, default=None)

    def verdict(self, optimum: float) -> str:
        """Seconds to arrival, or how far above the optimum the nearest run ended and after how long."""
        if self.arrived:
            return f"{self.arrived.seconds:.3g}"
        nearest = self.best()
        if nearest is None:
            return self.ended
        return f"never ({nearest.objective / optimum - 1:.2%} above after {nearest.seconds:.2g} s; {self.ended})"


class Peer(Protocol):
    """requires: `prepare` before `train`. ensures: `train` times the solver alone and restores nothing."""

    name: str
    settings: tuple[float, ...]
    missing: str | None

    def version(self) -> str: ...
    def prepare(self, problem: Problem) -> None: ...
    def train(self, C: float, setting: float) -> Run: ...


class Liblinear:
    """LIBLINEAR ``-s 3 -B -1``: dual coordinate descent on the hinge. Only the C function ``train`` is timed.

    It gives up after 300 passes over the active examples, whatever the tolerance: left as shipped.
    """

    name = "LIBLINEAR"
    settings = (100, 30, 10, 3, 1, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5)
    passes_cap = 300
    distribution = "liblinear-official"
    options = ""

    def __init__(self) -> None:
        self._module, self.missing = self._find()
        self._printed: list[str] = []

    def _find(self) -> tuple[ModuleType | None, str | None]:
        try:
            return import_module("liblinear.liblinear"), None
        except ImportError:
            return None, f"missing: pip install {self.distribution}"

    def version(self) -> str:
        return metadata.version(self.distribution)

    def prepare(self, problem: Problem) -> None:
        self._problem = problem
        self._converted = self._module.problem(problem.y, sp.csr_matrix(problem.X))

    def train(self, C: float, setting: float) -> Run:
        lib = self._module
        param = lib.parameter(f"-s 3 -B -1 -c {C:.17g} -e {setting:.17g} -q {self.options}")
        # Its messages carry the passes and the dual value; a call per ten passes is too few to be felt.
        self._printed = []
        sink = lib.PRINT_STRING_FUN(lambda text: self._printed.append(text.decode()))
        lib.liblinear.set_print_string_function(sink)
        ctypes.CDLL(None).srand(1)  # it shuffles by rand(): every run as in a fresh process of its command line
        start = perf_counter()
        trained = lib.liblinear.train(ctypes.byref(self._converted), ctypes.byref(param))
        seconds = perf_counter() - start
        lib.liblinear.set_print_string_function(lib.ctypes_print_null)
        model = lib.toPyModel(trained)
        w = np.ctypeslib.as_array(model.w, (model.nr_feature,)).copy()
        if model.label[0] < 0:
            w = -w
        log = "".join(self._printed)
        passes = int(re.search(r"#iter = (\d+)", log).group(1))
        dual = -float(re.search(r"Objective value = (\S+)", log).group(1))
        return Run(setting, seconds, self._problem.objective(C, w), passes, dual, capped=passes >= self.passes_cap)


class MulticoreLiblinear(Liblinear):
    """Multi-core LIBLINEAR, ``-m threads``.

    Its package has the same import name as LIBLINEAR's, so it lives in a folder of its own:
    ``pip install --no-deps --target DIR liblinear-multicore``.
    """

    distribution = "liblinear-multicore"

    def __init__(self, folder: str | None, threads: int = 2) -> None:
        self.name = f"LIBLINEAR -m {threads}"
        self.options = f"-m {threads}"
        self._folder = folder
        super().__init__()

    def _find(self) -> tuple[ModuleType | None, str | None]:
        file = Path(self._folder or ".") / "liblinear" / "liblinear.py"
        if self._folder is None or not file.exists():
            return (
                None,
                f"missing: pip install --no-deps --target DIR {self.distribution}, then --multicore DIR",
            )
        spec = importlib.util.spec_from_file_location("liblinear_multicore", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module, None

    def version(self) -> str:
        found = metadata.distributions(name=self.distribution, path=[self._folder])
        return next((each.version for each in found), "unknown")


class Rehline:
    """ReHLine's solver function; the hinge is ReLU(u·x'β + v) with u = -C y, v = C, beside ½|β|².

    `tol` is its relative primal-dual gap. Its limit of 1,000 passes is left as shipped.
    """

    name = "ReHLine"
    settings = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5)
    passes_cap = 1000

    def __init__(self) -> None:
        try:
            self._solve = import_module("rehline").ReHLine_solver
            self.missing = None
        except ImportError:
            self.missing = "missing: pip install rehline"

    def version(self) -> str:
        return metadata.version("rehline")

    def prepare(self, problem: Problem) -> None:
        self._problem = problem
        self._X = problem.X.astype(np.float64)

    def train(self, C: float, setting: float) -> Run:
        U = np.ascontiguousarray(-C * self._problem.y[None, :])
        V = np.full_like(U, C)
        start = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = self._solve(self._X, U, V, tol=setting, max_iter=self.passes_cap, verbose=0)
        seconds = perf_counter() - start
        objective = self._problem.objective(C, result.beta)
        return Run(setting, seconds, objective, result.niter, capped=result.niter >= self.passes_cap)


class Sgd:
    """scikit-learn's SGDClassifier, hinge, alpha = 1/(n C): the same objective divided by n C.

    Its knob is the number of epochs, each tried as a training of its own.
    """

    name = "SGD"
    settings = (1, 2, 5, 10, 20, 50)

    def __init__(self) -> None:
        self.missing = None

    def version(self) -> str:
        return metadata.version("scikit-learn")

    def prepare(self, problem: Problem) -> None:
        self._problem = problem

    def train(self, C: float, setting: float) -> Run:
        from sklearn.linear_model import SGDClassifier

        X, y = self._problem.X, self._problem.y
        epochs = int(setting)
        model = SGDClassifier(
            loss="hinge",
            alpha=1.0 / (X.shape[0] * C),
            fit_intercept=False,
            max_iter=epochs,
            tol=None,
            random_state=0,
        )
        start = perf_counter()
        model.fit(X, y)
        seconds = perf_counter() - start
        return Run(setting, seconds, self._problem.objective(C, model.coef_), epochs)


def sweep(peer: Peer, C: float, optimum: float, within: float = ARRIVED, limit: float = TIME_LIMIT) -> Sweep:
    """Train `peer` at its settings, loosest first, until one arrives within `within` of `optimum`."""
    if peer.missing:
        return Sweep(peer.name, ended=peer.missing)
    done = Sweep(peer.name, ended="tightest setting")
    for setting in peer.settings:
        run = peer.train(C, setting)
        done.runs.append(run)
        if run.objective <= optimum * (1 + within):
            done.arrived, done.ended = run, "arrived"
            break
        if sum(each.capped for each in done.runs) >= CAPPED_RUNS:
            done.ended = f"its cap of {run.passes} passes"
            break
        if run.seconds > limit:
            done.ended = f"over {limit:g} s"
            break
    return done
