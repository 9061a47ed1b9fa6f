"""Tables of pandas, Polars and Arrow, arrays of other libraries, small types: the right model, or one sentence."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cutplane import SVC, LinearSVC, LinearSVR

rng = np.random.default_rng(0)
X = np.round(4.0 * rng.normal(size=(60, 3))) / 4.0
y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)
COLUMNS = {name: X[:, k] for k, name in enumerate("abc")}
WORDS = ["x", "y"] * 30
DAY = np.datetime64("2020-01-01", "us")

FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas, nullable": pd.DataFrame(COLUMNS).astype("Float64"),
    "pandas, Arrow": pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, categories of numbers": pd.DataFrame(COLUMNS).astype({"b": "category"}),
    "pandas, mixed": pd.DataFrame(COLUMNS).astype({"b": "float32"}),
    "Polars": pl.DataFrame(COLUMNS),
    "Polars, mixed": pl.DataFrame(COLUMNS).with_columns(b=pl.col("b").cast(pl.Float32)),
    "Polars, decimal": pl.DataFrame(COLUMNS).with_columns(b=pl.col("b").cast(pl.Decimal(10, 2))),
    "Arrow": pa.table(COLUMNS),
    "Arrow, in chunks": pa.concat_tables([pa.table(COLUMNS)[:25], pa.table(COLUMNS)[25:]]),
    "Arrow, decimal": pa.table(COLUMNS | {"b": pa.array(X[:, 1]).cast(pa.decimal128(10, 2))}),
}


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("kind", [LinearSVC, LinearSVR, SVC])
def test_a_table_is_its_numbers(kind: Any, name: str) -> None:
    frame, plain = FRAMES[name], kind(tol=1e-6).fit(X, y)
    model = kind(tol=1e-6).fit(frame, y)
    np.testing.assert_allclose(model.predict(frame), plain.predict(X), atol=1e-5)
    assert model.feature_names_in_.tolist() == list("abc")
    turned = frame.select(["b", "a", "c"]) if hasattr(frame, "select") else frame[["b", "a", "c"]]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(turned)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("column", "says"),
    [
        (WORDS, "Column 'b' of X has the value 'x' in row 0; features must be numbers"),
        ([DAY] * 60, "Column 'b' of X holds dates"),
        ([DAY - DAY] * 60, "Column 'b' of X holds spans of time"),
        ([float("nan"), *X[1:, 1]], "Row 0 of X has the value NaN in column 1"),
    ],
)
def test_what_is_no_number_is_one_sentence(make: Any, column: Any, says: str) -> None:
    frame = make(COLUMNS | {"b": np.array(column)})
    with pytest.raises(ValueError, match=says):
        LinearSVC().fit(frame, y)
    with pytest.raises(ValueError, match=says):
        LinearSVC().fit(make(COLUMNS), y).predict(frame)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(COLUMNS).assign(b=pd.Categorical(WORDS)),
        pl.DataFrame(COLUMNS).with_columns(b=pl.Series(WORDS, dtype=pl.Categorical)),
        pa.table(COLUMNS | {"b": pa.array(WORDS).dictionary_encode()}),
    ],
)
def test_categories_of_words_are_one_sentence(frame: Any) -> None:
    with pytest.raises(ValueError, match="Column 'b' of X has the value 'x' in row 0"):
        LinearSVC().fit(frame, y)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(COLUMNS).astype("Float64").mask(X > 1.5),
        pl.DataFrame(COLUMNS).with_columns(pl.when(pl.col("a") > 1.5).then(None).otherwise(pl.col("a")).alias("a")),
        pa.table(COLUMNS | {"a": pa.array([None if value > 1.5 else value for value in X[:, 0].tolist()])}),
    ],
)
def test_what_is_missing_is_one_sentence(frame: Any) -> None:
    with pytest.raises(ValueError, match=r"Row \d+ of X has the value NaN in column"):
        LinearSVC().fit(frame, y)


def test_lists_and_lazy_frames_are_one_sentence() -> None:
    frame = pl.DataFrame(COLUMNS)
    with pytest.raises(ValueError, match="Column 'b' of X holds lists"):
        LinearSVC().fit(frame.with_columns(b=pl.Series([[1.0]] * 60)), y)
    with pytest.raises(ValueError, match=r"X is a lazy frame, which has no values yet; X\.collect\(\)"):
        LinearSVC().fit(frame.lazy(), y)


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(WORDS, dtype="category"),
        pd.Series(WORDS, dtype="string"),
        pl.Series(WORDS),
        pl.Series(WORDS, dtype=pl.Categorical),
        pa.array(WORDS),
        pa.array(WORDS).dictionary_encode(),
        pa.chunked_array([WORDS[:20], WORDS[20:]]),
    ],
)
def test_labels_of_any_of_them(labels: Any) -> None:
    model = LinearSVC().fit(X, labels)
    assert model.classes_.tolist() == ["x", "y"]
    np.testing.assert_array_equal(model.coef_, LinearSVC().fit(X, WORDS).coef_)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "float16", "bfloat16", "longdouble"])
def test_small_types_are_their_numbers(dtype: str, order: Any) -> None:
    kind = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    # Products of such numbers are beyond their range: 200 * 200 is 64 in uint8, and infinite in float16 for 300.
    values = {"bool": X > 0, "uint8": 200 + 4 * X, "int8": 30 * X, "int16": 9000 * X}.get(dtype, 300.0 * X)
    given = np.asarray(values, order=order).astype(kind)
    wide = given.astype(np.float64)
    for make in (LinearSVC, LinearSVR, SVC):
        model, plain = make().fit(given, y), make().fit(wide, y)
        np.testing.assert_allclose(model.predict(given), plain.predict(wide), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(LinearSVC().fit(given, y).coef_, LinearSVC().fit(wide, y).coef_, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "longdouble"])
def test_what_is_not_finite_is_refused_in_small_types(dtype: str) -> None:
    kind = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    given = X.astype(kind)
    given[2, 1] = np.nan
    for task in (lambda: LinearSVC().fit(given, y), lambda: LinearSVC().fit(X, y).predict(given)):
        with pytest.raises(ValueError, match="Row 2 of X has the value NaN in column 1"):
            task()


class Tensor:
    """What a library of tensors offers: memory by DLPack, on some device."""

    def __init__(self, values: Any, device: int = 1, grad: bool = False) -> None:
        self.values, self.device, self.grad = values, device, grad
        self.shape, self.dtype = values.shape, "float64 of another library"

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **options: Any) -> Any:
        if self.grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach().")
        return self.values.__dlpack__(**options)

    def __array_namespace__(self) -> Any:
        raise AssertionError("scikit-learn's dispatch has taken over")


def test_arrays_of_another_library_are_read_where_they_lie() -> None:
    model, plain = LinearSVC().fit(Tensor(X), Tensor(y)), LinearSVC().fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(Tensor(X)), plain.predict(X))
    np.testing.assert_array_equal(SVC().fit(Tensor(X), Tensor(y)).predict(Tensor(X)), SVC().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="X lies in the memory of another device"):
        model.predict(Tensor(X, device=10))
    with pytest.raises(ValueError, match="X is a Tensor that NumPy cannot read: Can't export tensors that require"):
        model.predict(Tensor(X, grad=True))
