"""What trains the same model again: the command or the call, and the versions of everything that took part."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from inspect import signature
from pathlib import Path

from sklearn.base import BaseEstimator

from cutplane._types import Params
from cutplane.report.markup import Markup, details, element, facts, paragraph, table, text
from cutplane.report.page import Section
from cutplane.report.trained import Trained

_PACKAGES = ("cutplane", "numpy", "scipy", "scikit-learn")


def section(trained: Trained) -> Section | None:
    """How to get here again."""
    body = []
    if trained.command is not None:
        body.append(element("pre", element("code", text(trained.command)), tabindex="0"))
    body.append(element("pre", element("code", text(_call(trained.model))), tabindex="0"))
    body.append(
        paragraph(
            "The same data and versions give the same model, bit for bit, on any number of threads of the same kind of "
            "processor.",
            "soft",
        )
    )
    params = [(name, repr(value)) for name, value in sorted(_params(trained.model).items())]
    body.append(details("Every parameter", table("Parameters", ["parameter", "value"], params)))
    body.append(details("Versions and machine", facts(_machine())))
    return Section("reproduce", "Reproduce", Markup("".join(body)))


def _params(model: BaseEstimator) -> Params:
    found = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    return {name: value for name, value in found.items() if not callable(value)}


def _call(model: BaseEstimator) -> str:
    """The estimator as it is called, with the parameters that are not the defaults."""
    name = type(model).__name__
    defaults = {key: each.default for key, each in signature(type(model).__init__).parameters.items()}
    chosen = [
        f"{key}={value!r}" for key, value in _params(model).items() if key == "C" or not _same(value, defaults.get(key))
    ]
    data = "X, y, qid=qid" if getattr(model, "n_queries_", 1) > 1 else "X, y"
    return f"from cutplane import {name}\n\nmodel = {name}({', '.join(chosen)}).fit({data})"


def _same(a: object, b: object) -> bool:
    try:
        return bool(a == b) or (a is None and b is None)
    except ValueError:  # an array
        return False


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
