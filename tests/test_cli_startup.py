"""What the command and the package import, which decides how soon they answer; and what help says."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cutplane._runtime.deferred import deferred
from cutplane.cli.app import run
from cutplane.cli.commands import COMMANDS, function
from cutplane.cli.other_tools import instead_of

HEAVY = ("sklearn", "scipy.stats", "scipy.sparse", "pandas", "matplotlib", "rich", "numpy")
LOADED = "import json; print('LOADED', json.dumps(sorted(sys.modules)))"


def loaded(code: str, *, after: str = "", cwd: Path | None = None) -> set[str]:
    """The modules that a new Python has after running `code`."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\n{LOADED}\n{after}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=cwd,
    )
    return set(json.loads(done.stdout.rpartition("LOADED ")[2]))


def command(*words: str) -> str:
    return f"from cutplane.cli.app import run\nassert run({list(words)!r}) == 0"


def test_the_package_imports_nothing_heavy() -> None:
    assert loaded("import cutplane").isdisjoint((*HEAVY, "scipy"))


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("train", "--help"), ("scan", "--help")], ids=str)
def test_help_imports_nothing_heavy(words: tuple[str, ...]) -> None:
    assert loaded(command(*words)).isdisjoint(HEAVY)


def test_training_and_prediction_do_without_what_can_wait(tmp_path: Path) -> None:
    (tmp_path / "data.svm").write_text(
        "".join(f"{1 if i % 2 else -1} 1:{i % 2 + 0.1 * i % 0.3} 3:1\n" for i in range(60))
    )
    steps = [command("train", "data.svm", "model"), command("predict", "model", "data.svm")]
    found = loaded("\n".join(steps), cwd=tmp_path)
    assert "sklearn.base" in found
    assert found.isdisjoint({"pandas", "scipy.stats", "matplotlib", "sklearn.linear_model", "sklearn.metrics"})


def test_a_module_that_waits_is_there_when_it_is_used() -> None:
    assert "scipy.stats" not in sys.modules or isinstance(sys.modules["scipy.stats"], type(sys))
    code = """
import scipy
from cutplane._runtime.deferred import deferred
with deferred("scipy.stats", "no_such_module", "json"):
    import json
    import scipy.stats as early
    assert "scipy.stats._stats_py" not in sys.modules
    try:
        import no_such_module
    except ImportError:
        pass
    else:
        raise AssertionError("a module that is missing must stay so")
assert "scipy.stats._stats_py" not in sys.modules
assert early.norm.cdf(0.0) == 0.5
import scipy.stats
assert scipy.stats is not early
assert scipy.stats.norm is early.norm
"""
    assert "scipy.stats._stats_py" in loaded(code)


def test_modules_that_are_loaded_do_not_wait() -> None:
    with deferred("json"):
        assert sys.modules["json"] is json


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_on_a_command_is_its_first_sentence(name: str) -> None:
    assert inspect.getdoc(function(name)).partition("\n")[0] == COMMANDS[name]


def test_help_has_panels_by_task(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "--help"]) == 0
    text = capsys.readouterr().out
    panels = ["Data:", "Model:", "Kernel machines:", "Strings", "Sequences", "Stopping:", "Clusters:", "Output:"]
    places = [text.index(f"\n{panel}") for panel in panels]
    assert places == sorted(places)
    assert places[2] < text.index("--gamma") < places[3] < text.index("--spectrum ") < places[4]


def test_a_command_that_is_nearly_one_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predcit", "a", "b"]) == 2
    assert "No such command 'predcit'. Did you mean 'predict'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (["-c", "10"], "--C 10"),
        (["-C"], "cutplane path"),
        (["-v", "5"], "cutplane cross-validate DATA --folds 5"),
        (["-w1", "2"], "--class-weight 1=2"),
        (["-w-1", "2"], "--class-weight -1=2"),
        (["-s", "2"], "--loss squared_hinge"),
        (["-s", "0"], "--loss logistic"),
        (["-s", "4"], "--multi-class crammer_singer"),
        (["-s", "13"], "--task regression"),
        (["-s", "5"], "L1 penalty"),
        (["-b", "1"], "--probability"),
        (["-e", "0.01"], "--tol 0.01"),
        (["-t", "2"], "--kernel rbf"),
        (["-g", "0.5"], "--gamma 0.5"),
        (["-B", "1"], "--intercept-scaling 1"),
    ],
    ids=str,
)
def test_flags_of_other_tools_say_what_to_write(
    words: list[str], instead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", *words, "data.svm", "model"]) == 2
    error = capsys.readouterr().err
    assert instead in error
    assert "There is no" in error


def test_a_flag_that_no_tool_has_is_no_such_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert instead_of("train", "--colour", ["--colour"]) is None
    assert run(["train", "-Z", "1", "data.svm", "model"]) == 2
    assert "No such option" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--order 4", "--order is for --task strings."),
        ("--template t.txt", "--template is for --task sequence."),
        ("--gamma 1", "--gamma needs --kernel."),
        ("--task rank --loss hinge", "--loss is for --task classes and regression."),
        ("--task rank --class-weight balanced", "--class-weight is for --task classes and strings."),
        ("--task regression --multi-class ovr", "--multi-class is for --task classes."),
        ("--task ordinal --no-intercept", "--no-intercept is for --task classes, regression and strings."),
        ("--task strings --zero-based", "--zero-based is for svmlight files"),
        ("--kernel rbf --loss logistic", "--loss is for linear models"),
    ],
)
def test_an_option_of_another_task_is_one_sentence(
    words: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", "data.svm", "model", *words.split()]) == 2
    assert sentence in capsys.readouterr().err
