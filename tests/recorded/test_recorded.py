"""What was recorded on another machine holds here: bounds overlap, sentences and files are the same."""

from __future__ import annotations

import json
import math
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
RECORDED = json.loads((FOLDER / "bounds.json").read_text())
sys.path.insert(0, str(FOLDER))
try:
    PROGRAM = runpy.run_path(str(FOLDER / "__main__.py"))
finally:
    sys.path.remove(str(FOLDER))
CASES, REFUSED = (vars(PROGRAM["cases"])[name] for name in ("CASES", "REFUSED"))


def at_night(names: list[str], every: int) -> list[Any]:
    """One case in so many runs every time."""
    return [
        pytest.param(name, marks=[] if number % every == 0 else [pytest.mark.nightly])
        for number, name in enumerate(names)
    ]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", at_night(sorted(RECORDED["models"]), 10))
def test_model(name: str) -> None:
    numbers, recorded = PROGRAM["numbers_of"](CASES[name]()), RECORDED["models"][name]
    lower, objective = float(numbers["lower_bound_"]), float(numbers["objective_"])
    other_lower, other_objective = map(float, recorded["bounds"])
    room = 1e-9 * max(1.0, math.fabs(objective))
    assert lower <= other_objective + room
    assert other_lower <= objective + room
    assert PROGRAM["file_of"](numbers) == recorded["file"]


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_sentence(name: str) -> None:
    assert PROGRAM["sentence_of"](REFUSED[name]) == RECORDED["refused"][name]


def test_every_recorded_case_is_there() -> None:
    assert set(RECORDED["models"]) <= set(CASES)
    assert set(RECORDED["refused"]) == set(REFUSED)


def test_a_difference_is_found() -> None:
    differences = PROGRAM["differences"]
    assert differences({"a": [1, {"b": "x"}]}, {"a": [1, {"b": "x"}]}) == []
    assert differences({"a": [1, {"b": "x"}]}, {"a": [1, {"b": "y"}]}) == ["a / 1 / b: 'x' -> 'y'"]
