"""A worker that is killed costs a pass, never the fit; and what is read again must be what was there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dask import delayed
from distributed import Client, LocalCluster

from cutplane import LinearSVC

pytestmark = pytest.mark.nightly  # processes of their own
PARTS, ROWS, FEATURES = 6, 3000, 5


class Workers:
    """Processes that work for a scheduler; where one is killed, another is started in its place.

    The nannies of dask.distributed do that too, but not all of them succeed in it.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._started = 0

    def start(self) -> None:
        self._started += 1
        name = f"worker-{self._started}"
        options = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--name", name]
        self._processes[name] = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", self.client.scheduler.address, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kill(self, *, all_of_them: bool) -> None:
        """Those that work by now, or one of them."""
        self.client.wait_for_workers(1, timeout=120)
        names = [each["name"] for each in self.client.scheduler_info(n_workers=-1)["workers"].values()]
        for name in names if all_of_them else names[:1]:
            process = self._processes.pop(name, None)
            if process is not None:  # not of one that has been killed already
                self._end(process)
                self.start()

    def end(self) -> None:
        for process in self._processes.values():
            self._end(process)

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()


@pytest.fixture
def workers() -> Iterator[Workers]:
    """Of a cluster of processes, for one test."""
    with LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as cluster, Client(cluster) as client:
        workers = Workers(client)
        try:
            workers.start()
            workers.start()
            client.wait_for_workers(2, timeout=120)
            yield workers
        finally:
            workers.end()


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


@pytest.mark.parametrize("all_of_them", [False, True])
def test_a_fit_goes_on(workers: Workers, all_of_them: bool) -> None:
    X, y = ([delayed(make)(k) for k in range(PARTS)] for make in (rows_of, labels_of))
    left = [1, 2]  # steps after which workers are killed

    def on_step(step: Any) -> None:
        if left and step.iteration >= left[0]:
            left.pop(0)
            workers.kill(all_of_them=all_of_them)

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


@pytest.mark.parametrize("words", ["Worker holding Actor was lost", "something else"])
def test_a_worker_is_lost_as_soon_as_it_has_examples(monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    submit, failed = Client.submit, list[str]()

    def fail(timeout: float) -> None:
        failed.append(words)
        raise RuntimeError(words)

    def first_fails(self: Client, *args: Any, **named: Any) -> Any:
        future = submit(self, *args, **named)
        if named.get("actor") and not failed:
            future.result = fail
        return future

    monkeypatch.setattr(Client, "submit", first_fails)
    X, y = ([delayed(make)(k) for k in range(2)] for make in (rows_of, labels_of))
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster),
    ):
        if words == "something else":
            with pytest.raises(RuntimeError, match=words):
                LinearSVC().fit(X, y)
        else:
            assert LinearSVC().fit(X, y).gap_ <= 1e-3
    assert failed


def test_a_cluster_without_workers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutplane.cluster.post._MOST_WAITING", 1.0)
    with (
        LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster),
        pytest.raises(RuntimeError, match="has had no worker for 1 seconds"),
    ):
        LinearSVC().fit([delayed(rows_of)(0)], [delayed(labels_of)(0)])


def test_other_data_is_refused(workers: Workers, tmp_path: Path) -> None:
    X = [delayed(rows_of)(k) for k in range(PARTS)]
    y = [delayed(labels_of, pure=False)(k, tmp_path) for k in range(PARTS)]
    killed: list[int] = []

    def on_step(step: Any) -> None:
        if not killed:
            killed.append(step.iteration)
            workers.kill(all_of_them=True)

    with pytest.raises(ValueError, match=r"Partition 0 was read again .* and is not what it was"):
        LinearSVC(tol=1e-8, on_step=on_step).fit(X, y)


def test_what_was_scattered_cannot_be_read_again(workers: Workers) -> None:
    client = workers.client
    X, y = (client.scatter([make(k) for k in range(PARTS)]) for make in (rows_of, labels_of))
    killed: list[int] = []

    def on_step(step: Any) -> None:
        if not killed:
            killed.append(step.iteration)
            workers.kill(all_of_them=True)

    with pytest.raises(RuntimeError, match="partitions that were scattered: they cannot be read again"):
        LinearSVC(tol=1e-8, on_step=on_step).fit(X, y)
    assert killed
