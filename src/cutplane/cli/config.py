"""`--config run.toml`: arguments and options from a file; and what such a file says of a run."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from cutplane.cli.options import OUTPUT
from cutplane.cli.streams import as_given

# They say how a run is shown, not what it does.
_SHOWN = ("config", "json", "quiet", "debug", "help")


def _long_name(parameter: Any) -> str:
    """What a parameter is called in the file: --C is C, DATA is data."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name).strip("[]{}").lower()
    return str(next(name for name in parameter.opts if name.startswith("--"))).removeprefix("--")


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Let the file say what the command line does not."""
    if path is None or context.resilient_parsing:
        return path
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path} is no TOML file: {error}.") from None
    names = {_long_name(parameter): parameter.name for parameter in context.command.params}
    for name in found:
        if name not in names or name in _SHOWN:
            known = ", ".join(sorted(set(names) - set(_SHOWN)))
            raise typer.BadParameter(f"{path} has {name!r}, which is no option here; there are {known}.")
    # A list is an option that is repeated. The others are read as if they had been written on the command line.
    context.default_map = {
        names[name]: value if isinstance(value, (list, bool)) else str(value) for name, value in found.items()
    }
    return path


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        callback=read_config,
        is_eager=True,
        metavar="FILE",
        help="Arguments and options from a TOML file (C = 10.0); the command line goes first. "
        "'cutplane info --reproduce' writes one.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]


def recorded(context: typer.Context) -> dict[str, object]:
    """The arguments and options that were given, by their names in such a file."""
    options: dict[str, object] = {}
    for parameter in context.command.params:
        source, value = context.get_parameter_source(parameter.name or ""), context.params.get(parameter.name or "")
        name = _long_name(parameter)
        if name not in _SHOWN and value is not None and source is not None and source.name != "DEFAULT":
            options[name] = _plain(value)
    return options


def as_toml(options: dict[str, object]) -> str:
    """The text of a file with these options."""
    # JSON's strings, numbers, lists and booleans are TOML's, too.
    return "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in options.items())


def _plain(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, bool) or value is None:
        return value
    # An enumeration's text is its value.
    return value if type(value) in (int, float) else as_given(str(value))
