"""`cutplane verify`: its arguments and options."""

from __future__ import annotations

from dataclasses import dataclass

from cutplane.cli.declared import declared
from cutplane.cli.options import (
    DataArgument,
    DebugOption,
    JsonOption,
    ModelArgument,
    TargetOption,
    ThreadsOption,
    ZeroBasedOption,
)


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """What to check, and against what."""

    model_path: ModelArgument
    data: DataArgument
    zero_based: ZeroBasedOption = None
    target: TargetOption = None
    threads: ThreadsOption = None
    as_json: JsonOption = False
    debug: DebugOption = False


verify = declared(
    VerifyOptions,
    "cutplane.cli.verification:verify",
    """Check the proof in MODEL against DATA, the examples that it was trained on.

    A linear model's proof holds a dual variable for each example (train --proof); of a kernel machine, its coefficients
    are these. The check shares nothing with training: one pass over the data, or all kernel values with the support
    vectors, with NumPy. It fails where weights, data or proof are not those of the fit.
    """,
)
