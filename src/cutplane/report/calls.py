"""The Python call that trains a model again, written so that it runs."""

from __future__ import annotations

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
    if isinstance(value, np.ndarray):
        inner = written(value.tolist())
        return None if inner is None else f"np.array({inner}, dtype={value.dtype.str!r})"
    if isinstance(value, dict):
        pairs = [(written(key), written(each)) for key, each in value.items()]
        known = [f"{key}: {each}" for key, each in pairs if key is not None and each is not None]
        return f"{{{', '.join(known)}}}" if len(known) == len(pairs) else None
    if isinstance(value, (list, tuple)):
        items = [written(each) for each in value]
        if any(each is None for each in items):
            return None
        inside = ", ".join(each for each in items if each is not None)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(items) == 1 else ''})"
    return None


def _described(value: object) -> str:
    name = getattr(value, "__qualname__", None)
    return f"your own {name}" if name else f"your own {type(value).__name__}"


def _same(a: object, b: object) -> bool:
    try:
        return a is b or bool(a == b)
    except ValueError:  # an array
        return False
