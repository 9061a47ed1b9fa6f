"""Options of the commands that train, for kernel machines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from cutplane import _core
from cutplane.cli.options import KERNEL, not_negative, positive

# From the core itself: `cutplane.kernels` would import all that computes with them.
_TABLE = {entry.name: entry for entry in _core.kernels()}


class SampledCuts(StrEnum):
    """Where the cuts of a kernel machine come from."""

    linear = "linear"
    constant = "constant"
    exact = "exact"


def known_kernel(value: str | None) -> str | None:
    """Refuse a name that no kernel has."""
    if value is not None and value not in _TABLE:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, _TABLE))}.")
    return value


def _with(parameter: str) -> str:
    """The kernels that have this parameter, as help names them."""
    return "With --kernel " + " or ".join(name for name, entry in _TABLE.items() if parameter in entry.parameters)


def gamma_or_word(value: str) -> str | float:
    """A number, or "scale" or "auto"."""
    if value in ("scale", "auto"):
        return value
    try:
        number = positive(float(value))
    except ValueError:
        raise typer.BadParameter(f"{value!r} is not a number, 'scale' or 'auto'.", param_hint="--gamma") from None
    assert number is not None
    return number


@dataclass(frozen=True, kw_only=True)
class KernelOption:
    """Which kernel."""

    kernel: Annotated[
        str | None,
        typer.Option(
            "--kernel",
            callback=known_kernel,
            metavar=f"<{'|'.join(_TABLE)}>",
            autocompletion=lambda: list(_TABLE),
            help="Train a kernel machine by SMO, not a linear model.",
            show_default=False,
            rich_help_panel=KERNEL,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class KernelOptions:
    """What was asked for of the kernel."""

    degree: Annotated[
        int, typer.Option(min=0, metavar="N", help=f"{_with('degree')}: its degree.", rich_help_panel=KERNEL)
    ] = 3
    coef0: Annotated[
        float, typer.Option("--coef0", metavar="R", help=f"{_with('coef0')}: the constant.", rich_help_panel=KERNEL)
    ] = 0.0
    epsilon: Annotated[
        float,
        typer.Option(
            callback=not_negative,
            metavar="E",
            help="With --kernel and --task regression: errors that cost nothing.",
            rich_help_panel=KERNEL,
        ),
    ] = 0.1
    cache_size: Annotated[
        float | None,
        typer.Option(
            "--cache-size",
            callback=positive,
            metavar="MB",
            help="With --kernel: memory for kernel rows; a quarter of what is free unless given.",
            show_default=False,
            rich_help_panel=KERNEL,
        ),
    ] = None
    sampled_cuts: Annotated[
        SampledCuts | None,
        typer.Option(
            "--sampled-cuts",
            help="With --kernel: cuts of sampled examples instead of SMO, for more rows than a kernel matrix can "
            "have. linear looks at every example, constant at samples only, exact makes cuts of all. "
            "Label sequences: exact unless given.",
            show_default=False,
            rich_help_panel=KERNEL,
        ),
    ] = None
    n_samples_cut: Annotated[
        int | None,
        typer.Option(
            "--n-samples-cut",
            min=1,
            metavar="R",
            help="With --sampled-cuts: examples in a sample; 400 unless given.",
            show_default=False,
            rich_help_panel=KERNEL,
        ),
    ] = None
    risk_tol: Annotated[
        float | None,
        typer.Option(
            "--risk-tol",
            callback=positive,
            metavar="E",
            help="With --sampled-cuts: how far the mean loss may be above the cuts' model of it.",
            show_default=False,
            rich_help_panel=KERNEL,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class GammaOption:
    """The width of a kernel."""

    gamma: Annotated[
        str,
        typer.Option(
            metavar="G",
            help="With --kernel: its gamma, a number, 'scale' (1 / (features * variance)) or 'auto'.",
            rich_help_panel=KERNEL,
        ),
    ] = "scale"
