"""Proofs of any bytes, put into models: what `verify` then says of them must be true, or a sentence."""

from __future__ import annotations

import json
import struct
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cutplane import LinearOneClassSVM, LinearSVC, LinearSVR, NuSVC, verify
from cutplane.estimators.restoring import restore
from cutplane.io.model_file import ModelFile, read_model
from cutplane.io.plain_json import decode, encode

_TYPES = ("u1", "u2", "u4", "i1", "i2", "i4", "i8", "f8")
_NAMES = ("proof.0", "proof.start", "proof.classes", "proof.numbers")


@cache
def models() -> list[tuple[ModelFile, Any, Any, float, float]]:
    """Files of small models with proofs, their data, and bounds on the optimum that fits proved."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(12, 2)), 1)
    two, three = np.arange(12) % 2, np.arange(12) % 3
    fits: list[tuple[Any, Any]] = [
        (LinearSVC(keep_proof=True, tol=1e-6), two),
        (LinearSVC(keep_proof=True, multi_class="crammer_singer", tol=1e-6), three),
        (NuSVC(nu=0.4, keep_proof=True, tol=1e-6), two),
        (LinearSVR(keep_proof=True, loss="huber", tol=1e-6), X[:, 0] + 0.3 * two),
        (LinearOneClassSVM(0.3, keep_proof=True, tol=1e-6), two),
    ]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for model, y in fits:
            model.fit(X, y).save(Path(folder) / "m", proof=True)
            found.append((read_model(Path(folder) / "m"), X, y, float(model.objective_), float(model.lower_bound_)))
    return found


def seed(index: int) -> bytes:
    """The input that is a model's own proof."""
    file = models()[index][0]
    arrays = [(k, file.arrays[name]) for k, name in enumerate(_NAMES) if name in file.arrays]
    text = json.dumps(encode(file.metadata["proof"])).encode()
    parts = [struct.pack("<BBH", k, _TYPES.index(array.dtype.str[1:]), array.nbytes) for k, array in arrays]
    heads = b"".join(part + array.tobytes() for part, (_, array) in zip(parts, arrays, strict=True))
    return bytes([index]) + text + b"\0" + heads


def _arrays(data: bytes) -> dict[str, Any]:
    arrays, place = {}, 0
    while place + 4 <= len(data):
        name, kind, size = struct.unpack_from("<BBH", data, place)
        dtype = np.dtype(_TYPES[kind % len(_TYPES)])
        body = data[place + 4 : place + 4 + size]
        arrays[_NAMES[name % len(_NAMES)]] = np.frombuffer(body[: len(body) // dtype.itemsize * dtype.itemsize], dtype)
        place += 4 + size
    return arrays


def feed(data: bytes) -> None:
    """The first byte chooses a model; JSON up to a zero byte is its proof; then come arrays."""
    if not data:
        return
    file, X, y, upper, lower = models()[data[0] % len(models())]
    text, _, rest = data[1:].partition(b"\0")
    try:
        stored = decode(json.loads(text))
    except (ValueError, RecursionError):
        return  # the matter of other targets
    own = {name: array for name, array in file.arrays.items() if not name.startswith("proof.")}
    metadata = {**file.metadata, "proof": stored}
    model = restore(ModelFile(file.kind, {**own, **_arrays(rest)}, metadata, file.format_version))
    with np.errstate(all="ignore"):
        (bounds,) = verify(model, X, y)
    # Whatever was put in, what is said of the model is true of it.
    assert bounds.lower_bound <= upper, bounds
    assert bounds.objective >= lower, bounds
