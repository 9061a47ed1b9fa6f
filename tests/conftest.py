"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import is_hypothesis_test, settings
from tests.selection import in_slice, mark_combinations

if TYPE_CHECKING:
    from distributed import Client

# Threads that wait give their processor to the other tests that run at the same time. Read once, by the first import.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# How long an example takes says nothing on a busy machine. Every run draws others, so that few are enough of each.
settings.register_profile("cutplane", deadline=None, max_examples=15)
settings.register_profile("nightly", deadline=None, max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("cutplane")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slice", metavar="K/N", help="of the nightly tests those in part K (from 0) of N")


@pytest.hookimpl(tryfirst=True)  # before -m looks at the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mark_combinations(items)
    if config.option.markexpr == "nightly":  # properties too, for more examples
        for item in items:
            if is_hypothesis_test(getattr(item, "obj", None)):
                item.add_marker(pytest.mark.nightly)
    if part := config.getoption("slice"):
        away = {item for item in items if item.get_closest_marker("nightly") and not in_slice(item.nodeid, part)}
        config.hook.pytest_deselected(items=list(away))
        items[:] = [item for item in items if item not in away]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A cluster of Dask in this process, whose workers see what a test has changed in it."""
    from distributed import Client, LocalCluster  # most tests need none

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client
