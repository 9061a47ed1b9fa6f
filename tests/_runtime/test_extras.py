"""What works without the extras, and what is said where one is missing."""

from __future__ import annotations

import subprocess
import sys

EXTRAS = ("matplotlib", "rich", "typer", "zstandard", "onnx", "dask")
# An environment in which the extras are not installed, as far as Python can tell.
WITHOUT = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""


def without_extras(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT + code], capture_output=True, text=True)


def test_fit_predict_and_save_need_no_extra(tmp_path):
    done = without_extras(f"""
from cutplane import SVC, LinearSVC, load
from cutplane.datasets import load_adult
X, y = load_adult()
X, y = X[:500], y[:500]
model = LinearSVC().fit(X, y)
model.save({str(tmp_path / "m.safetensors")!r})
assert (load({str(tmp_path / "m.safetensors")!r}).predict(X) == model.predict(X)).all()
assert SVC().fit(X, y).gap_ < 1
import cutplane.io, cutplane.kernels, cutplane.plotting, cutplane.report, cutplane.sources
""")
    assert done.returncode == 0, done.stderr


SENTENCES = [
    (
        "from cutplane import LinearSVC; from cutplane.plotting import plot_convergence;"
        "plot_convergence(LinearSVC().fit([[0.0], [1.0]], [0, 1]).history_)",
        "Plots need matplotlib: pip install 'cutplane[plot]'.",
    ),
    (
        "from cutplane.io.compression import open_sink; open_sink(sys.stdout.buffer, 'zstd')",
        "Files of zstd need zstandard: pip install 'cutplane[cli]'.",
    ),
    ("from cutplane.cli import main; main()", "Commands need typer: pip install 'cutplane[cli]'."),
]


def test_a_missing_extra_is_one_sentence():
    tried = [
        f"try: exec({code!r})\nexcept BaseException as end: print(end)\nelse: print('no error')\n"
        for code, _ in SENTENCES
    ]
    done = without_extras("".join(tried))
    assert done.returncode == 0, done.stderr
    for said, (_, sentence) in zip(done.stdout.splitlines(), SENTENCES, strict=True):
        assert said.endswith(sentence)
