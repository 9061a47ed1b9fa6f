"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from distributed import Client

# Threads that wait give their processor to the other tests that run at the same time. Read once, by the first import.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# How long an example takes says nothing on a busy machine. Every run draws others, so that few are enough of each;
# --hypothesis-profile=thorough draws many at once.
settings.register_profile("cutplane", deadline=None, max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("cutplane")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A cluster of Dask in this process, whose workers see what a test has changed in it."""
    from distributed import Client, LocalCluster  # most tests need none

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client
