"""The commands put together, and errors turned into one sentence and an exit status."""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer

from cutplane._runtime.extras import MissingExtraError
from cutplane.cli import exit_codes, signals
from cutplane.cli.commands import Commands
from cutplane.cli.options import DebugOption
from cutplane.cli.other_tools import instead_of
from cutplane.cli.streams import give_back, named

# The base of the errors that typer raises for wrong usage. Typer has carried its own copy of click
# since 0.26, so `import click` would name another class than the one that is raised.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="cutplane",
    cls=Commands,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: rich boxes leave half the width to the words
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"cutplane {version('cutplane')}")
        raise typer.Exit


@app.callback(epilog=exit_codes.EXPLAINED)
def cutplane(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
    _debug: DebugOption = False,
) -> None:
    """Train support vector machines with a proven optimality gap. Start with: cutplane quickstart."""
    if context.invoked_subcommand is None:
        from cutplane.cli import estimators

        print(f"{context.get_help()}\n\nEstimators, in Python (from cutplane import ...):\n{estimators.listed()}")


def main() -> NoReturn:
    """Run the command and leave with its exit status."""
    if sys.stderr is None:  # closed
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        print("cutplane: error: The standard output is closed; write > FILE, or > /dev/null.", file=sys.stderr)
        sys.exit(exit_codes.BAD_INPUT)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show "≤" shows an escape; it is no reason to stop.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command with `arguments` and return its exit status.

    Commands return their status; whatever they raise becomes one sentence on the standard error
    stream, without a traceback unless ``--debug`` or ``CUTPLANE_DEBUG=1`` asks for it.
    """
    debug = "--debug" in arguments or os.environ.get("CUTPLANE_DEBUG", "") not in ("", "0")
    try:
        status = app(arguments, prog_name="cutplane", standalone_mode=False, obj=arguments)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        # Typer turns a broken pipe inside a command into SystemExit, its only use of it here.
        return _reader_went_away()
    except (typer.Abort, KeyboardInterrupt):
        status = exit_codes.INTERRUPTED
    except _UsageError as error:
        return _explain_usage(error, arguments)
    except Exception as error:
        if debug:
            raise
        return _explain(error)
    finally:
        give_back()
    if status == exit_codes.INTERRUPTED or signals.was_asked_to_stop():
        word, status = signals.received()
        print(f"cutplane: {word}.", file=sys.stderr)
    return status if isinstance(status, int) else exit_codes.OK


def _explain_usage(error: Exception, arguments: list[str]) -> int:
    message = getattr(error, "format_message", error.__str__)().replace("Value error, ", "")
    command = getattr(getattr(error, "ctx", None), "command_path", "cutplane")
    unknown = getattr(error, "option_name", None)
    instead = unknown and instead_of(command.rpartition(" ")[2], unknown, arguments)
    if instead:
        message = f"There is no {unknown} here; {instead}"
    print(f"cutplane: error: {message}\nTry '{command} --help'.", file=sys.stderr)
    return exit_codes.USAGE


def _explain(error: Exception) -> int:
    sentence = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, MemoryError):
        sentence = "There is not enough memory for this; fewer features or examples would fit."
    elif isinstance(error, OSError) and error.filename is not None and error.strerror:
        # Python's own "[Errno 2] No such file or directory: 'x'", without the number.
        sentence = f"{os.fsdecode(error.filename)}: {error.strerror}."
    elif not isinstance(error, (ValueError, OSError, MissingExtraError)):
        sentence = (
            f"This is a mistake in Cutplane; please report it with what --debug shows "
            f"({type(error).__name__}: {sentence})."
        )
    print(f"cutplane: error: {named(sentence)}", file=sys.stderr)
    return exit_codes.BAD_INPUT


def _reader_went_away() -> int:
    """`cutplane predict ... | head`: the reader has all it wanted, which is no error of ours."""
    # Python flushes stdout once more on leaving, which would raise again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return exit_codes.OK
