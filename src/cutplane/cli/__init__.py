"""The command ``cutplane``."""

from __future__ import annotations

import gc

from cutplane.cli import signals

TYPE_CHECKING = False  # what is imported before `main` begins delays its answer to Ctrl-C
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command and leave with its exit status."""
    # First of all: the libraries take a second to import, and Ctrl-C there is one line as well.
    signals.take_charge()
    gc.disable()  # nothing that is imported is garbage: a tenth of the time that importing takes
    from cutplane._runtime.extras import MissingExtraError, require

    try:
        for package in ("typer", "rich"):
            require(package, "cli", "Commands")
    except MissingExtraError as error:
        raise SystemExit(f"cutplane: error: {error}") from None
    from cutplane.cli.app import main

    main()


__all__ = ["main"]
