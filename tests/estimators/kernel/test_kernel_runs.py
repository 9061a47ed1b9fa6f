"""Runs of kernel estimators: certificates, ends before the end, Ctrl-C, caches and memory that are too small."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from tests.selection import first_cases

from cutplane import SVC, SVR
from cutplane.estimators.kernel import machines
from cutplane.kernels import smo, smo_settings

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import ALL, LABELS, TOY, fitted, iris, noise


@pytest.mark.parametrize("kind", ALL)
def test_every_machine_has_a_certificate(kind: Any) -> None:
    X, y = iris()
    model = fitted(kind, X, y, tol=1e-5)
    for each in model.certificates_:
        assert each.lower_bound <= each.objective + 1e-6
        assert each.gap < 1e-3
        assert each.stop_reason == "kkt"
        assert each.history[-1].iteration == each.n_iter
    assert [each.n_iter for each in model.certificates_] == np.atleast_1d(model.n_iter_).tolist()


def many_classes(count: int = 8) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(30 * count, 5, centers=count, cluster_std=3.0, random_state=0)
    return X, y


@pytest.mark.parametrize("how", [{}, {"C": 100.0}, {"class_weight": "balanced"}, {"kernel": "linear", "max_iter": 30}])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_small_pairs_together_are_the_machines_that_each_is_alone(how: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = many_classes()
    together = SVC(**how).fit(X, y)
    monkeypatch.setattr(machines._Run, "_is_small", lambda self, machine: False)
    alone = SVC(**how).fit(X, y)
    np.testing.assert_array_equal(together.dual_coef_, alone.dual_coef_)
    np.testing.assert_array_equal(together.intercept_, alone.intercept_)
    assert [each.n_iter for each in together.certificates_] == [each.n_iter for each in alone.certificates_]
    for mine, other in zip(together.certificates_, alone.certificates_, strict=True):
        assert (mine.problem, mine.stop_reason) == (other.problem, other.stop_reason)
        assert mine.objective == pytest.approx(other.objective, rel=1e-11)
        assert mine.lower_bound == pytest.approx(other.lower_bound, rel=1e-11)
        assert mine.history[-1].problem == other.history[-1].problem


@pytest.mark.parametrize("kind", [SVC, partial(SVC, class_weight="balanced"), partial(SVC, probability=True)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_pairs_that_there_is_no_time_for_tell_the_nearer_mean(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = many_classes()
    full, none = kind().fit(X, y), kind(time_limit=1e-9).fit(X, y)
    assert {each.stop_reason for each in none.certificates_} == {"time_limit"}
    assert none.score(X, y) > full.score(X, y) - 0.2
    for mine, best in zip(none.certificates_, full.certificates_, strict=True):
        assert mine.objective >= best.lower_bound
        assert mine.lower_bound <= best.objective
    values = smo_settings.TUNING.values_for_means
    monkeypatch.setattr(smo, "TUNING", replace(smo_settings.TUNING, values_for_means=values // 10**7 or 1))
    assert kind(time_limit=1e-9).fit(X, y).score(X, y) > full.score(X, y) - 0.4  # means of some


def test_every_machine_has_a_turn_before_any_has_a_second() -> None:
    X, y = noise(4)
    with pytest.warns(ConvergenceWarning):
        model = SVC(C=1e3, stopping="gap", tol=1e-14, time_limit=0.3, n_jobs=1).fit(X, y)
    assert all(each.n_iter > 0 for each in model.certificates_)


@pytest.mark.parametrize("selection", ["second-order", "conjugate", "ofs2", "ofs1", "mvp", "hmg"])
def test_every_selection_leads_to_the_same_machine(selection: str) -> None:
    X, y = iris()
    model, default = SVC(selection=selection, tol=1e-6).fit(X, y), SVC(tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), default.decision_function(X), atol=1e-3)


def test_stopping_by_the_duality_gap() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = SVC(stopping="gap", tol=1e-6).fit(StandardScaler().fit_transform(X), y)
    assert model.stop_reason_ == "gap"
    assert model.gap_ <= 1e-6


@pytest.mark.parametrize("kind", ALL)
def test_a_run_that_is_not_proven_says_so_once(kind: Any) -> None:
    X, y = iris()
    with pytest.warns(ConvergenceWarning, match=r"reached max_iter=3") as caught:
        model = fitted(kind, X, y, max_iter=3, tol=1e-8)
    assert len(caught) == 1
    assert model.fit_status_ == 1
    assert model.stop_reason_ == "max_iter"
    assert np.max(model.n_iter_) == 3
    assert np.isfinite(model.gap_)


def test_a_time_limit_holds_for_all_machines() -> None:
    X, y = noise(3)
    with pytest.warns(ConvergenceWarning, match=r"ran out of time \(time_limit=1e-09\) in 3 of its 3 machines"):
        model = SVC(kernel="linear", C=1e5, time_limit=1e-9, tol=1e-9).fit(X, y)
    assert model.decision_function(X).shape == (len(y), 3)


@pytest.mark.parametrize("classes", [2, 3])
def test_on_step_sees_machines_and_can_end_them(classes: int) -> None:
    X, y = iris()
    X, y = X[y < classes], y[y < classes]
    seen: list[Any] = []
    SVC(on_step=seen.append).fit(X, y)
    assert {step.problem for step in seen} == set(range(1 if classes == 2 else 3))
    assert all(step.upper >= step.lower - 1e-9 for step in seen)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = SVC(on_step=lambda step: True, tol=1e-9, kernel="linear", C=1e5).fit(*noise(classes))
    assert model.stop_reason_ == "interrupted"


@pytest.mark.parametrize("classes", [2, 3])
def test_an_interrupt_keeps_what_was_reached(
    classes: int, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Also where someone else has taken charge of Ctrl-C, and raises KeyboardInterrupt."""
    X, y = noise(classes)

    if classes == 2:

        def interrupt(step: Any) -> None:
            raise KeyboardInterrupt

        model = SVC(on_step=interrupt)
    else:
        from cutplane._runtime import side_by_side

        def interrupted(*args: Any, **options: Any) -> None:
            raise KeyboardInterrupt

        original, calls = side_by_side.wait, []

        def wait(*args: Any, **options: Any) -> Any:
            calls.append(1)
            return interrupted() if len(calls) == 1 else original(*args, **options)

        monkeypatch.setattr(side_by_side, "wait", wait)
        request.addfinalizer(partial(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT)))
        signal.signal(signal.SIGINT, interrupted)
        model = SVC(tol=1e-9, kernel="linear", C=1e5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    assert model.stop_reason_ == "interrupted"
    assert np.isfinite(model.gap_)
    assert model.predict(X).shape == y.shape


def test_an_error_in_one_machine_ends_all() -> None:
    def wrong(step: Any) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        SVC(on_step=wrong).fit(*iris())


def test_verbose_prints(capsys: pytest.CaptureFixture[str]) -> None:
    SVC(verbose=True).fit(TOY, LABELS)
    assert ", gap " in capsys.readouterr().out


# --- Ctrl-C ---

# Ten classes that nothing tells apart, a kernel function that takes its time: hours, unless ended.
ENDLESS = """
import sys, time, warnings
import numpy as np
from cutplane import {kind}

rng = np.random.default_rng(0)
X, y = rng.normal(size=(300, 6)), rng.integers(0, 10, 300)

def kernel(A, B):
    if len(A) < 300:
        time.sleep(0.01)
    return A @ B.T

def on_step(step):
    print("step", flush=True)

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = {kind}({params}, C=1e6, tol=1e-12, n_jobs=2, on_step=on_step).fit(X, y)
print("reasons", *[each.stop_reason for each in model.certificates_])
print("gap", model.gap_, "predicted", model.predict(X).shape)
print("warned", *(str(each.message) for each in caught))
"""
WAYS = {
    "pairs": ("SVC", "kernel='linear'"),
    "pairs, one of them slow": ("SVC", "kernel=kernel, cache_size=0.2, working_set=2"),
    "rest": ("SVC", "kernel='linear', multi_class='ovr'"),
    "probabilities": ("SVC", "kernel='linear', probability=True"),
    "one machine": ("SVR", "kernel='linear', epsilon=0.0"),
}


def said_by_a_child(program: str) -> tuple[int, str]:
    """How a child of fork ends that runs the program, and what it says; one Ctrl-C is sent after its first step."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            sys.stdout = sys.stderr = os.fdopen(write, "w")
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.alarm(120)  # the end of a fit that Ctrl-C does not end: it would take hours
            exec(program, {})
            sys.stdout.flush()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            sys.stdout.flush()
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read) as lines:
        assert lines.readline() == "step\n"
        os.kill(child, signal.SIGINT)
        out = lines.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), out


def interrupted(program: str) -> subprocess.Popen[str]:
    """The program in an interpreter of its own, with one Ctrl-C sent after its first step."""
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell may have begun with it ignored
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "step\n"
    process.send_signal(signal.SIGINT)
    return process


@pytest.mark.parametrize("way", first_cases(WAYS, 1))
def test_one_ctrl_c_ends_the_fit(way: str) -> None:
    kind, params = WAYS[way]
    status, out = said_by_a_child(ENDLESS.format(kind=kind, params=params))
    assert status == 0, out
    assert "interrupted" in out.split("reasons", 1)[1].splitlines()[0]
    assert "predicted (300,)" in out
    assert "was interrupted" in out
    assert ("too sure" in out) == (way == "probabilities")


@pytest.mark.nightly
def test_two_ctrl_c_end_the_process() -> None:
    """The second one is KeyboardInterrupt, as everywhere."""
    stubborn = ENDLESS.replace('print("step", flush=True)', 'print("step", flush=True); time.sleep(2)')
    process = interrupted(stubborn.format(kind="SVC", params="kernel='linear'"))
    time.sleep(1.0)  # two that are not told apart are one
    process.send_signal(signal.SIGINT)
    process.wait(60.0)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in process.stdout.read()
    process.stdout.close()


def test_an_interrupted_machine_ends_the_others() -> None:
    """Also where the interrupt strikes in the thread of one, as from `on_step`."""

    def interrupt(step: Any) -> None:
        raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="was interrupted in 3 of its 3 machines"):
        SVC(tol=1e-12, kernel="linear", C=1e6, on_step=interrupt, n_jobs=1).fit(*noise(3))


def test_ctrl_c_is_python_s_again_after_a_fit() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have begun with it ignored
    try:
        SVC().fit(*iris())
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


# --- caches that are too small, and memory that is not there ---


def messages(caught: list[warnings.WarningMessage]) -> list[str]:
    return [str(each.message) for each in caught]


def digits() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_cache_too_small_for_the_working_set_works_and_says_so_once(multi_class: str) -> None:
    X, y = digits()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        small = SVC(cache_size=0.03, tol=1e-5, multi_class=multi_class).fit(X, y)
    assert messages(caught) == [
        "The kernel cache of 0.03 MB holds 12 of the 600 rows of the kernel matrix, fewer than the 512 that training "
        "works on at a time, so that it computes rows over and over: a cache of 2 MB would be faster."
    ]
    assert caught[0].filename == __file__
    whole = SVC(tol=1e-5, multi_class=multi_class).fit(X, y)
    np.testing.assert_allclose(small.decision_function(X), whole.decision_function(X), atol=1e-3)


def test_rows_computed_over_and_over_are_said_once_how_often() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 5)), rng.integers(0, 4, 1500)
    with pytest.warns(
        UserWarning, match=r"had room for 697 of the 1,\d+ kernel rows .* computed [\d.]+ times"
    ) as caught:
        SVC(cache_size=4, C=10.0, n_jobs=2, probability=True).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("cache_size", [None, 2])
def test_a_cache_that_holds_what_is_used_says_nothing(cache_size: float | None) -> None:
    X, y = digits()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVC(cache_size=cache_size).fit(X, y)
        SVR(cache_size=0.2).fit(X[:60], y[:60])


# Of the 144 MB of the kernel matrix less than a fourth may be taken, whether the cache is told or not.
LIMITED = """
import resource, sys, warnings
from pathlib import Path
import numpy as np
from cutplane import SVC

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 4))
y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=6000) > 0
SVC(n_jobs=1).fit(X[:500], y[:500]).predict(X[:10])  # what is loaded only when needed
taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + (32 << 20),) * 2)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = SVC(C=100.0, n_jobs=1, cache_size={cache_size}).fit(X, y)
for each in (model.stop_reason_, model.score(X, y), *caught):
    print(getattr(each, "message", each))
"""


@pytest.mark.nightly
@pytest.mark.parametrize("cache_size", [None, 1000])
def test_less_memory_than_the_kernel_matrix_would_take(cache_size: int | None) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(cache_size=cache_size)],
        env={**os.environ, "MALLOC_ARENA_MAX": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    reason, score, *said = done.stdout.splitlines()
    assert reason == "kkt"
    assert float(score) > 0.8
    assert len(said) == 1
    assert ("there was no memory for more" in said[0]) == (cache_size is not None)
