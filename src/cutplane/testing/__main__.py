"""``python -m cutplane.testing``: random problems; ``limits`` plays limits of time, ``tables`` fits made tables."""

import sys

from cutplane.testing import limits, tables
from cutplane.testing.random_problems.command import main

_HARNESSES = {"limits": limits.main, "tables": tables.main}

if __name__ == "__main__":
    harness = _HARNESSES.get("".join(sys.argv[1:2]))
    raise SystemExit(main() if harness is None else harness(sys.argv[2:]))
