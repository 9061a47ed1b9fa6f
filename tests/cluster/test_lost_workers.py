"""A worker that is killed costs a pass, never the fit; and what is read again must be what was there."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dask import delayed
from distributed import Client, LocalCluster, Status

from cutplane import LinearSVC

PARTS, ROWS, FEATURES = 6, 3000, 5


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A cluster of processes, those that are killed start again."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        yield client


def rows_of(number: int) -> Any:
    return np.random.default_rng(number).normal(size=(ROWS, FEATURES))


def labels_of(number: int, again: Path | None = None) -> Any:
    """Of a source that gives others when it is read `again`, where a file says that it has been."""
    noise = np.random.default_rng(100 + number).normal(size=ROWS)
    labels = (rows_of(number) @ np.arange(FEATURES) + noise > 0.5).astype(int)
    if again is not None and number == 0:
        if (again / "read").exists():
            return 1 - labels
        (again / "read").touch()
    return labels


def kill(client: Client, how_many: int) -> None:
    """So many workers. Their nannies must know that they run, for else they do not start them again."""
    nannies = list(client.cluster.workers.values())
    deadline = time.monotonic() + 60.0
    while not all(nanny.process is not None and nanny.process.status == Status.running for nanny in nannies):
        assert time.monotonic() < deadline, "a worker did not start again"
        time.sleep(0.05)
    for nanny in nannies[:how_many]:
        os.kill(nanny.pid, signal.SIGKILL)


@pytest.mark.parametrize("all_of_them", [False, True])
def test_a_fit_goes_on(client: Client, all_of_them: bool) -> None:
    client.wait_for_workers(2, timeout=60)
    X, y = ([delayed(make)(k) for k in range(PARTS)] for make in (rows_of, labels_of))
    left = [1, 2]  # steps after which workers are killed

    def on_step(step: Any) -> None:
        if left and step.iteration >= left[0]:
            left.pop(0)
            kill(client, 2 if all_of_them else 1)

    model = LinearSVC(tol=1e-6, on_step=on_step).fit(X, y)
    assert not left
    rows, labels = (np.concatenate([make(k) for k in range(PARTS)]) for make in (rows_of, labels_of))
    alone = LinearSVC(tol=1e-6).fit(rows, labels)
    assert model.gap_ <= 1e-6
    assert model.lower_bound_ <= alone.objective_
    assert alone.lower_bound_ <= model.objective_
    margins = (2 * labels - 1) * model.decision_function(rows)
    objective = 0.5 * np.sum(model.coef_**2) + np.maximum(0.0, 1.0 - margins).sum()
    assert model.objective_ == pytest.approx(objective, rel=1e-12)


def test_a_cluster_without_workers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutplane.cluster.post._MOST_WAITING", 1.0)
    with (
        LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster),
        pytest.raises(RuntimeError, match="has had no worker for 1 seconds"),
    ):
        LinearSVC().fit([delayed(rows_of)(0)], [delayed(labels_of)(0)])


def test_other_data_is_refused(client: Client, tmp_path: Path) -> None:
    client.wait_for_workers(2, timeout=60)
    X = [delayed(rows_of)(k) for k in range(PARTS)]
    y = [delayed(labels_of, pure=False)(k, tmp_path) for k in range(PARTS)]
    killed: list[int] = []

    def on_step(step: Any) -> None:
        if not killed:
            killed.append(step.iteration)
            kill(client, 2)

    with pytest.raises(ValueError, match=r"Partition 0 was read again .* and is not what it was"):
        LinearSVC(tol=1e-8, on_step=on_step).fit(X, y)
