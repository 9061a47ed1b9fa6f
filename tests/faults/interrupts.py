"""Ctrl-C at random moments of fits in this process: KeyboardInterrupt, or a model whose certificate holds.

Whatever it was, the next fit gives the same model as ever. Threads, limits of the BLAS and the handler of Ctrl-C are as
before. Objectives are computed by NumPy.
"""

from __future__ import annotations

import collections
import os
import random
import signal
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import threadpoolctl
from numpy.typing import NDArray

from cutplane import SVC, LinearSVC, LinearSVR, RankSVM, StructuralSVM, _core
from cutplane.structured.classes import MulticlassModel

# What sums of a few hundred losses in double precision may be off, and more.
ROUNDING = 1e-9
# Seconds in which idle threads of a pool are gone, on a busy machine too.
_A_MOMENT = 5.0
Array = NDArray[np.float64]


class Case(NamedTuple):
    """A fit that returns models, and the objective of each by itself: one number, or one for each class."""

    name: str
    fit: Callable[[], list[Any]]
    objective: Callable[[Any], Any] | None


class Reference(NamedTuple):
    """What a fit gives that nobody interrupts, and how long it takes."""

    models: list[Any]
    seconds: float


def cases() -> list[Case]:
    """One or more of every way to train."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    noisy = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=300)
    two, three = np.where(noisy > 0, 1, -1), np.digitize(noisy, [-0.5, 0.5])
    made = []
    for method, tol in (("auto", 1e-8), ("newton", 1e-8), ("oca", 1e-4), ("cpa", 1e-2)):
        settings = {"method": method, "tol": tol}
        made.append(_case(f"two classes {method}", LinearSVC(**settings), X, two, _one_against_the_rest))
        made.append(_case(f"three classes {method}", LinearSVC(**settings), X, three, _one_against_the_rest))
    made.append(_case("nonnegative", LinearSVC(nonnegative=True, tol=1e-3), X, two, _one_against_the_rest))
    made.append(_case("together", LinearSVC(multi_class="crammer_singer", tol=1e-3), X, three, _together))
    made.append(_case("LinearSVR", LinearSVR(epsilon=0.1, tol=1e-7), X, noisy, _regression))
    made.append(_case("RankSVM", RankSVM(tol=1e-6), X, three, _ranking))
    structural = StructuralSVM(MulticlassModel([0, 1, 2]), tol=1e-2)
    made.append(_case("StructuralSVM", structural, X[:40], three[:40].tolist(), _structured))
    wide, path = rng.normal(size=(60, 200)), LinearSVC(tol=1e-6, n_jobs=2)
    of_path = _objective_of(_one_against_the_rest, wide, two[:60])
    made.append(Case("path", lambda: path.path(wide, two[:60], [0.001, 0.01, 0.1]), of_path))
    made.append(_case("SVC", SVC(tol=1e-6, C=10.0), X, three, None))
    return made


def _case(name: str, model: Any, X: Any, y: Any, objective: Any) -> Case:
    return Case(name, lambda: [model.fit(X, y)], None if objective is None else _objective_of(objective, X, y))


def _objective_of(objective: Any, X: Any, y: Any) -> Callable[[Any], Any]:
    return lambda model: objective(model, np.asarray(X), np.asarray(y))


def _one_against_the_rest(model: Any, X: Array, y: Any) -> Any:
    scores = X @ model.coef_.T + model.intercept_
    positives = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    signs = np.where(y[:, None] == positives, 1.0, -1.0)
    losses = np.maximum(0.0, 1.0 - signs * scores).sum(axis=0)
    value = 0.5 * (model.coef_**2).sum(axis=1) + model.C * losses
    return value if len(value) > 1 else float(value[0])


def _together(model: Any, X: Array, y: Any) -> float:
    scores = X @ model.coef_.T + model.intercept_
    return 0.5 * float((model.coef_**2).sum()) + model.C * _worst(scores, y)


def _structured(model: Any, X: Array, y: Any) -> float:
    W = model.coef_
    scores = np.column_stack([_features(X, k, len(W)) @ W for k in range(3)])
    return 0.5 * float(W @ W) + model.C * _worst(scores, y)


def _features(X: Array, k: int, d: int) -> Array:
    """Joint features of class k, as the model itself makes them."""
    model = MulticlassModel([0, 1, 2])
    return np.array([_dense(model.joint_feature(x, k), d) for x in X])


def _dense(features: Any, d: int) -> Array:
    return np.asarray(features.toarray()).ravel() if hasattr(features, "toarray") else np.asarray(features).reshape(d)


def _worst(scores: Array, y: Any) -> float:
    rows = np.arange(len(y))
    margins = 1.0 + scores - scores[rows, y][:, None]
    margins[rows, y] = 0.0
    return float(margins.max(axis=1).sum())


def _regression(model: Any, X: Array, y: Any) -> float:
    errors = np.abs(X @ model.coef_.ravel() + model.intercept_ - y)
    return 0.5 * float((model.coef_**2).sum()) + model.C * float(np.maximum(0.0, errors - 0.1).sum())


def _ranking(model: Any, X: Array, y: Any) -> float:
    scores = X @ model.coef_.ravel()
    better = y[:, None] > y
    losses = np.maximum(0.0, 1.0 - (scores[:, None] - scores))[better]
    return 0.5 * float((model.coef_**2).sum()) + model.C * float(losses.mean())  # one query


def run(rounds: int, chance: random.Random) -> str:
    """A moment each, of a fit each."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known = [(case, _reference(case)) for case in cases()]
            ends: collections.Counter[str] = collections.Counter()
            for _ in range(rounds):
                ends[_round(*chance.choice(known), chance)] += 1
    finally:
        signal.signal(signal.SIGINT, before)
    return f"{rounds} moments: {', '.join(f'{count} {end}' for end, count in sorted(ends.items()))}"


def _reference(case: Case) -> Reference:
    case.fit()
    begin = time.perf_counter()
    models = [_state(model) for model in case.fit()]
    return Reference(models, time.perf_counter() - begin)


def _state(model: Any) -> dict[str, Any]:
    names = ("dual_coef_" if hasattr(model, "dual_coef_") else "coef_", "intercept_", "objective_", "lower_bound_")
    return {name: np.copy(getattr(model, name)) for name in names if hasattr(model, name)} | {
        "certificates_": model.certificates_
    }


def _round(case: Case, reference: Reference, chance: random.Random) -> str:
    limits, moment = _limits(), chance.uniform(0.0, 1.1 * reference.seconds)
    where = f"{case.name}, Ctrl-C after {moment:.6f} s"
    models = _interrupted(case.fit, moment)
    end = "KeyboardInterrupt" if models is None else _end(models[-1])
    found = _settled_limits(limits)
    assert found == limits, f"{where}: {found} instead of {limits}"
    if models is not None and case.objective is not None:
        for model, best in zip(models, reference.models, strict=True):
            _check_certificate(case, model, best, where)
    for model, best in zip(case.fit(), reference.models, strict=True):
        for name, value in _state(model).items():
            if name != "certificates_":  # these say how long it took
                assert np.array_equal(value, best[name]), f"{where}: the next fit has another {name}"
    return end


def _end(model: Any) -> str:
    return "a model so far" if model.stop_reason_ == "interrupted" else "came too late"


def _interrupted(fit: Callable[[], list[Any]], moment: float) -> list[Any] | None:
    """What a fit returns while a signal comes; None where it was KeyboardInterrupt."""
    models = None
    sender = threading.Thread(target=_send, args=(moment,))
    try:
        sender.start()
        models = fit()
        sender.join()
        time.sleep(0.0)  # a signal that came while nothing was under way
    except KeyboardInterrupt:
        pass
    sender.join()
    return models


def _send(moment: float) -> None:
    time.sleep(moment)
    os.kill(os.getpid(), signal.SIGINT)


def _limits() -> tuple[Any, ...]:
    """Threads of OpenMP and of each BLAS, threads that run, and who answers Ctrl-C."""
    libraries = [(library["filepath"], library["num_threads"]) for library in threadpoolctl.threadpool_info()]
    return int(_core.thread_count(0)), sorted(libraries), threading.active_count(), signal.getsignal(signal.SIGINT)


def _settled_limits(expected: tuple[Any, ...]) -> tuple[Any, ...]:
    """The limits, once threads that have nothing left to do had a moment to end."""
    end = time.monotonic() + _A_MOMENT
    while (found := _limits()) != expected and time.monotonic() < end:
        time.sleep(0.01)
    return found


def _check_certificate(case: Case, model: Any, best: dict[str, Any], where: str) -> None:
    """The objective is that of the model, and neither bound contradicts those of the whole fit."""
    assert case.objective is not None
    computed, proven = np.atleast_1d(case.objective(model)), best["certificates_"]
    for own, each, other in zip(computed, model.certificates_, proven, strict=True):
        upper, lower = each.objective, each.lower_bound
        slack = ROUNDING * max(1.0, abs(upper))
        assert own <= upper + slack, f"{where}: an objective of {own} is reported as {upper}"
        assert upper <= own + 1e-6 * abs(own), f"{where}: {own} is reported as {upper}"
        assert lower <= other.objective + slack, f"{where}: {lower} is no lower bound of {other.objective}"
        assert other.lower_bound <= upper + slack, f"{where}: {upper} is below {other.lower_bound}"
