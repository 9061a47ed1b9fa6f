"""`cutplane train`: its arguments and options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cutplane.cli.config import ConfigOption
from cutplane.cli.declared import declared
from cutplane.cli.kernel_options import GammaOption, KernelOption, KernelOptions
from cutplane.cli.model_options import DataOptions, ModelOptions, StoppingOptions, TaskOption, WeightOption
from cutplane.cli.options import CLUSTER, MODEL, OUTPUT, STOPPING, DebugOption, JsonOption, QuietOption, positive
from cutplane.cli.streams import from_stdin, to_stdout
from cutplane.cli.task_options import SequenceOptions, StringOptions


@dataclass(frozen=True, kw_only=True)
class _Files:
    """What is read, and what is written."""

    files: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            callback=from_stdin,
            help="svmlight/libsvm file, plain or .gz, .bz2, .xz or .zst; a Parquet or CSV file with --target; FASTA or "
            "token files for strings and sequences; - for stdin; on a cluster a pattern or URL of such files.",
            show_default=False,
        ),
    ]
    model_path: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            callback=to_stdout,
            help="Where to write the model file; - for stdout.",
            show_default=False,
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class _Proofs:
    """What is kept for later."""

    proof: Annotated[
        bool,
        typer.Option(
            "--proof",
            help="classes, regression: keep a proof in MODEL, for cutplane verify.",
            rich_help_panel=MODEL,
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class _Certainty:
    """Stopping by what is proven of predictions."""

    until_certain: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="classes: train until this share of the labels of --test, 99.9% say, is proven to be the exact "
            "optimum's.",
            show_default=False,
            rich_help_panel=STOPPING,
        ),
    ] = None
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="Two classes: choose on --test above which score the second is said, by f1, precision=SHARE or "
            "recall=SHARE. predict, evaluate and scan use it.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class _Checkpoints:
    """Training that can be interrupted."""

    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep here what training has reached while it runs; the same command goes on from there.",
            show_default=False,
            rich_help_panel=STOPPING,
        ),
    ] = None
    checkpoint_every: Annotated[
        float,
        typer.Option(
            callback=positive, metavar="SECONDS", help="Time between two checkpoints.", rich_help_panel=STOPPING
        ),
    ] = 30.0


@dataclass(frozen=True, kw_only=True)
class _ClusterOptions:
    """Where to train, if not here."""

    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="classes, regression: train on the cluster of this Dask scheduler, whose workers read DATA.",
            show_default=False,
            rich_help_panel=CLUSTER,
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="The same on N processes of this machine.",
            show_default=False,
            rich_help_panel=CLUSTER,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class _OutputOptions:
    """What is written beside the model, and what is printed."""

    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Save a convergence plot (.png, .svg or .pdf).",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None
    report_path: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Save a report of the training (.html).",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None
    test: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Held-out examples, to say how good the model is on them and to show in the report.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None
    feature_names: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Names for the report, one feature a line.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None
    watch: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="PORT",
            help="Serve the growing report at http://127.0.0.1:PORT, to this machine alone; 0 takes a free port.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None
    config: ConfigOption = None
    as_json: JsonOption = False
    quiet: QuietOption = False
    debug: DebugOption = False


# Help lists panels in the order of the last base first.
@dataclass(frozen=True, kw_only=True)
class TrainOptions(
    _OutputOptions,
    _ClusterOptions,
    _Checkpoints,
    _Certainty,
    StoppingOptions,
    SequenceOptions,
    StringOptions,
    KernelOptions,
    GammaOption,
    KernelOption,
    _Proofs,
    ModelOptions,
    WeightOption,
    TaskOption,
    DataOptions,
    _Files,
):
    """All of them."""


train = declared(
    TrainOptions,
    "cutplane.cli.train_models:train",
    """Train a linear or kernel SVM and prove how close to optimal it is.

    Reads DATA, writes MODEL. Ctrl-C stops training and saves the best model so far with the gap that
    was proven for it.
    """,
)
