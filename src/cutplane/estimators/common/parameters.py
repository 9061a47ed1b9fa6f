"""The parameters of an estimator, kept under their names as scikit-learn wants them."""

from __future__ import annotations

from collections.abc import Mapping


def keep_parameters(given: Mapping[str, object]) -> None:
    """Set each parameter of an estimator as it was given: the whole body of an `__init__`.

    Parameters
    ----------
    given : mapping
        ``locals()`` of the `__init__`, with nothing in it but its arguments.

    Examples
    --------
    >>> class Estimator:
    ...     def __init__(self, C=1.0, *, tol=1e-3):
    ...         keep_parameters(locals())
    >>> Estimator(tol=0.1).tol
    0.1
    """
    estimator = given["self"]
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)
