"""``python -m cutplane`` is the command ``cutplane``."""

from cutplane.cli import main

if __name__ == "__main__":
    main()
