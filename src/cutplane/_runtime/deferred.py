"""Modules that are imported when they are first used, though a library imports them at once.

scikit-learn imports SciPy's statistics and pandas as it begins, which takes a second or two, and uses either for few
of its estimators. For the command, which is done in less, both wait until something asks for a name in them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


class _Deferred(ModuleType):
    """Stands in for a module. Whoever has imported it gets every name from the real one."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # what the import system asks for
            raise AttributeError(name)
        _remove(self.__name__)
        return getattr(import_module(self.__name__), name)


@contextmanager
def deferred(*names: str) -> Iterator[None]:
    """Within, an import of one of these modules is put off. Those that are loaded, or missing, are left alone."""
    for name in names:
        if name not in sys.modules and find_spec(name) is not None:
            _place(name)
    try:
        yield
    finally:
        for name in names:
            _remove(name)


def _place(name: str) -> None:
    stand_in = _Deferred(name)
    sys.modules[name] = stand_in
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, stand_in)


def _remove(name: str) -> None:
    """The next import finds the real module. Importing a module again would make a second one, so that stays."""
    if not isinstance(sys.modules.get(name), _Deferred):
        return
    del sys.modules[name]
    parent, _, own = name.rpartition(".")
    if parent:
        delattr(sys.modules[parent], own)
