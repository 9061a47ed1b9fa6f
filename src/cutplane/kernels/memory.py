"""How much memory may be taken."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

# The memory that counts as free if the system does not say, and the least that a cache takes. By hand.
_UNKNOWN_FREE = 4 << 30
_LEAST_CACHE = 16 << 20


def default_cache() -> int:
    """Bytes that a cache takes by default: a quarter of what is free."""
    return max(_LEAST_CACHE, free_memory() // 4)


def free_memory() -> int:
    """Bytes that could be used without swapping, within the limits of the container and of the process."""
    return max(0, min([*_free_of_system(), *_free_of_container(), *_free_of_process()], default=_UNKNOWN_FREE))


def _free_of_system() -> Iterator[int]:
    try:
        yield _entries("/proc/meminfo", ":")["MemAvailable"] * 1024
    except (OSError, KeyError, ValueError):
        return


def _free_of_container() -> Iterator[int]:
    """By its control group. Files that it keeps in memory count as used, but give way."""
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        files = _entries("/sys/fs/cgroup/memory.stat")
        yield limit - used + files["inactive_file"] + files["active_file"]
    except (OSError, KeyError, ValueError):  # there is none, or its limit is "max"
        return


def _entries(path: str, separator: str | None = None) -> dict[str, int]:
    """Lines of a name and a number."""
    lines = (line.split(separator) for line in Path(path).read_text().splitlines())
    return {name: int(rest[0].split()[0]) for name, *rest in lines}


def _free_of_process() -> Iterator[int]:
    if sys.platform == "win32":
        return
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        yield limit
    else:
        yield limit - pages * resource.getpagesize()
