"""What a model looks at, against the mean over all strings."""

from __future__ import annotations

import itertools

import numpy as np

from cutplane import StringSVC
from cutplane.report.importance import letter_importance, order_importance, save_importance


def test_letters_count_what_they_change_in_the_mean(tmp_path):
    strings = ["".join(letters) for letters in itertools.product("ACGT", repeat=4)]
    y = [int(string[1:3] == "GA") for string in strings]
    model = StringSVC(order=3, spectra=[(1, 4)], spectrum_order=2, normalize=False, C=10.0).fit(strings, y)
    scores = model.decision_function(strings)
    effect = letter_importance(model)
    assert effect.shape == (4, 4)
    for position in range(4):
        for code, letter in enumerate("ACGT"):
            having = [string[position] == letter for string in strings]
            assert np.isclose(effect[position, code], scores[having].mean() - scores.mean())
    assert np.unravel_index(effect.argmax(), effect.shape) in ((1, 2), (2, 0))
    orders = order_importance(model)
    assert np.isclose((orders**2).sum(), (model.coef_**2).sum())
    save_importance(model, tmp_path / "importance.svg")
    assert "<svg" in (tmp_path / "importance.svg").read_text()
