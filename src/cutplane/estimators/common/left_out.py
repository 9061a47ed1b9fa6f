"""Parameters that a model file cannot hold: what stands in their place after loading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The name of a function or an object that a model file does not hold: files hold no code.

    The loaded model predicts without it. It can be called as a loss can, and says what is missing.

    Parameters
    ----------
    parameter : str
        Of the estimator.
    name : str
        Of what it was, as `qualified_name` gives it.
    """

    parameter: str
    name: str

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        """Refuse to stand in for what was left out."""
        raise ValueError(
            f"{self.parameter} was {self.name}, which a model file does not hold; "
            f"set_params({self.parameter}=...) before another fit."
        )

    def __repr__(self) -> str:
        return f"<{self.name}, left out of the model file>"


def qualified_name(value: object) -> str:
    """The module and name of a function or class, or those of an object's class."""
    if isinstance(value, LeftOut):
        return value.name
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


def same_name(stored: str, value: object) -> bool:
    """Whether a file's import path is that of `value`; of a class that a script had, the last part has to do."""
    name = qualified_name(value)
    if stored.startswith("__main__."):
        return name.endswith(stored.removeprefix("__main__"))
    return name == stored


def loss_name(loss: object) -> str:
    """The name of a loss: that by which the library knows it, or the import path of the user's own."""
    return loss if isinstance(loss, str) else qualified_name(loss)
