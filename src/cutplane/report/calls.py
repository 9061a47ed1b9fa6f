"""The Python call that trains a model again, written so that it runs."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from os import PathLike, fspath

import numpy as np
from sklearn.base import BaseEstimator, is_outlier_detector

from cutplane._types import Params

# What does not change the model: where it tells of its progress, and what else it keeps.
_SILENT = ("on_step", "verbose", "checkpoint", "checkpoint_every")


def chosen_params(model: BaseEstimator) -> Params:
    """The parameters of a model, without those that change nothing about it."""
    found = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    return {name: value for name, value in found.items() if name not in _SILENT}


def plain_params(model: BaseEstimator) -> Params:
    """The same as JSON can hold them; in place of what is no data, such as a function, what it is in words."""
    return {name: _plain(value) for name, value in chosen_params(model).items()}


def _plain(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, PathLike):
        return fspath(value)
    return value if value is None or isinstance(value, bool | int | float | str) else _described(value)


def training_code(model: BaseEstimator, loading: str | None = None) -> str:
    """Python that trains a model alike, with the parameters that are not the defaults.

    Parameters
    ----------
    model : fitted estimator
    loading : str, optional
        Lines that read X and y (and qid); without them these names are left to the reader.

    Returns
    -------
    str
        What Python cannot write down (a function, say) is a name too, with a comment that says what it was.
    """
    name = type(model).__name__
    defaults = {key: each.default for key, each in signature(type(model).__init__).parameters.items()}
    params, comments = [], []
    for key, value in chosen_params(model).items():
        if key != "C" and _same(value, defaults.get(key)):
            continue
        words = written(value)
        if words is None:
            comments.append(f"# {key}: {_described(value)}")
        params.append(f"{key}={key if words is None else words}")
    targets = ", y, qid=qid" if getattr(model, "n_queries_", 1) > 1 else ", y"
    data = "X" if is_outlier_detector(model) else f"X{targets}"
    numpy = ["import numpy as np"] if any("np." in each for each in params) else []
    lines = [*numpy, f"from cutplane import {name}", *([] if loading is None else [loading]), ""]
    return "\n".join([*lines, *comments, f"model = {name}({', '.join(params)}).fit({data})"])


def written(value: object) -> str | None:
    """`value` as an expression of Python; None where it has none."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if np.isfinite(value) else f'float("{value}")'
    if isinstance(value, PathLike):
        return repr(fspath(value))
    return _written_whole(value)


def _written_whole(value: object) -> str | None:
    """The same of what is made of other values: None where one of these has no expression."""
    if isinstance(value, np.ndarray):
        inner = written(value.tolist())
        return None if inner is None else f"np.array({inner}, dtype={value.dtype.str!r})"
    if isinstance(value, dict):
        keys, values = _written_each(list(value)), _written_each(list(value.values()))
        if keys is None or values is None:
            return None
        return "{" + ", ".join(f"{key}: {each}" for key, each in zip(keys, values, strict=True)) + "}"
    if not isinstance(value, (list, tuple)) or (items := _written_each(value)) is None:
        return None
    inside = ", ".join(items)
    return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(items) == 1 else ''})"


def _written_each(values: Sequence[object]) -> list[str] | None:
    found = [written(each) for each in values]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else None


def _described(value: object) -> str:
    name = getattr(value, "__qualname__", None)
    return f"your own {name}" if name else f"your own {type(value).__name__}"


def _same(a: object, b: object) -> bool:
    try:
        return a is b or bool(a == b)
    except ValueError:  # an array
        return False
