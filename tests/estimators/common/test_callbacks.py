"""Scikit-learn's own callbacks, where the installed version has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cutplane import LinearSVC

protocol = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")


def data(classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(90) % classes
    return rng.normal(size=(90, 3)) + 1.5 * np.eye(classes, 3)[y], y


class Recorder:
    """Notes what it is told."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.events: list[tuple[str, str | None]] = []
        self.accuracies: list[float] = []
        self.weights: list[tuple[float, ...]] = []
        self.stop_after = stop_after

    def setup(self, estimator: Any, context: Any) -> None:
        self.events.append(("setup", context.task_name))

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.events.append(("begin", context.task_name))

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Any = None, y: Any = None, fitted_estimator: Any = None
    ) -> bool:
        self.events.append(("end", context.task_name))
        if fitted_estimator is not None:
            self.accuracies.append(fitted_estimator.score(X, y))
            self.weights.append(tuple(fitted_estimator.coef_.ravel()))
        return self.stop_after is not None and self.count("end") >= self.stop_after

    def teardown(self, estimator: Any, context: Any) -> None:
        self.events.append(("teardown", context.task_name))

    def count(self, event: str, task: str = "iteration") -> int:
        return self.events.count((event, task))


@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
def test_every_iteration_is_a_task(method: str) -> None:
    recorder = Recorder()
    model = LinearSVC(method=method).set_callbacks(recorder).fit(*data())
    assert recorder.count("begin") == recorder.count("end") == model.n_iter_
    assert recorder.events[0][0] == "setup"
    assert recorder.events[-1][0] == "teardown"


def test_the_model_so_far_can_be_scored() -> None:
    recorder = Recorder()
    X, y = data()
    model = LinearSVC(method="oca", tol=1e-6).set_callbacks(recorder).fit(X, y)
    assert len(recorder.accuracies) >= model.n_iter_
    assert recorder.accuracies[-1] == model.score(X, y)
    assert recorder.weights[-1] == tuple(model.coef_[0])
    assert len(set(recorder.weights)) > 1  # models on the way, not the last one each time


def test_scores_of_three_classes() -> None:
    recorder = Recorder()
    X, y = data(classes=3)
    model = LinearSVC().set_callbacks(recorder).fit(X, y)
    assert recorder.count("end") == len(model.history_)


def test_scikit_learns_own_monitor() -> None:
    X, y = data()
    monitor = protocol.ScoringMonitor(scoring="accuracy")
    model = LinearSVC(method="oca").set_callbacks(monitor).fit(X, y)
    scores = [row["accuracy"] for row in monitor.get_logs().data]
    assert scores[-1] == pytest.approx(model.score(X, y))


def test_callbacks_and_on_step_together() -> None:
    recorder, seen = Recorder(), []
    model = LinearSVC(on_step=seen.append).set_callbacks(recorder).fit(*data())
    assert len(seen) == recorder.count("end") == model.n_iter_


def test_a_model_with_callbacks_is_the_same_model() -> None:
    X, y = data()
    np.testing.assert_array_equal(LinearSVC().set_callbacks(Recorder()).fit(X, y).coef_, LinearSVC().fit(X, y).coef_)
