"""Parts of this process, each with a thread of its own: GPUs that work side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane._runtime.threads import openmp_threads
from cutplane.shards.rounds import Errand, Host


class LocalPost:
    """Takes errands to the threads of parts, and their answers back.

    Parameters
    ----------
    makes : sequence of callable
        Each makes what a part begins with, in the part's thread, which may choose a device for good.
    n_threads : int
        Of the core, for what a part does on the host.
    """

    def __init__(self, makes: Sequence[Callable[[], Any]], n_threads: int = 1) -> None:
        self._n_threads = n_threads
        self._threads = [ThreadPoolExecutor(1, f"cutplane-part-{k}") for k in range(len(makes))]
        self._hosts: list[Host] = []
        try:
            begun = _results([thread.submit(make) for thread, make in zip(self._threads, makes, strict=True)])
            self._hosts = [Host(each) for each in begun]
            marks = _results([thread.submit(each.mark) for thread, each in zip(self._threads, begun, strict=True)])
        except BaseException:
            self.close()
            raise
        self.marks: NDArray[np.int64] = np.array(marks)

    def __call__(self, errands: Mapping[int, Errand]) -> Mapping[int, Sequence[Any]]:
        """A round."""
        asked = [self._threads[number].submit(self._run, number, errand) for number, errand in errands.items()]
        return dict(zip(errands, _results(asked), strict=True))

    def _run(self, number: int, errand: Errand) -> list[Any]:
        with openmp_threads(self._n_threads):
            return self._hosts[number].run(errand)

    def __len__(self) -> int:
        """How many parts there are."""
        return len(self._threads)

    def close(self) -> None:
        """Let go of examples, when what is under way is done; nothing can be asked any more."""
        for thread in self._threads:
            thread.shutdown(cancel_futures=True)
        self._hosts.clear()


def _results(asked: Sequence[Future[Any]]) -> list[Any]:
    """Of all, in order; the first error is raised when all are done: none goes on behind its back."""
    errors = [each.exception() for each in asked]
    for error in errors:
        if error is not None:
            raise error
    return [each.result() for each in asked]
