"""``python -m cutplane.testing``: random problems for as long as one likes, or made tables (``tables``)."""

import sys

from cutplane.testing import tables
from cutplane.testing.random_problems.command import main

if __name__ == "__main__":
    raise SystemExit(tables.main(sys.argv[2:]) if sys.argv[1:2] == ["tables"] else main())
