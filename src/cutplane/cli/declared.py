"""A command whose arguments and options are the fields of a dataclass, so that each is declared once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from importlib import import_module
from inspect import Parameter, Signature
from typing import Any, get_type_hints

import typer


def declared(options: type, worker: str, doc: str) -> Callable[..., int]:
    """A function with a parameter for each field of `options`, as typer reads them.

    It hands an instance, and the context of the command, to the function that `worker` names as "module:function".
    That is imported then, not before: help has no need of it.
    """
    module, _, name = worker.partition(":")

    def command(context: typer.Context, **values: Any) -> int:
        status: int = getattr(import_module(module), name)(options(**values), context)
        return status

    hints = get_type_hints(options, include_extras=True)
    parameters = [Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    for field in fields(options):
        default = Parameter.empty if field.default is MISSING else field.default
        parameters.append(Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name]))
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__doc__ = doc
    return command
