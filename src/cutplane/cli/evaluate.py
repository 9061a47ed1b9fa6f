"""`cutplane evaluate`: its arguments and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from cutplane.cli.declared import declared
from cutplane.cli.options import (
    MODEL,
    DataArgument,
    DebugOption,
    IgnoreUnknownOption,
    JsonOption,
    ModelArgument,
    TargetOption,
    ThreadsOption,
    ZeroBasedOption,
)


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """What to compare, and by which threshold."""

    model_path: ModelArgument
    data: DataArgument
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="T",
            help="Of two classes, say the second where the score is above T: a number, or f1, precision=SHARE or "
            "recall=SHARE for the one that does best on DATA.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None
    zero_based: ZeroBasedOption = None
    ignore_unknown: IgnoreUnknownOption = False
    target: TargetOption = None
    threads: ThreadsOption = None
    as_json: JsonOption = False
    debug: DebugOption = False


evaluate = declared(
    EvaluateOptions,
    "cutplane.cli.evaluations:evaluate",
    """Compare a model's predictions with the labels or targets in DATA.

    Accuracy, balanced accuracy (the mean of the classes' recalls), area under the ROC curve, F1 and
    the confusion matrix. Where it is proven, between what the exact optimum's accuracy lies. Of a ranking: NDCG@1, 5
    and 10, MAP, pair accuracy and area under the ROC
    curve, by the qid in DATA. Of a regression: the mean absolute and squared errors and R². For a one-class
    machine the labels are 1, and -1 for what does not belong.
    """,
)
