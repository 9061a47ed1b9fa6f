"""``python -m cutplane.testing``: random problems for as long as one likes."""

from cutplane.testing.random_problems.command import main

if __name__ == "__main__":
    raise SystemExit(main())
