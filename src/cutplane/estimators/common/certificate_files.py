"""Certificates as model files hold them: columns with an entry for each problem, and the steps of all runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cutplane._types import Arrays, Document
from cutplane.estimators.common.history_arrays import history_from_arrays, history_to_arrays
from cutplane.solvers.certificates import STOP_REASONS, ProblemCertificate, crossed

_COLUMNS = ("objective", "lower_bound", "stop_reason", "n_iter", "seconds")


def certificates_to_file(certificates: Sequence[ProblemCertificate]) -> tuple[Arrays, Document]:
    """Steps as arrays, the rest as JSON. Which problem is which follows from the model."""
    arrays, described = history_to_arrays([step for each in certificates for step in each.history])
    columns = {name: [getattr(each, name) for each in certificates] for name in _COLUMNS}
    return arrays, {**columns, "history": described, "radius": [each.radius for each in certificates]}


def certificates_from_file(described: Document, arrays: Arrays, labels: Sequence[object]) -> list[ProblemCertificate]:
    """What `certificates_to_file` took apart, for problems of these labels; `ValueError` if the parts do not fit."""
    columns = [described[name] for name in _COLUMNS]
    columns.append(described.get("radius", [math.inf] * len(labels)))  # older files have none
    if any(len(column) != len(labels) for column in columns):
        raise ValueError("the certificate is not one number per problem")
    steps = history_from_arrays(described["history"], arrays)
    if any(not 0 <= step.problem < len(labels) for step in steps):
        raise ValueError("the history has steps of a problem that there is not")
    return [
        _checked(
            ProblemCertificate(
                label,
                *_checked_bounds(float(objective), float(lower_bound)),
                stop_reason,
                int(n_iter),
                float(seconds),
                [step for step in steps if step.problem == number],
                float(within),
            )
        )
        for number, (label, objective, lower_bound, stop_reason, n_iter, seconds, within) in enumerate(
            zip(labels, *columns, strict=True)
        )
    ]


def _checked_bounds(upper: float, lower: float) -> tuple[float, float]:
    """Refuse bounds that no training ends with. Where nothing is certified, they are infinite."""
    if math.isnan(upper) or math.isnan(lower) or lower == math.inf or upper == -math.inf:
        raise ValueError("the certificate holds something other than bounds")
    if crossed(upper, lower):
        raise ValueError("the certificate has a lower bound above the objective")
    return upper, lower


def _checked(certificate: ProblemCertificate) -> ProblemCertificate:
    """Refuse what no training ends with, beyond its bounds."""
    if certificate.stop_reason not in STOP_REASONS:
        raise ValueError(f"{certificate.stop_reason!r} is no reason to stop")
    if certificate.n_iter < 0:
        raise ValueError("a number of iterations is below zero")
    if not certificate.seconds >= 0.0:
        raise ValueError("a number of seconds is below zero")
    if not certificate.radius >= 0.0:
        raise ValueError("a radius is below zero")
    return certificate
