"""`cutplane cross-validate`: its arguments and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from cutplane.cli.config import ConfigOption
from cutplane.cli.declared import declared
from cutplane.cli.kernel_options import GammaOption, KernelOption, KernelOptions
from cutplane.cli.model_options import DataOptions, ModelOptions, StoppingOptions, TaskOption, WeightOption
from cutplane.cli.options import DATA, DataArgument, DebugOption, JsonOption, QuietOption
from cutplane.cli.task_options import SequenceOptions, StringOptions


@dataclass(frozen=True, kw_only=True)
class _Data:
    data: DataArgument


@dataclass(frozen=True, kw_only=True)
class _Folds:
    folds: Annotated[
        int,
        typer.Option(
            min=2,
            metavar="K",
            help="Parts, each of which is predicted by a model of the others. Queries are not divided.",
            rich_help_panel=DATA,
        ),
    ] = 5
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Of the division into parts.", rich_help_panel=DATA)] = 0


@dataclass(frozen=True, kw_only=True)
class _Output:
    config: ConfigOption = None
    as_json: JsonOption = False
    quiet: QuietOption = False
    debug: DebugOption = False


@dataclass(frozen=True, kw_only=True)
class CrossValidateOptions(
    _Output,
    StoppingOptions,
    SequenceOptions,
    StringOptions,
    KernelOptions,
    GammaOption,
    KernelOption,
    ModelOptions,
    WeightOption,
    TaskOption,
    DataOptions,
    _Folds,
    _Data,
):
    """All of them."""


cross_validate = declared(
    CrossValidateOptions,
    "cutplane.cli.cross_validation:cross_validate",
    """Train on parts of DATA and predict the rest, to see how good models of it are.

    No model is kept. 'cutplane path' chooses C by cross-validation.
    """,
)
