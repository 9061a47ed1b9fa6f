"""A problem and the ways to train on it, both as Python source: what is run is what a failure shows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cutplane._types import Params

_IMPORTS = """\
import copy
import numpy as np
import scipy.sparse as sp
import cutplane
"""


@dataclass(frozen=True)
class Way:
    """One way to train: all that changes neither the problem nor its optimum, and other C on the way.

    Attributes
    ----------
    settings : mapping
        Further parameters of the estimator: method, tol, max_iter and the like.
    storage : str
        What is made of X: an expression of X.
    first : mapping, optional
        Parameters of a fit before, with ``warm_start=True``; None: there is none.
    Cs : tuple of float
        A path over these values of C, where it is not empty.
    """

    settings: Params
    storage: str = "X"
    first: Params | None = None
    Cs: tuple[float, ...] = ()


@dataclass(frozen=True)
class Problem:
    """A problem of one estimator.

    Attributes
    ----------
    estimator : str
        Its name in `cutplane`.
    settings : mapping
        The parameters that the optimum depends on, C among them where there is one.
    data : mapping
        What `fit` is called with by name: X first (dense, float64), then y and the like; None is left out.
    ways : sequence of Way
    prelude : str
        Source that stands before the data.
    """

    estimator: str
    settings: Params
    data: Params
    ways: tuple[Way, ...]
    prelude: str = ""
    #: What tables of results call it, beside the estimator.
    loss: str = ""
    #: Small enough for a general solver of convex programs.
    small: bool = field(default=False)

    @property
    def given(self) -> Params:
        """The data that there are."""
        return {name: value for name, value in self.data.items() if value is not None}

    def data_source(self) -> str:
        """Statements that make the data."""
        lines = [f"{name} = {literal(value)}" for name, value in self.given.items()]
        return "\n".join([_IMPORTS + self.prelude, *lines]) + "\n"

    def way_source(self, way: Way) -> str:
        """Statements that train, after those that make the data; `models` are all that were trained."""
        settings = {**self.settings, **way.settings}
        named = [f"{name}={name}" for name in self.given if name not in ("X", "y")]
        examples = [way.storage, *(["y"] if "y" in self.given else [])]
        maker = f"cutplane.{self.estimator}"
        if way.Cs:
            call = ", ".join([*examples, literal(list(way.Cs)), *named])
            return f"models = {maker}({arguments(settings)}).path({call})\nmodel = models[0]\n"
        call = ", ".join([*examples, *named])
        if way.first is None:
            return f"model = {maker}({arguments(settings)}).fit({call})\nmodels = [model]\n"
        before = {**settings, **way.first, "warm_start": True}
        then = {name: settings[name] for name in way.first if name in settings}
        return (
            f"model = {maker}({arguments(before)}).fit({call})\n"
            f"first = copy.copy(model)\n"
            f"model.set_params({arguments(then)}).fit({call})\n"
            "models = [first, model]\n"
        )


def arguments(settings: Params) -> str:
    """Keyword arguments as source."""
    return ", ".join(f"{name}={literal(value)}" for name, value in settings.items())


class Source(str):
    """Source that stands for itself among settings."""

    __slots__ = ()


def literal(value: object) -> str:
    """A value as source that makes it again, to the last bit."""
    if isinstance(value, Source):
        return str(value)
    if isinstance(value, np.ndarray):
        kind = "" if value.dtype.kind in "OUS" or value.dtype in (np.float64, np.int64) else f", dtype=np.{value.dtype}"
        return f"np.array({value.tolist()!r}{kind})"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, np.generic):
        return repr(value.item())
    return repr(value)
