"""`cutplane scale`: svmlight files with features in one range."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from cutplane.cli import exit_codes
from cutplane.cli.data import read_data
from cutplane.cli.outputs import check_text_output
from cutplane.cli.scale import ScaleOptions, Scaling
from cutplane.cli.tables import table_kind
from cutplane.io.atomic import replace_file
from cutplane.io.svmlight import save_svmlight


def scale(options: ScaleOptions, context: typer.Context) -> int:
    """Write the scaled file, and the factors where they are wanted."""
    output = None if options.output is None or str(options.output) == "-" else options.output
    for path in (output, options.save):
        if path is not None:
            check_text_output(path, inputs=[options.data])
    if table_kind(options.data.name) is not None:
        raise ValueError(f"{options.data} is a table; svmlight files are scaled.")
    examples = read_data(
        options.data, zero_based=options.zero_based, threads=options.threads, n_features=options.n_features
    )
    if options.restore is None:
        factors = _factors(examples.X, options.by)
        zero_based = bool(examples.zero_based)
    else:
        factors, zero_based = _restored(options.restore)
        if examples.zero_based is not None and options.zero_based is None and examples.zero_based != zero_based:
            examples = read_data(
                options.data, zero_based=zero_based, threads=options.threads, n_features=options.n_features
            )
        examples = examples.widened(len(factors), options.data, f"{options.restore} has")
    if options.save is not None:
        kept = {"zero_based": zero_based, "by": options.by.value, "factors": factors.tolist()}
        with replace_file(options.save) as file:
            file.write(json.dumps(kept).encode())
    scaled = examples.X.multiply(factors).tocsr()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scaled" if output is None else output
        save_svmlight(path, scaled, examples.y, qid=examples.qid, zero_based=zero_based)
        if output is None:
            sys.stdout.write(path.read_text(encoding="utf-8"))
    return exit_codes.OK


def _factors(X: Any, by: Scaling) -> NDArray[np.float64]:
    """What each feature is multiplied by; 1 for those that are always 0."""
    if by is Scaling.max_abs:
        size = abs(X).max(axis=0).toarray().ravel()
    else:
        mean = np.asarray(X.mean(axis=0)).ravel()
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        size = np.sqrt(np.maximum(square - mean**2, 0.0))
    return np.asarray(np.divide(1.0, size, out=np.ones(len(size)), where=size > 0.0))


def _restored(path: Path) -> tuple[NDArray[np.float64], bool]:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return np.array([float(value) for value in kept["factors"]]), bool(kept["zero_based"])
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is no file of factors that 'cutplane scale --save' has written.") from None
