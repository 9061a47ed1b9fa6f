"""The commands by name. Each is imported when it is asked for, so that help comes at once."""

from __future__ import annotations

import gc
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from cutplane._runtime.deferred import deferred

# What scikit-learn and SciPy import in passing, and few models need: two of the three seconds that importing takes.
_WAIT = ("pandas", "scipy.stats", "scipy.special", "numpy.f2py", "numpy.testing")
#: What `cutplane --help` says of each: the first sentence of its documentation.
COMMANDS = {
    "quickstart": "Train a first model on bundled data; see what to try next.",
    "train": "Train a linear or kernel SVM and prove how close to optimal it is.",
    "path": "Train for a grid of C, choose among them by cross-validation, and prove every model.",
    "cross-validate": "Train on parts of DATA and predict the rest, to see how good models of it are.",
    "predict": "Predict the label of each example in DATA, one per line.",
    "evaluate": "Compare a model's predictions with the labels or targets in DATA.",
    "compare": "Compare runs: the parameters that differ, what was proven, and how long it took.",
    "info": "Show a model's kind, parameters and certificate.",
    "verify": "Check the proof in MODEL against DATA, the examples that it was trained on.",
    "scan": "Score the window at each letter of GENOME; write those above the threshold in BED format.",
    "export": "Write MODEL for other programs: as ONNX, as JSON, or as LIBLINEAR's or LIBSVM's model file.",
    "scale": "Bring the features of DATA into one range, and other files into the same.",
    "convert": "Convert DATA once into a form that need not fit into memory: it is read a block at a time.",
}


class InPanels(TyperCommand):
    """A command whose options are listed by what they are about."""

    def invoke(self, ctx: Any) -> Any:
        """Run it, once the libraries are there."""
        import_libraries()
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, then the options of each panel, in the order of their first options."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
            if record is not None:
                panels.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(record)
        for title, records in panels.items():
            with formatter.section(title):
                formatter.write_dl(records)


class Commands(TyperGroup):
    """All commands, none of them imported yet."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in the order in which they are used."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import one of them; where there is none of that name, say which is like it."""
        if cmd_name not in COMMANDS:
            like = get_close_matches(cmd_name, COMMANDS)
            if like and not ctx.resilient_parsing:
                ctx.fail(f"No such command {cmd_name!r}. Did you mean {' or '.join(map(repr, like))}?")
            return None
        if cmd_name not in self.commands:
            alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
            alone.command(cmd_name, cls=InPanels)(function(cmd_name))
            self.add_command(get_command(alone), cmd_name)
        return self.commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Their list in the help."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def function(name: str) -> Any:
    """What a command runs: of the module of that name, the function of that name."""
    own = name.replace("-", "_")
    return getattr(import_module(f"cutplane.cli.{own}"), own)


def import_libraries() -> None:
    """Import scikit-learn, without what can wait."""
    if "sklearn" in sys.modules:
        return
    import_module("scipy")
    with deferred(*_WAIT):
        import_module("sklearn.base")
