"""Compiled kernels, kept on disk: NVRTC sees a text once on a machine.

CuPy keeps what it compiles, too, but not always kernels that are templates of several types: processes of CuPy 13 and
14.1 compile these anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_OPTIONS = ("-std=c++17",)


class Compiled(NamedTuple):
    """Machine code, and what kernels are called in it, by their names in the text."""

    code: bytes
    names: dict[str, str]


def folder() -> Path:
    """Where compiled kernels are kept: with CuPy's own."""
    return Path(os.environ.get("CUPY_CACHE_DIR") or Path.home() / ".cupy" / "kernel_cache")


def kept(key: str, compile_: Callable[[], Compiled]) -> Compiled:
    """What was compiled for a key, by this process or another one; compiled now where nothing whole is found."""
    path = folder() / f"cutplane-{hashlib.sha256(key.encode()).hexdigest()}.bin"
    found = _read(path)
    if found is None:
        found = compile_()
        with suppress(OSError):  # a disk that is full, or not ours: the next process compiles again
            _write(path, found)
    return found


def _read(path: Path) -> Compiled | None:
    try:
        digest, rest = path.read_bytes().split(b"\n", 1)
    except (OSError, ValueError):
        return None
    if hashlib.sha256(rest).hexdigest().encode() != digest:
        return None
    names, code = rest.split(b"\n", 1)
    return Compiled(code, json.loads(names))


def _write(path: Path, compiled: Compiled) -> None:
    """In one piece: other processes see all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rest = json.dumps(compiled.names).encode() + b"\n" + compiled.code
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


class Kernel:
    """A kernel on whichever GPU is current when it is started.

    Parameters
    ----------
    text : callable
        Gives what is compiled.
    names : tuple of str
        Templates that are compiled together.
    name : str
        One of these, or a kernel that is no template.
    """

    def __init__(self, text: Callable[[], str], names: tuple[str, ...], name: str) -> None:
        self._text, self._names, self._name = text, names, name
        self._there: dict[int, Any] = {}

    def __call__(self, grid: Any, block: Any, arguments: Any, *, shared_mem: int = 0) -> None:
        """Start it, as CuPy's kernels are started."""
        import cupy

        device = cupy.cuda.runtime.getDevice()
        function = self._there.get(device)
        if function is None:
            module, names = _loaded(self._text, self._names, device)
            function = self._there[device] = module.get_function(names.get(self._name, self._name))
        function(grid, block, arguments, shared_mem=shared_mem)


@cache
def kernel(text: Callable[[], str], name: str, names: tuple[str, ...] = ()) -> Kernel:
    """A kernel of a text; `names` are templates that are compiled together."""
    return Kernel(text, names, name)


@cache
def _loaded(text: Callable[[], str], names: tuple[str, ...], device: int) -> tuple[Any, dict[str, str]]:
    """The module on a GPU, the current one."""
    import cupy

    source, version = text(), (cupy.cuda.nvrtc.getVersion(), cupy.cuda.runtime.driverGetVersion())
    capability = cupy.cuda.Device(device).compute_capability
    key = "\0".join([source, *names, *_OPTIONS, str(version), str(capability)])
    compiled = kept(key, lambda: _compiled(source, names))
    module = cupy.cuda.function.Module()
    module.load(compiled.code)
    return module, compiled.names


def _compiled(source: str, names: tuple[str, ...]) -> Compiled:
    from cupy.cuda import compiler

    code, lowered = compiler.compile_using_nvrtc(source, _OPTIONS, name_expressions=names or None)
    return Compiled(bytes(code), {name: str(lowered[name]) for name in names})
