"""Sequence labelling: ours to a proven gap of 1 % beside crfsuite, on the same features in the same run.

    python benchmarks/structured.py --data DIR [--sets conll2000,ocr-letters] [--repeats 3] [--out FILE]
    python benchmarks/structured.py --data DIR --tune          chooses C on a fifth of the training data
    python benchmarks/structured.py --data DIR --folds         OCR letters on ten folds: nine to train on, or one

Times are those of everything between lists of feature names and a model: numbering features, training. Ours and the
peers take turns, medians are compared. C was chosen with --tune, which looks at no test data.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import measure
from benchmarks.datasets import data_folder
from benchmarks.sequence_sets import SETS, SequenceSet, ocr_folds
from cutplane import SequenceSVM
from cutplane.structured.metrics import score_sequences

QUICK = ("--sets", "ocr-letters", "--repeats", "1")
OUT = measure.RESULTS / "structured.json"
# Chosen with --tune.
CS = {"conll2000": 0.1, "ocr-letters": 0.3, "ocr-letters-large": 1.0, "ud-english-ewt": 0.3}
TUNED = (0.03, 0.1, 0.3, 1.0)
TOL = 1e-2
# As crfsuite's users run it: its defaults but for the penalty and the number of passes.
CRFSUITE = {
    "crfsuite L-BFGS": ("lbfgs", {"c1": 0.0, "c2": 1.0, "max_iterations": 100}),
    "crfsuite averaged perceptron": ("ap", {"max_iterations": 10}),
}


def figure(sequences: SequenceSet, predicted: list) -> float:
    """In per cent: F1 of the entities, or the share of tokens that are right."""
    scores = score_sequences(sequences.Y_test, predicted)
    return 100 * (scores.entities.f1 if sequences.figure == "F1" else scores.accuracy)


class Ours:
    """`SequenceSVM` as a contestant."""

    def __init__(self, sequences: SequenceSet, C: float, threads: int) -> None:
        self._sequences = sequences
        self._settings = {"C": C, "tol": TOL, "n_jobs": threads}

    def __call__(self) -> float:
        start = perf_counter()
        self.model = SequenceSVM(**self._settings).fit(self._sequences.X, self._sequences.Y)
        return perf_counter() - start

    def summary(self) -> dict:
        model = self.model
        return {
            **self._settings,
            "figure": figure(self._sequences, model.predict(self._sequences.X_test)),
            "gap": model.gap_,
            "objective": model.objective_,
            "iterations": model.n_iter_,
            "solver_seconds": model.history_[-1].seconds,
            "features": model.n_features_in_,
            "labels": len(model.classes_),
        }


class Crfsuite:
    """One of crfsuite's trainers as a contestant."""

    def __init__(self, sequences: SequenceSet, algorithm: str, settings: dict) -> None:
        self._sequences = sequences
        self._algorithm, self._settings = algorithm, settings
        self._folder = tempfile.TemporaryDirectory()

    @property
    def _path(self) -> str:
        return os.path.join(self._folder.name, "model")

    def __call__(self) -> float:
        import pycrfsuite

        start = perf_counter()
        trainer = pycrfsuite.Trainer(algorithm=self._algorithm, params=self._settings, verbose=False)
        for x, y in zip(self._sequences.X, self._sequences.Y, strict=True):
            trainer.append(x, y)
        trainer.train(self._path)
        return perf_counter() - start

    def summary(self) -> dict:
        import pycrfsuite

        tagger = pycrfsuite.Tagger()
        with tagger.open(self._path):
            predicted = [tagger.tag(x) for x in self._sequences.X_test]
        return {**self._settings, "figure": figure(self._sequences, predicted)}


def contestants(name: str, sequences: SequenceSet, threads: int) -> dict:
    ours = {"cutplane": Ours(sequences, CS[name], threads)}
    try:
        import pycrfsuite  # noqa: F401
    except ImportError:
        print("python-crfsuite is missing; pip install '.[bench]' brings it.")
        return ours
    return ours | {peer: Crfsuite(sequences, *how) for peer, how in CRFSUITE.items()}


def measure_set(name: str, sequences: SequenceSet, options: argparse.Namespace) -> dict:
    players = contestants(name, sequences, options.threads)
    seconds = measure.alternate(players, options.repeats, options.budget)
    return {
        "figure": sequences.figure,
        "sequences": len(sequences.X),
        "tokens": sum(map(len, sequences.X)),
        "runs": {player: {"seconds": seconds[player], **call.summary()} for player, call in players.items()},
    }


def tune(sequences: SequenceSet, threads: int) -> dict[str, float]:
    """The figure on every fifth training sequence, of models trained on the others."""
    X, Y = sequences.X, sequences.Y
    rest = [k for k in range(len(X)) if k % 5]
    part = SequenceSet([X[k] for k in rest], [Y[k] for k in rest], X[::5], Y[::5], sequences.figure)
    figures = {}
    for C in TUNED:
        model = SequenceSVM(C, tol=TOL, n_jobs=threads).fit(part.X, part.Y)
        figures[f"{C:g}"] = figure(part, model.predict(part.X_test))
    return figures


def measure_folds(data: Path, threads: int) -> dict[str, list[dict]]:
    """Accuracy and seconds on every fold of the OCR letters, trained on nine of ten parts, and on one."""
    found: dict[str, list[dict]] = {"ocr-letters": [], "ocr-letters-large": []}
    for fold in ocr_folds(data):
        turned = SequenceSet(fold.X_test, fold.Y_test, fold.X, fold.Y, fold.figure)
        for name, sequences in (("ocr-letters", turned), ("ocr-letters-large", fold)):
            players = contestants(name, sequences, threads)
            found[name].append(
                {player: {"seconds": call(), "figure": call.summary()["figure"]} for player, call in players.items()}
            )
            print(name, found[name][-1], flush=True)
    return found


def print_table(results: dict) -> None:
    rows = [
        [name, player, f"{run['figure']:.2f} {cell['figure']}", measure.median(run["seconds"]), run.get("gap")]
        for name, cell in results.items()
        for player, run in cell["runs"].items()
    ]
    print(measure.table(["data", "trainer", "test", "seconds", "proven gap"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the published files (default: $CUTPLANE_DATA)")
    parser.add_argument("--sets", default=",".join(SETS), help="comma-separated, of %(default)s")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--budget", type=float, default=600.0, help="seconds after which no new round begins")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tune", action="store_true", help="choose C on a part of the training data, and stop")
    parser.add_argument("--folds", action="store_true", help="OCR letters on ten folds, and stop")
    parser.add_argument("--out", type=Path, default=OUT, help="sets measured earlier are kept in it (%(default)s)")
    options = parser.parse_args()
    known = json.loads(options.out.read_text()) if options.out.exists() else {"sets": {}, "tuning": {}}
    packages = ("cutplane", "numpy", "scipy", "python-crfsuite")
    if options.folds:
        folds = measure_folds(data_folder(options.data), options.threads)
        known["folds"] = {"machine": measure.machine(packages), "threads": options.threads, "rows": folds}
        measure.write_json(options.out, known)
        return
    for name in options.sets.split(","):
        sequences = SETS[name](data_folder(options.data))
        if options.tune:
            known["tuning"][name] = tune(sequences, options.threads)
            print(name, known["tuning"][name])
        else:
            known["sets"][name] = {
                "machine": measure.machine(packages),
                "threads": options.threads,
                **measure_set(name, sequences, options),
            }
        measure.write_json(options.out, known)
    print_table(known["sets"])


if __name__ == "__main__":
    main()
