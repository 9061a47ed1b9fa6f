"""The command ``cutplane``."""

from cutplane.cli.app import main

__all__ = ["main"]
