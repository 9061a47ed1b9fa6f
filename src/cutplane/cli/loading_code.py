"""Python that reads what a command has read, for the report's lines that train a model again."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from cutplane.cli.data import Examples, Sentences
from cutplane.sources.packed import StringCollection


def loading_code(data: Path, train: Examples | Sentences, template: Path | None, alphabet: str) -> str | None:
    """Lines that bind X and y, and qid where there are queries; None where no short ones do: of tables, of stdin."""
    if not data.is_file() or (isinstance(train, Examples) and train.names is not None):
        return None
    return _lines(train.X, data, train, template, alphabet)


@singledispatch
def _lines(X: object, data: Path, train: Examples | Sentences, template: Path | None, alphabet: str) -> str | None:
    return None


@_lines.register
def _(X: sp.csr_array, data: Path, train: Examples | Sentences, template: Path | None, alphabet: str) -> str:
    base = "" if train.zero_based is None else f", zero_based={train.zero_based}"
    whole = ".astype(int)" if np.asarray(train.y).dtype.kind == "i" else ""
    queries = [] if train.qid is None else ["qid = data.qid"]
    return "\n".join(
        [
            "from cutplane.io.svmlight import load_svmlight",
            "",
            f"data = load_svmlight({str(data)!r}, n_features={X.shape[1]}{base})",
            f"X, y = data.X, data.y{whole}",
            *queries,
        ]
    )


@_lines.register
def _(X: StringCollection, data: Path, train: Examples | Sentences, template: Path | None, alphabet: str) -> str:
    return f"from cutplane.io.strings import read_strings\n\nX, y = read_strings({str(data)!r}, {alphabet!r})"


@_lines.register
def _(X: list, data: Path, train: Examples | Sentences, template: Path | None, alphabet: str) -> str:  # type: ignore[type-arg]
    named = "usual(len(sentences[0][0]) - 1)" if template is None else f"read({str(template)!r})"
    return "\n".join(
        [
            "from cutplane.io.conll import read_tokens",
            "from cutplane.io.feature_template import FeatureTemplate",
            "",
            f"sentences = read_tokens({str(data)!r})",
            f"template = FeatureTemplate.{named}",
            "X = [template.apply([row[:-1] for row in sentence]) for sentence in sentences]",
            "y = [[row[-1] for row in sentence] for sentence in sentences]",
        ]
    )
