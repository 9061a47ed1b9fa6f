"""What trains the same model again: the command or the call, and the versions of everything that took part."""

from __future__ import annotations

import os
import platform
from hashlib import file_digest
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from cutplane._types import is_sparse
from cutplane.proof.data_hash import hash_data
from cutplane.report.calls import chosen_params, training_code
from cutplane.report.markup import Markup, details, element, facts, paragraph, table, text
from cutplane.report.page import Section
from cutplane.report.trained import Trained

# More values than this are not hashed: it takes longer than training.
_MOST_VALUES = 20_000_000
_PACKAGES = ("cutplane", "numpy", "scipy", "scikit-learn")


def section(trained: Trained) -> Section | None:
    """How to get here again: the command, the same in Python, and what tells whether the data are the same."""
    body = []
    if trained.command is not None:
        body.append(element("pre", element("code", text(trained.command)), tabindex="0"))
    code = training_code(trained.model, trained.loading)
    body.append(element("pre", element("code", text(code)), tabindex="0"))
    body.append(
        paragraph(
            "The same data, versions and kind of processor give the same model, bit for bit. The number of threads "
            "changes nothing, with one exception: long sparse rows in large numbers, from eight threads on.",
            "soft",
        )
    )
    if trained.files:
        rows = [(str(path), *_told(path)) for path in trained.files]
        body.append(table("Files that were read", ["file", "bytes", "SHA-256"], rows, shown=True))
    else:
        body += _values(trained)
    params = [(name, repr(value)) for name, value in sorted(chosen_params(trained.model).items())]
    body.append(details("Every parameter", table("Parameters", ["parameter", "value"], params)))
    body.append(details("Versions and machine", facts(_machine())))
    return Section("reproduce", "Reproduce", Markup("".join(body)))


def _told(path: Path) -> tuple[str, str]:
    """Size and hash of a file; a folder or a pattern of many files has none."""
    if not path.is_file():
        return "", ""
    with path.open("rb") as file:
        return f"{path.stat().st_size:,}", file_digest(file, "sha256").hexdigest()


def _values(trained: Trained) -> list[Markup]:
    """The hash of the training data, where they are at hand as a matrix of numbers, and not too large."""
    train = trained.train
    if train is None or not (is_sparse(train.X) or isinstance(train.X, np.ndarray)):
        return []
    if train.X.ndim != 2 or train.X.dtype.kind not in "biuf" or train.X.size > _MOST_VALUES:
        return []
    hashed = hash_data(train.X, np.asarray(train.y))
    return [paragraph(f"SHA-256 of X and y, as by cutplane.proof.data_hash.hash_data: {hashed}", "soft long")]


def _machine() -> list[tuple[str, object]]:
    return [
        *((name, _version(name)) for name in _PACKAGES),
        ("Python", platform.python_version()),
        ("System", f"{platform.system()} {platform.machine()}"),
        ("Processor", _processor()),
        ("Cores", len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
