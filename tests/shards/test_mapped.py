"""Parts whose rows lie on disk answer as those in memory do."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from cutplane.shards.part_examples import PartExamples

N, D = 500, 7


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sp.csr_array], ids=["rows", "columns", "sparse"])
def test_rows_on_disk(layout: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)).astype(np.float32)
    X[X < 0.3] = 0.0
    part = PartExamples(layout(X), rng.choice([-1, 1], N), rng.random(N))
    mapped = part.on_disk(str(tmp_path))
    assert os.listdir(tmp_path) == []  # the file has no name
    assert mapped.nbytes == part.nbytes
    assert mapped.mark() == part.mark()
    w, coef = rng.normal(size=D), rng.normal(size=N)
    for _ in range(2):
        assert_array_equal(mapped.scores(w), part.scores(w))
        mapped.release()
        assert_array_equal(mapped.combine(0, coef), part.combine(0, coef))
    sent = pickle.loads(pickle.dumps(mapped))
    assert sent.mark() == part.mark()
    sent.release()
    others = [each.fold(1, 3, 0, inside=True, labels=True) for each in (part, mapped)]
    assert_array_equal(others[0].scores(w), others[1].scores(w))


def test_a_part_without_rows(tmp_path: Path) -> None:
    part = PartExamples(sp.csr_array((0, D)), np.zeros(0), None).on_disk(str(tmp_path))
    part.release()
    assert part.scores(np.ones(D)).shape == (0,)
