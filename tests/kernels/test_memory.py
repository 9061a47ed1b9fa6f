"""What a cache may take: the least of what the system, the container and the process have left."""

import subprocess
import sys
from pathlib import Path

import pytest

from cutplane.kernels import memory

GB = 1 << 30
FILES = {
    "/proc/meminfo": "MemTotal: 16777216 kB\nMemAvailable:    8388608 kB\nHugePages_Total:       0\n",
    "/sys/fs/cgroup/memory.max": f"{4 * GB}\n",
    "/sys/fs/cgroup/memory.current": f"{3 * GB}\n",
    "/sys/fs/cgroup/memory.stat": f"anon {GB}\nactive_file {GB // 2}\ninactive_file {GB // 2}\n",
}


@pytest.fixture
def system(monkeypatch):
    files = dict(FILES)

    def read(path):
        if str(path) not in files:
            raise FileNotFoundError(path)
        return files[str(path)]

    monkeypatch.setattr(Path, "read_text", read)
    return files


def test_a_container_has_less_than_its_machine(system):
    assert memory.free_memory() == 2 * GB  # files that it keeps in memory give way
    assert memory.default_cache() == GB // 2


@pytest.mark.parametrize("limit", ["max", None])
def test_without_a_limit_it_is_what_the_machine_has(system, limit):
    if limit is None:
        del system["/sys/fs/cgroup/memory.max"]
    else:
        system["/sys/fs/cgroup/memory.max"] = f"{limit}\n"
    assert memory.free_memory() == 8 * GB


def test_where_nothing_is_known_some_is_taken(system):
    system.clear()
    assert memory.default_cache() == GB


def test_a_full_container_still_gets_a_cache(system):
    system["/sys/fs/cgroup/memory.current"] = f"{5 * GB}"
    assert memory.free_memory() == 0
    assert memory.default_cache() == 16 << 20


def test_a_process_may_have_less_yet():
    code = (
        "import resource; from cutplane.kernels.memory import free_memory;"
        "resource.setrlimit(resource.RLIMIT_AS, (8 << 30,) * 2); print(free_memory() < 8 << 30)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


def test_no_memory_for_the_rows_in_use_is_one_sentence():
    code = """
import resource
from pathlib import Path
import numpy as np
from cutplane.kernels import DualProblem, Kernel, KernelMatrix, solve

X, y = np.random.default_rng(0).normal(size=(6000, 4)), np.where(np.arange(6000) % 2, 1, -1)
matrix = KernelMatrix(X, Kernel("rbf"), cache_bytes=1 << 30, n_threads=1)
taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + (8 << 20), -1))
try:
    solve(DualProblem.classification(y, 1.0), matrix, n_threads=1)
except MemoryError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
print(solve(DualProblem.classification(y, 1.0), matrix, n_threads=1).stop_reason)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    error, reason = done.stdout.splitlines()
    assert error.startswith("There is no memory for the 384 kernel rows of 24,000 bytes")
    assert reason == "kkt", "the cache is as good as new"
