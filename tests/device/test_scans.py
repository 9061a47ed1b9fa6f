"""Windows of a text that are scored on a device score as on the host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutplane import StringSVC
from cutplane.cli.app import run
from cutplane.device import arrays, windows
from cutplane.device.kernels import Kernels
from cutplane.device.windows import WindowScores
from cutplane.sources.alphabet import DNA, PROTEIN
from cutplane.sources.strings import StringPart, StringSource, degree_weights
from cutplane.sources.windows import SlidingWindows

LENGTH = 19


def genome(size: int, letters: str = "ACGT", seed: int = 0) -> bytes:
    rng = np.random.default_rng(seed)
    text = rng.choice(list(letters), size=size)
    text[40:90] = "N" if letters == "ACGT" else "X"
    text[200] = "N" if letters == "ACGT" else "X"
    return "".join(text).encode()


def parts() -> list[StringPart]:
    return [
        StringPart(False, 1, 11, tuple(degree_weights(3).tolist()), normalize=False),
        StringPart(True, 0, LENGTH, tuple(degree_weights(2).tolist()), normalize=False),
    ]


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("alphabet", [DNA, PROTEIN], ids=["dna", "protein"])
@pytest.mark.parametrize("motif", [None, ("A", 0), ("AC", 7)])
def test_hits(kernels: Kernels, motif: Any, alphabet: Any, normalize: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "_AT_ONCE", 128)  # several stretches
    text = genome(500, "ACGT" if alphabet is DNA else "ACDEFGHIKLMNPQRSTVWY")
    w = np.random.default_rng(1).normal(size=sum(part.dimension(alphabet.size) for part in parts()))
    there = WindowScores(kernels, alphabet, LENGTH, parts(), w, 0.1, normalize=normalize)
    codes = there.codes(text)
    for reverse in [False, True] if alphabet is DNA else [False]:
        read = SlidingWindows(text, LENGTH, alphabet, reverse=reverse)
        scores = StringSource(read, parts(), normalize=normalize).scores(w) + 0.1
        chosen = np.ones(len(read), bool) if motif is None else read.starts_with(*motif)
        found = there.hits(there.opposite(codes) if reverse else codes, 0.2, motif)
        assert found.looked_at == np.count_nonzero(chosen)
        np.testing.assert_array_equal(found.begins, np.flatnonzero(chosen & (scores > 0.2)))
        np.testing.assert_allclose(found.scores, scores[found.begins], rtol=1e-11)
        assert found.highest == pytest.approx(scores[chosen].max())


def test_what_is_refused(kernels: Kernels) -> None:
    w = np.zeros(sum(part.dimension(4) for part in parts()))
    there = WindowScores(kernels, DNA, LENGTH, parts(), w, 0.0, normalize=True)
    with pytest.raises(ValueError, match="letter 'J' at position 3"):
        there.codes(b"ACGJACGT")
    with pytest.raises(ValueError, match="does not lie in a window"):
        there.hits(there.codes(genome(300)), 0.0, ("ACG", LENGTH - 1))
    with pytest.raises(ValueError, match="measured by the processor"):
        WindowScores(kernels, DNA, 600, parts(), w, 0.0, normalize=True)


def test_the_command(
    kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(arrays, "cuda_kernels", lambda: kernels)
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    letters = rng.choice(list("ACGT"), size=(300, LENGTH))
    y = rng.integers(2, size=300)
    letters[:, 6:9] = np.where(y[:, None] == 1, list("GAT"), letters[:, 6:9])
    model = StringSVC(order=3, spectra=[(0, 9)], spectrum_order=2).fit(["".join(row) for row in letters], y)
    model.save("model")
    lines = [">one a\n", *(f"{genome(400, seed=k).decode()}\n" for k in range(3)), ">two\nACG\n>three\n"]
    Path("genome.fa").write_text("".join(lines) + genome(210, seed=9).decode() + "\n")
    for options in (["--both-strands"], ["--motif", "GA", "--at", "6", "--both-strands"], ["--threshold", "9"]):
        found = []
        for place in ([], ["--device", "cuda"]):
            assert run(["scan", "model", "genome.fa", *options, *place]) == 0
            found.append(capfd.readouterr())
        assert found[0] == found[1]
        assert ("\t" in found[0].out) == ("--threshold" not in options)
    assert run(["scan", "model", "genome.fa", "--device", "tpu"]) != 0
    assert "must be 'cuda'" in capfd.readouterr().err
