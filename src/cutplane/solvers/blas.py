"""A BLAS that keeps to one thread while a model is trained."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep every BLAS to one thread.

    Its products are small here, and after each one its idle threads spin for some 30 ms on the cores that the passes
    over the data are about to use.
    """
    limited: AbstractContextManager[Any] = _blas().limit(limits=1)
    return limited
