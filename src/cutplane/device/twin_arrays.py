"""Arrays of "the device" that are NumPy's own: what would fail on a GPU fails with them."""

from __future__ import annotations

from typing import Any

import numpy as np

# Functions of NumPy's that CuPy has under the same name, and that are asked for.
_KNOWN = frozenset(
    [
        "abs",
        "amax",
        "argsort",
        "ascontiguousarray",
        "bincount",
        "clip",
        "concatenate",
        "copyto",
        "cumsum",
        "empty_like",
        "flatnonzero",
        "isin",
        "max",
        "min",
        "ones_like",
        "partition",
        "searchsorted",
        "sort",
        "stack",
        "sum",
        "unique",
        "where",
        "zeros_like",
    ]
)


class TwinArray(np.ndarray[Any, Any]):
    """An array of "the device": as with CuPy's, it does not mix with one of the host.

    What would fail on a GPU fails here: sums with arrays of the host, positions that lie there, functions that CuPy
    has not.
    """

    def __dlpack_device__(self) -> tuple[Any, Any]:
        """Where it would lie: on the first GPU."""
        return 2, 0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **settings: Any) -> Any:
        """Of arrays of the device and numbers only; what comes of it lies there, too, single numbers included."""
        for each in (*inputs, *(out or ())):
            if type(each) is np.ndarray and each.ndim:
                raise TypeError(f"{ufunc.__name__} of an array of the host and one of the device.")
        if settings.pop("initial", None) is not None:
            raise TypeError(f"{ufunc.__name__}.{method} has no initial value on the device.")
        plain = [each.view(np.ndarray) if isinstance(each, TwinArray) else each for each in inputs]
        if out:
            settings["out"] = tuple(each.view(np.ndarray) for each in out)
        found = getattr(ufunc, method)(*plain, **settings)
        return out[0] if out else on_twin(found)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """As CuPy, which has most of NumPy's functions, not all."""
        if function.__name__ not in _KNOWN or "initial" in kwargs:
            raise TypeError(f"numpy.{function.__name__} is not known on the device.")
        return on_twin(function(*_plain(args), **kwargs))

    def __getitem__(self, key: Any) -> Any:
        """Positions lie on the device."""
        if type(key) is np.ndarray and key.ndim:
            raise IndexError("Positions of the host in an array of the device.")
        return on_twin(super().__getitem__(key))


def _plain(given: Any) -> Any:
    """Arrays of the device as NumPy's own, in lists, too; none of the host may be among them."""
    if isinstance(given, (list, tuple)):
        return [_plain(each) for each in given]
    if type(given) is np.ndarray and given.ndim:
        raise TypeError("An array of the host among those of the device.")
    return given.view(np.ndarray) if isinstance(given, TwinArray) else given


def on_twin(array: Any) -> TwinArray:
    """An array, or a number, as one of the device."""
    return np.asarray(array).view(TwinArray)


class TwinNumPy:
    """NumPy whose functions give arrays of "the device"."""

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        return lambda *args, **kwargs: on_twin(function(*args, **kwargs))
