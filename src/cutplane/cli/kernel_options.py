"""Options of `cutplane train` for kernel machines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from cutplane._types import Params
from cutplane.cli.options import positive
from cutplane.kernels.table import COMPUTED, TABLE


class SampledCuts(StrEnum):
    """Where the cuts of a kernel machine come from."""

    linear = "linear"
    constant = "constant"
    exact = "exact"


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """What was asked for of the kernel."""

    kernel: str
    gamma: str | float
    degree: int
    coef0: float
    epsilon: float
    cache_size: float | None
    probability: bool
    sampled_cuts: str | None = None
    n_samples_cut: int | None = None
    risk_tol: float | None = None

    @classmethod
    def asked(
        cls,
        kernel: str | None,
        gamma: str,
        degree: int,
        coef0: float,
        epsilon: float,
        cache_size: float | None,
        probability: bool,
        sampled_cuts: SampledCuts | None,
        n_samples_cut: int | None,
        risk_tol: float | None,
    ) -> KernelOptions | None:
        """What the options ask for, checked; None without a kernel."""
        if kernel is None:
            return None
        sampled = None if sampled_cuts is None else sampled_cuts.value
        known = (kernel, gamma_or_word(gamma), degree, coef0, epsilon, cache_size, probability)
        return cls(*known, sampled, n_samples_cut, risk_tol)

    def kernel_params(self) -> Params:
        """The parameters by which every estimator with a kernel is told of it."""
        return {name: getattr(self, name) for name in ("kernel", "gamma", "degree", "coef0")}


def known_kernel(value: str | None) -> str | None:
    """Refuse a name that no kernel has."""
    if value is not None and value not in COMPUTED:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, COMPUTED))}.")
    return value


def _with(parameter: str) -> str:
    """The kernels that have this parameter, as help names them."""
    return "With --kernel " + " or ".join(name for name, entry in TABLE.items() if parameter in entry.parameters)


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


def not_negative(value: float) -> float:
    """Refuse a number below zero."""
    if not value >= 0.0:
        raise typer.BadParameter(f"{value:g} is not a number of 0 or more.")
    return value


KernelOption = Annotated[
    str | None,
    typer.Option(
        "--kernel",
        callback=known_kernel,
        metavar=f"<{'|'.join(COMPUTED)}>",
        autocompletion=lambda: list(COMPUTED),
        help="Train a kernel machine by SMO, not a linear model.",
        show_default=False,
    ),
]
GammaOption = Annotated[
    str,
    typer.Option(
        metavar="G", help="With --kernel: its gamma, a number, 'scale' (1 / (features * variance)) or 'auto'."
    ),
]
DegreeOption = Annotated[int, typer.Option(min=0, metavar="N", help=f"{_with('degree')}: its degree.")]
Coef0Option = Annotated[float, typer.Option("--coef0", metavar="R", help=f"{_with('coef0')}: the constant.")]
EpsilonOption = Annotated[
    float,
    typer.Option(
        callback=not_negative, metavar="E", help="With --kernel and --task regression: errors that cost nothing."
    ),
]
CacheOption = Annotated[
    float | None,
    typer.Option(
        "--cache-size",
        callback=positive,
        metavar="MB",
        help="With --kernel: memory for kernel rows; a quarter of what is free unless given.",
        show_default=False,
    ),
]
ProbabilityOption = Annotated[
    bool, typer.Option("--probability", help="Learn probabilities by cross-validation too (classes).")
]
SampledCutsOption = Annotated[
    SampledCuts | None,
    typer.Option(
        "--sampled-cuts",
        help="With --kernel: cuts of sampled examples instead of SMO, for more rows than a kernel matrix can have. "
        "linear looks at every example, constant at samples only, exact makes cuts of all. "
        "Label sequences: exact unless given.",
        show_default=False,
    ),
]
CutSizeOption = Annotated[
    int | None,
    typer.Option(
        "--n-samples-cut",
        min=1,
        metavar="R",
        help="With --sampled-cuts: examples in a sample; 400 unless given.",
        show_default=False,
    ),
]
RiskTolOption = Annotated[
    float | None,
    typer.Option(
        "--risk-tol",
        callback=positive,
        metavar="E",
        help="With --sampled-cuts: how far the mean loss may be above the cuts' model of it.",
        show_default=False,
    ),
]
