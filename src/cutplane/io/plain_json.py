"""Python values as strict JSON, and back.

JSON has no infinity, no NaN and no keys but strings; estimator parameters have all three
(``class_weight={-1: 2.0, 1: 1.0}``). Those few are written as objects with one key that starts
with ``$``, so that any JSON reader can open a model file and `decode` gives back what went in.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def encode(value: object) -> Json:
    """Return `value` in terms of JSON; `TypeError` if it has none (a function, a generator, ...)."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": repr(float(value))}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return _encode_pairs(value)
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def _encode_pairs(pairs: dict[object, object]) -> Json:
    if all(isinstance(key, str) and not key.startswith("$") for key in pairs):
        return {str(key): encode(item) for key, item in pairs.items()}
    return {"$pairs": [[encode(key), encode(item)] for key, item in pairs.items()]}


def decode(value: Json) -> object:
    """Return what `encode` was given; `ValueError` if `value` is nothing `encode` writes."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"$float"} and value["$float"] in ("inf", "-inf", "nan"):
        return float(str(value["$float"]))
    if set(value) == {"$pairs"}:
        return _decode_pairs(value["$pairs"])
    return {key: decode(item) for key, item in value.items()}


def _decode_pairs(pairs: Json) -> dict[object, object]:
    if not isinstance(pairs, list):
        raise ValueError("$pairs is not a list")
    decoded: dict[object, object] = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], list):
            raise ValueError("$pairs holds something other than [key, value]")
        key = decode(pair[0])
        if isinstance(key, dict):
            raise ValueError("$pairs has a key that cannot be one")
        decoded[key] = decode(pair[1])
    return decoded
