"""`load`: fitted estimators or small predictors out of files. The latter need little, and import no more."""

from __future__ import annotations

import os
from typing import Any

from cutplane.io.model_file import read_model


def load(path: str | os.PathLike[str], *, plain: bool = False, **given: object) -> Any:
    """Read a fitted estimator from a model file. Runs no code from the file.

    Parameters
    ----------
    path : path-like
        A file written by `save`. With ``plain=True`` also one written by `to_json`, `to_liblinear` or `to_libsvm`, or
        by LIBLINEAR or LIBSVM.
    plain : bool, default=False
        Whether a `cutplane.plain.model.PlainModel` is wanted: predictions with NumPy alone, imported in a fraction of
        the time.
    **given
        Parameters that a file cannot hold, by name, such as ``loss=MyLoss``: the file has the import path of the class,
        and another one is refused.

    Returns
    -------
    estimator
        Equal to what was saved: its predictions are the same to the bit. A parameter that a file cannot hold and that
        is not given is a marker with its name; a fit asks for it.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFileError
        If the file is not a Cutplane model or is damaged, or if what is given is not what the model was trained with.

    Examples
    --------
    >>> import os, tempfile
    >>> from cutplane import LinearSVC, load
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> LinearSVC().fit([[-1.0], [1.0]], ["no", "yes"]).save(path)
    >>> load(path).predict([[2.0]])
    array(['yes'], dtype='<U3')
    """
    if plain:
        from cutplane.plain.loading import load_plain

        if given:
            raise ValueError(f"plain=True has no parameters; {', '.join(given)} is for the estimator.")
        return load_plain(path)
    from cutplane.estimators.restoring import restore

    return restore(read_model(path), path, given)
