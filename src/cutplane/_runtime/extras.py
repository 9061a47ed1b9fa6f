"""Packages that only some features need: one sentence says how to get the one that is missing."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec


class MissingExtraError(ImportError):
    """A feature needs a package that `pip install cutplane` alone does not bring."""


def require(package: str, extra: str, feature: str) -> None:
    """Raise `MissingExtraError` unless `package` is installed.

    Parameters
    ----------
    package : str
        What is about to be imported.
    extra : str
        The extra of Cutplane that brings it.
    feature : str
        What needs it: the beginning of the sentence, in the plural.
    """
    found = None
    with suppress(ModuleNotFoundError):
        found = find_spec(package)
    if found is None:
        raise MissingExtraError(f"{feature} need {package}: pip install 'cutplane[{extra}]'.", name=package)
