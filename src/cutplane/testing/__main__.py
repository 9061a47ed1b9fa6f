"""``python -m cutplane.testing``: random problems for as long as one likes; ``limits`` plays limits of time."""

import sys

from cutplane.testing import limits
from cutplane.testing.random_problems.command import main

if __name__ == "__main__":
    raise SystemExit(limits.main(sys.argv[2:]) if sys.argv[1:2] == ["limits"] else main())
