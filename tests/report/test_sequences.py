"""Reports of label sequences: what follows what, and how each label fares."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import precision_recall_fscore_support

from cutplane import SequenceSVM
from cutplane.report.build import render_report
from cutplane.report.trained import Examples, Trained

RNG = np.random.default_rng(1)
LABELS = ["B", "I", "O"]
# I follows B or I alone.
Y = [[str(each) for each in RNG.choice(["O", "B I", "B I I"], size=4)] for _ in range(40)]
Y = [" ".join(labels).split() for labels in Y]
X = [[[f"is={label}" if RNG.random() < 0.7 else "unknown"] for label in labels] for labels in Y]
MODEL = SequenceSVM(C=1.0).fit(X[:30], Y[:30])


def test_transitions_are_a_heat_map_with_the_strongest_beside() -> None:
    page = render_report(Trained(MODEL))
    section = page[page.index('<section id="transitions"') :]
    strongest = np.unravel_index(np.abs(MODEL.transitions_).argmax(), (3, 3))
    a, b = (MODEL.classes_[index] for index in strongest)
    assert f"{a} before {b} {MODEL.transitions_[strongest]:.3g}" in section
    assert 'class="heat"' in section


def test_precision_recall_and_support_of_each_label() -> None:
    page = render_report(Trained(MODEL, held_out=Examples(X[30:], Y[30:])))
    truth = [label for labels in Y[30:] for label in labels]
    said = [label for labels in MODEL.predict(X[30:]) for label in labels]
    rows = zip(*precision_recall_fscore_support(truth, said, labels=LABELS, zero_division=0), strict=True)
    for name, (precision, recall, f1, support) in zip(LABELS, rows, strict=True):
        cells = (f"{100 * precision:.1f}\u00a0%", f"{100 * recall:.1f}\u00a0%", f"{f1:.4f}", f"{support:,}")
        assert f'<th scope="row">{name}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) in page
