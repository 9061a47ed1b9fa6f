"""One word, one meaning: parameters of the same name mean the same for every estimator, and on the command line."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import cutplane
from cutplane.cli.train import train
from cutplane.estimators.common.validation import check_max_iter

KINDS = {
    name: inspect.signature(getattr(cutplane, name)).parameters
    for name in cutplane.estimators.__all__
    if inspect.isclass(getattr(cutplane, name)) and hasattr(getattr(cutplane, name), "fit")
}


@pytest.mark.parametrize("name", KINDS)
def test_words_that_have_another_are_not_used(name):
    assert not {"algorithm", "eps", "r", "n_threads"} & set(KINDS[name])
    assert "solver" not in KINDS[name] or "Logistic" in name  # scikit-learn's word, which changes nothing
    assert "epsilon" not in KINDS[name] or "SVR" in name


@pytest.mark.parametrize("name", KINDS)
def test_fit_takes_y_and_weights_before_queries(name):
    arguments = list(inspect.signature(getattr(cutplane, name).fit).parameters)
    assert arguments[:3] == ["self", "X", "y"]
    if "qid" in arguments:
        assert arguments.index("sample_weight") < arguments.index("qid")


def parameters_and_fields(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


@pytest.mark.parametrize("folder", ["structured", "estimators", "testing", "cli"])
def test_labels_are_called_y_and_never_by_a_capital(folder):
    files = sorted((Path(cutplane.__file__).parent / folder).rglob("*.py"))
    named = {file.name: list(parameters_and_fields(ast.parse(file.read_text()))) for file in files}
    assert any("y" in names for names in named.values())
    assert [name for name, names in named.items() if "Y" in names] == []


@pytest.mark.parametrize("unlimited", [None, -1])
def test_no_limit_has_two_names(unlimited):
    assert check_max_iter(unlimited) is None
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    for kind in (cutplane.LinearSVC, cutplane.SVC, cutplane.RankSVM, cutplane.SampledCutSVC, cutplane.OneClassSVM):
        kind(max_iter=unlimited).fit(X, y)


@pytest.mark.parametrize("wrong", [0, -2, 1.5, True, "many"])
def test_other_limits_are_refused(wrong):
    with pytest.raises(ValueError, match=r"must be an integer greater than 0, or None or -1 for no limit\.$"):
        check_max_iter(wrong)


def test_the_command_leaves_defaults_to_the_estimators():
    options = inspect.signature(train).parameters
    assert {
        name: options[name].default for name in ("C", "tol", "line_search", "max_iter", "risk_tol")
    } == dict.fromkeys(("C", "tol", "line_search", "max_iter", "risk_tol"))


def test_other_defaults_of_the_command_are_those_of_the_estimators():
    options = inspect.signature(train).parameters
    for name in ("gamma", "degree", "coef0", "epsilon"):
        assert options[name].default == KINDS["SVR"][name].default
    for name in ("order", "spectrum_order", "depth", "alphabet"):
        assert options[name].default == KINDS["StringSVC"][name].default
    assert options["method"].default.value == KINDS["LinearSVC"]["method"].default
