"""`cutplane train` on a cluster: files that its workers read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import typer

from cutplane.cli.options import Task
from cutplane.cli.request import TrainRequest
from cutplane.cli.tables import table_kind
from cutplane.cli.training import fit
from cutplane.estimators.common.validation.scattered import scattered_examples
from cutplane.estimators.linear.linear_svc import LinearSVC
from cutplane.estimators.linear.linear_svr import LinearSVR


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where to train: the address of a scheduler, or how many workers to start here; and what to read."""

    files: str
    address: str | None
    workers: int | None
    target: str | None

    @contextmanager
    def client(self) -> Iterator[Any]:
        """Connected as long as the context lasts."""
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise ValueError("Training on a cluster needs dask.distributed: pip install 'cutplane[dask]'.") from None
        with ExitStack() as stack:
            where: Any = self.address
            if where is None:
                where = stack.enter_context(
                    LocalCluster(n_workers=self.workers, dashboard_address=None, silence_logs=50)
                )
            try:
                yield stack.enter_context(Client(where))
            except OSError as error:
                raise ValueError(f"No scheduler answers at {self.address}: {error}.") from None

    def read(self, request: TrainRequest) -> tuple[Any, Any]:
        """Rows and targets, as collections."""
        from cutplane.cli.cluster_files import read_svmlight, read_tables

        if table_kind(self.files) is not None:
            assert self.target is not None  # checked with the other options
            return read_tables(self.files, self.target)
        if self.target is not None:
            raise typer.BadParameter("is for Parquet and CSV files.", param_hint="--target")
        return read_svmlight(self.files, zero_based=bool(request.zero_based), n_features=request.n_features)


def train(request: TrainRequest) -> int:
    """Train on the workers of a cluster; the model is an ordinary one."""
    cluster = Cluster(request.files, request.dask, request.workers, request.target)
    shared = {
        **request.solver_params(),
        **request.loss_params(),
        **request.intercept_params(),
    }
    classes = request.task is Task.classes
    model = LinearSVC(**shared, class_weight=request.weights(None)) if classes else LinearSVR(**shared)
    with cluster.client():
        X, y = cluster.read(request)
        examples = scattered_examples(model, X, y, None, labels=classes)
        assert examples is not None
        problems = len(examples.whole.labels) if classes else 1
        run = fit(
            model,
            examples,
            None,
            quiet=request.quiet,
            watch=request.watch,
            problems=problems,
            n_examples=examples.shape[0],
        )
    return request.finish(
        run, notes={"zero_based": request.zero_based}, labels=list(model.classes_) if classes else None
    )
