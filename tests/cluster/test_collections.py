"""Fits on collections of Dask: the models of plain arrays, whatever the partitions are."""

from __future__ import annotations

import gc
import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from distributed import Client
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from tests.selection import first_cases

from cutplane import (
    SVC,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    LogisticRegression,
    LogisticRegressionCV,
    OneClassSVM,
    OrdinalSVC,
    SampledCutSVC,
    SequenceSVM,
    StringSVC,
    StructuralSVM,
    load,
)
from cutplane.risks.hinge import Hinge
from cutplane.structured.chain import ChainModel

N, D = 900, 6
CHUNKS = (250, 400, 250)


def sample(classes: int = 2) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    z = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=N)
    y = np.array(["left", "middle", "right"])[np.digitize(z, [0.0] if classes == 2 else [-0.5, 0.5])]
    return X, y, rng.choice([0.5, 1.0, 2.0], N)


def scattered(*arrays: Any) -> list[Any]:
    return [da.from_array(each, chunks=(CHUNKS, *((D,) if each.ndim > 1 else ()))) for each in arrays]


def assert_same(found: Any, alone: Any) -> None:
    """Both are proven, of the same problem."""
    for one, other in zip(found.certificates_, alone.certificates_, strict=True):
        slack = 1e-12 * abs(other.objective)
        assert one.gap <= found.tol
        assert one.lower_bound <= other.objective + slack
        assert other.lower_bound <= one.objective + slack


OPTIONS: list[dict[str, Any]] = [
    {},
    {"loss": "squared_hinge"},
    {"loss": "logistic", "fit_intercept": False},
    {"intercept_scaling": 2.0},
    {"class_weight": "balanced"},
    {"class_weight": {"left": 3.0}, "loss": "logistic"},
    {"nonnegative": [0, 2]},
    {"prior": np.arange(D) / 10.0},
    {"method": "oca", "fit_intercept": False},
]


@pytest.mark.parametrize(
    ("options", "weighted"), first_cases(map(pytest.param, OPTIONS, itertools.cycle([True, False])), 3), ids=str
)
def test_two_classes(client: Client, options: dict[str, Any], weighted: bool) -> None:
    X, y, weights = sample()
    given = weights if weighted else None
    alone = LinearSVC(**options).fit(X, y, given)
    rows, labels, weigh = scattered(X, y, weights)
    found = LinearSVC(**options).fit(rows, labels, weigh if weighted else None)
    assert_same(found, alone)
    assert_array_equal(found.classes_, alone.classes_)


def test_several_classes_and_a_regression(client: Client) -> None:
    X, y, weights = sample(3)
    rows, labels, weigh = scattered(X, y, weights)
    assert_same(LinearSVC().fit(rows, labels, weigh), LinearSVC().fit(X, y, weights))
    targets = X @ np.arange(D) + 3.0
    for loss in ("epsilon_insensitive", "huber", "quantile"):
        found = LinearSVR(loss=loss).fit(rows, *scattered(targets))
        assert_same(found, LinearSVR(loss=loss).fit(X, targets))


@pytest.mark.nightly
def test_a_path(client: Client) -> None:
    X, y, _ = sample()
    grid = [0.01, 1.0, 0.1]
    for found, alone in zip(LinearSVC().path(*scattered(X, y), grid), LinearSVC().path(X, y, grid), strict=True):
        assert_same(found, alone)
        assert found.C == alone.C


@pytest.mark.nightly
def test_the_same_bits_wherever_partitions_lie(client: Client) -> None:
    X, y, _ = sample()
    rows, labels = scattered(X, y)
    spread = LinearSVC().fit(rows, labels)
    only = next(iter(client.nthreads()))
    parts = [
        client.submit(lambda each: each, part, workers=[only])
        for part in zip(np.split(X, np.cumsum(CHUNKS)[:-1]), np.split(y, np.cumsum(CHUNKS)[:-1]), strict=True)
    ]
    rows_there = [client.submit(lambda part: part[0], part) for part in parts]
    labels_there = [client.submit(lambda part: part[1], part) for part in parts]
    together = LinearSVC().fit(rows_there, labels_there)
    assert_array_equal(spread.coef_, together.coef_)
    assert (spread.objective_, spread.lower_bound_) == (together.objective_, together.lower_bound_)


@pytest.mark.nightly
def test_frames_sparse_blocks_and_delayed_partitions(client: Client) -> None:
    X, y, _ = sample()
    alone = LinearSVC().fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frames, labels = dd.from_pandas(frame, npartitions=3), dd.from_pandas(pd.Series(y), npartitions=3)
    model = LinearSVC().fit(frames, labels)
    assert_same(model, alone)
    assert model.feature_names_in_.tolist() == list("abcdef")
    rows, targets = scattered(X, y)
    assert_same(LinearSVC().fit(rows.map_blocks(sp.csr_array), targets), alone)
    pieces = [dask.delayed(part) for part in np.array_split(X, 4)]
    assert_same(LinearSVC().fit(pieces, [dask.delayed(part) for part in np.array_split(y, 4)]), alone)
    # Cut otherwise, in columns, beside an array of this process, and of unknown sizes.
    assert_same(LinearSVC().fit(rows.rechunk((300, 3)), da.from_array(y, chunks=450)), alone)
    assert_same(LinearSVC().fit(rows, y), alone)
    keep = da.from_array(np.ones(N, bool), chunks=(CHUNKS,))
    assert_same(LinearSVC().fit(rows[keep], targets[keep]), alone)


def test_empty_partitions_and_those_without_weight(client: Client) -> None:
    X, y, _ = sample()
    rows, labels = scattered(X, y)
    inside = da.from_array(np.arange(N) >= CHUNKS[0], chunks=(CHUNKS,))
    alone = LinearSVC().fit(X[CHUNKS[0] :], y[CHUNKS[0] :])
    assert_same(LinearSVC().fit(rows[inside], labels[inside]), alone)
    assert_same(LinearSVC().fit(rows, labels, inside.astype(float)), alone)


def test_logistic_regression_of_two_classes(client: Client) -> None:
    X, y, weights = sample()
    rows, labels, weigh = scattered(X, y, weights)
    model = LogisticRegression(tol=1e-6).fit(rows, labels, weigh)
    assert model.gap_ <= 1e-6
    assert_same(model, LinearSVC(loss="logistic", tol=1e-6).fit(rows, labels, weigh))
    X, y, _ = sample(3)
    with pytest.raises(ValueError, match="y has 3 classes: on a Dask collection"):
        LogisticRegression().fit(*scattered(X, y))


def test_predictions_are_lazy(client: Client, tmp_path: Any) -> None:
    X, y, _ = sample(3)
    rows, labels = scattered(X, y)
    model = LinearSVC(loss="logistic").fit(rows, labels)
    for name in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        found = getattr(model, name)(rows)
        assert isinstance(found, da.Array)
        here = getattr(model, name)(X)
        assert found.dtype == here.dtype
        assert_array_equal(found.compute(), here)
        assert found.shape == here.shape
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    assert_array_equal(model.predict(frame).compute().to_numpy(), model.predict(X))
    delayed = model.predict([dask.delayed(part) for part in np.array_split(X, 4)])
    assert_array_equal(np.concatenate(dask.compute(*delayed)), model.predict(X))
    path = tmp_path / "model"
    model.save(path)
    assert_array_equal(load(path).predict(X), model.predict(X))
    regression = LinearSVR().fit(rows, da.from_array(X[:, 0], chunks=(CHUNKS,)))
    assert_allclose(regression.predict(rows).compute(), regression.predict(X))
    with pytest.raises(ValueError, match="X has 5 features, but the model was trained with 6"):
        model.predict(rows[:, :5])


def tasks_left(client: Client) -> bool:
    for _ in range(100):
        if not client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)):
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", [LinearSVC(), LogisticRegression(), LinearSVCCV([1.0], cv=2), LinearSVR()], ids=str)
def test_scores_are_those_of_rows_here(client: Client, model: Any, weighted: bool) -> None:
    X, y, weights = sample(classes=3 if isinstance(model, LinearSVC) else 2)
    y = 7.0 + X[:, 1] if isinstance(model, LinearSVR) else y
    model = clone(model).fit(X[::3], y[::3])
    given = (weights,) if weighted else ()
    weights[:250] = 0.0  # all of a partition
    expected = model.score(X, y, *given)
    assert model.score(*scattered(X, y, *given)) == pytest.approx(expected, rel=1e-12)
    assert model.score(scattered(X)[0], y, *given) == pytest.approx(expected, rel=1e-12)
    ends = np.cumsum(CHUNKS)[:-1]
    delayed = [[dask.delayed(each) for each in [*np.split(values, ends), values[:0]]] for values in (X, y, *given)]
    assert model.score(*delayed) == pytest.approx(expected, rel=1e-12)
    frame, column, *rest = (dd.from_pandas(kind(v), npartitions=3) for kind, v in frames(X, y, *given))
    assert model.score(frame, column, *rest) == pytest.approx(expected, rel=1e-12)


def frames(X: Any, *columns: Any) -> list[Any]:
    return [(pd.DataFrame, X), *((pd.Series, values) for values in columns)]


def test_scores_of_targets_that_are_all_the_same(client: Client) -> None:
    X, _, _ = sample()
    model = LinearSVR().fit(X, np.full(N, 2.0))
    for y in (np.full(N, 2.0), np.full(N, 3.0)):
        assert model.score(*scattered(X, y)) == model.score(X, y)


def test_scores_that_are_refused(client: Client) -> None:
    X, y, weights = sample()
    model = LinearSVC().fit(X, y)
    rows, labels, weigh = scattered(X, y, weights)
    with pytest.raises(ValueError, match="No partition of X has a row of positive weight"):
        model.score(rows, labels, 0.0 * weigh)
    with pytest.raises(ValueError, match="is negative; weights must be 0 or greater"):
        model.score(rows, labels, weigh - 1.0)
    with pytest.raises(ValueError, match="X has 900 rows, but y has 899"):
        model.score(rows, y[1:])
    for given in ((X, labels), (X, y, weigh)):
        with pytest.raises(ValueError, match=r"collection of Dask; predictions, scores .* of rows in this process"):
            model.score(*given)
    with pytest.raises(ValueError, match="scoring='roc_auc' judges rows in this process"):
        LinearSVCCV([1.0], cv=2, scoring="roc_auc").fit(X, y).score(rows, labels)


@pytest.mark.parametrize("classes", [2, 3])
def test_bounds_are_lazy(client: Client, classes: int) -> None:
    X, y, _ = sample(classes)
    model = LinearSVC(tol=1e-5, fit_intercept=False).fit(*scattered(X, y))
    expected = model.decision_bounds(X)
    found = model.decision_bounds(scattered(X)[0])
    listed = model.decision_bounds([dask.delayed(part) for part in np.split(X, 3)])
    framed = model.decision_bounds(dd.from_pandas(pd.DataFrame(X), npartitions=3))
    for lazy, parts, frame, end in zip(found, listed, framed, expected, strict=True):
        assert isinstance(lazy, da.Array)
        assert lazy.shape == end.shape
        for each in (lazy.compute(), np.concatenate(dask.compute(*parts)), frame.compute()):
            assert_allclose(each, end, rtol=1e-12, atol=1e-12)
    said = "X is a collection of Dask; predictions, scores and decision_bounds of linear"
    with pytest.raises(ValueError, match=said):
        model.score_bounds(scattered(X)[0], y)
    with pytest.raises(ValueError, match=said):
        SVC().fit(X[:90], y[:90]).predict(scattered(X)[0])


@pytest.mark.nightly
def test_nothing_is_left_on_the_cluster(client: Client) -> None:
    """Not even until the garbage collector has seen to cycles."""
    X, y, _ = sample()
    gc.collect()
    gc.disable()
    try:
        LinearSVC().fit(*scattered(X, y))
        assert not tasks_left(client)
        LinearSVC().path(*scattered(X, y), [0.1, 1.0])
        assert not tasks_left(client)
        LinearSVCCV(Cs=[0.1, 1.0], cv=2).fit(*scattered(X, y))
        assert not tasks_left(client)
    finally:
        gc.enable()


def test_nothing_is_left_of_a_fit_that_fails(client: Client) -> None:
    """Though the error is kept, and with it all that its frames hold."""
    X, y, _ = sample()

    def fail(step: Any) -> None:
        raise ArithmeticError("no more")

    with pytest.raises(ArithmeticError) as kept:
        LinearSVC(on_step=fail).fit(*scattered(X, y))
    assert not tasks_left(client)
    with pytest.raises(ValueError, match="only one class") as other:
        LinearSVC().fit(*scattered(X, np.zeros(len(y))))
    assert not tasks_left(client)
    assert kept.tb is not None
    assert other.tb is not None


@pytest.mark.nightly
def test_a_loss_of_ones_own(client: Client) -> None:
    """Made where no other process finds it."""

    class Twice(Hinge):
        pass

    class Deciding(Hinge):
        def decide(self, scores: Any) -> Any:
            return scores > 1.0

    X, y, _ = sample()
    assert_same(LinearSVC(loss=Twice).fit(*scattered(X, y)), LinearSVC(loss=Hinge).fit(X, y))
    with pytest.raises(ValueError, match="a `decide` of its own"):
        LinearSVC(loss=Deciding).fit(*scattered(X, y))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "options", [{}, {"class_weight": "balanced", "intercept_scaling": 1.0}, {"scoring": "roc_auc"}], ids=str
)
def test_cross_validation(client: Client, options: dict[str, Any]) -> None:
    X, y, weights = sample()
    rows, labels, weigh = scattered(X, y, weights)
    grid, folds = [1e-4, 1e-2, 1.0], 3
    model = LinearSVCCV(grid, cv=folds, **options).fit(rows, labels, weigh)
    held_out = [folds_of(y, CHUNKS, number, folds) for number in range(folds)]
    assert_array_equal(np.sort(np.concatenate(held_out)), np.arange(N))
    splits = [(np.setdiff1d(np.arange(N), part), part) for part in held_out]
    alone = LinearSVCCV(grid, cv=splits, **options).fit(X, y, weights)
    assert model.C_ == alone.C_
    assert_allclose(model.scores_, alone.scores_, atol=0.01)
    assert_same(model, alone)


@pytest.mark.nightly
def test_weights_judge_logistic_regression(client: Client) -> None:
    X, y, weights = sample()
    weights = np.where(X[:, 2] > 0.0, 20.0, 0.1) * weights
    splits = [(np.setdiff1d(np.arange(N), part), part) for part in (folds_of(y, CHUNKS, k, 2) for k in range(2))]
    options: dict[str, Any] = {"Cs": [0.01, 1.0], "scoring": "neg_log_loss", "tol": 1e-6}
    model = LogisticRegressionCV(cv=2, **options).fit(*scattered(X, y, weights))
    assert_allclose(model.scores_, LogisticRegressionCV(cv=splits, **options).fit(X, y, weights).scores_, atol=1e-4)
    unweighted = LogisticRegressionCV(cv=2, **options).fit(*scattered(X, y))
    assert np.abs(model.scores_ - unweighted.scores_).min() > 1e-3


def folds_of(y: Any, chunks: tuple[int, ...], number: int, folds: int) -> Any:
    """One after the other, label by label: which rows a fold leaves out."""
    found, begin = [], 0
    for turn, size in enumerate(chunks):
        for label in np.unique(y[begin : begin + size]):
            rows = begin + np.flatnonzero(y[begin : begin + size] == label)
            found += [row for rank, row in enumerate(rows) if (rank * folds // len(rows) + turn) % folds == number]
        begin += size
    return np.sort(np.array(found))


@pytest.mark.nightly
def test_cross_validation_of_targets(client: Client) -> None:
    X, _, _ = sample()
    z = 3.0 * X[:, 0] + np.sin(np.arange(N))
    model = LinearSVRCV([1e-6, 1.0], cv=3).fit(*scattered(X, z))
    assert model.C_ == 1.0
    assert model.scores_.shape == (2, 3)
    assert np.all(model.scores_[1] > 0.9)
    assert_same(model, LinearSVR(C=1.0).fit(X, z))


@pytest.mark.nightly
def test_workers_that_come_are_used(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutplane.cluster.post._NEWCOMERS", 0.0)
    X, y, _ = sample()
    cluster = client.cluster
    seen: list[int] = []

    def on_step(step: Any) -> None:
        if not seen:
            cluster.scale(4)
            client.wait_for_workers(4, timeout=30)
        seen.append(sum(count > 0 for count in client.run(actors_there).values()))

    chunks = ((150,) * 6, (D,))
    rows, labels = da.from_array(X, chunks=chunks), da.from_array(y, chunks=chunks[:1])
    try:
        model = LinearSVC(tol=1e-7, on_step=on_step).fit(rows, labels)
    finally:
        cluster.scale(2)
    assert seen[0] == 2
    assert seen[-1] == 4
    assert_same(model, LinearSVC(tol=1e-7).fit(X, y))


def actors_there(dask_worker: Any) -> int:
    """Parts that lie on a worker."""
    return sum(len(actor._examples) for actor in dask_worker.state.actors.values() if hasattr(actor, "_examples"))


@pytest.mark.nightly
def test_two_fits_at_once(client: Client) -> None:
    X, y, _ = sample()
    rows, labels = scattered(X, y)
    with ThreadPoolExecutor(2) as pool:
        fits = [pool.submit(LinearSVC(loss=loss).fit, rows, labels) for loss in ("hinge", "logistic")]
        found = [fit.result(timeout=60) for fit in fits]
    assert_array_equal(found[0].coef_, LinearSVC().fit(rows, labels).coef_)
    assert_array_equal(found[1].coef_, LinearSVC(loss="logistic").fit(rows, labels).coef_)


def test_a_time_limit_and_steps(client: Client) -> None:
    X, y, _ = sample()
    rows, labels = scattered(X, y)
    steps: list[Any] = []
    LinearSVC(on_step=steps.append).fit(rows, labels)
    assert steps
    with pytest.warns(ConvergenceWarning, match="ran out of time"):
        model = LinearSVC(tol=1e-9, time_limit=1e-6).fit(rows, labels)
    assert model.lower_bound_ <= LinearSVC().fit(X, y).objective_ <= model.objective_ * (1.0 + 1e-3)


def test_what_is_refused(client: Client) -> None:
    X, y, weights = sample()
    rows, labels, weigh = scattered(X, y, weights)
    broken = X.copy()
    broken[300, 2] = np.nan
    with pytest.raises(ValueError, match="In partition 1: Row 50 of X has the value NaN in column 2"):
        LinearSVC().fit(scattered(broken)[0], labels)
    with pytest.raises(ValueError, match=r"In partition 0: .*negative"):
        LinearSVC().fit(rows, labels, weigh - 1.0)
    with pytest.raises(ValueError, match="weight is zero for every example"):
        LinearSVC().fit(rows, labels, weigh * 0.0)
    with pytest.raises(ValueError, match="only one class"):
        LinearSVC().fit(rows, da.full(N, "x", chunks=(CHUNKS,)))
    with pytest.raises(ValueError, match="X has 900 rows, but y has 899"):
        LinearSVC().fit(rows, da.from_array(y[1:], chunks=100))
    with pytest.raises(ValueError, match="X has 3 partitions, but y has 2"):
        LinearSVC().fit(rows, [dask.delayed(y[:450]), dask.delayed(y[450:])])
    with pytest.raises(ValueError, match="'ovr' is"):
        LinearSVC(multi_class="crammer_singer").fit(rows, labels)
    with pytest.raises(ValueError, match="calibration is learned in one place"):
        LinearSVC(calibration="sigmoid").fit(rows, labels)
    with pytest.raises(ValueError, match="not a sum over examples"):
        LinearSVC(loss="roc_area").fit(rows, labels)
    with pytest.raises(ValueError, match="say into how many"):
        LinearSVCCV([1.0], cv=KFold(3)).fit(rows, labels)
    with pytest.raises(ValueError, match="the name of a scorer will do"):
        LinearSVCCV([1.0], scoring=lambda model, X, y: 1.0).fit(rows, labels)
    with pytest.raises(ValueError, match="keep_proof"):
        LinearSVC(keep_proof=True).fit(rows, labels)


@pytest.mark.parametrize(
    "model",
    [SVC(), OneClassSVM(), SampledCutSVC(), OrdinalSVC(), StringSVC(), SequenceSVM(), StructuralSVM(ChainModel(2, D))],
    ids=lambda model: type(model).__name__,
)
def test_what_trains_in_one_process_says_so(model: Any) -> None:
    X, y, _ = sample()
    for rows, labels in (scattered(X, y), ([dask.delayed(X)], [dask.delayed(y)])):
        with pytest.raises(ValueError, match=r"is a collection of Dask; LinearSVC, .* all else in one process"):
            model.fit(rows, labels)


def test_a_fit_needs_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise ValueError("No global client found")

    monkeypatch.setattr(distributed, "get_client", none)
    X, y, _ = sample()
    with pytest.raises(ValueError, match=r"client = dask.distributed.Client\(\)"):
        LinearSVC().fit(*scattered(X, y))
