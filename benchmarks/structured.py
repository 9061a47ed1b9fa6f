"""Sequence labelling: ours to a proven gap of 1 % beside crfsuite, on the same features in the same run.

    python benchmarks/structured.py --data DIR [--sets conll2000,ocr-letters] [--repeats 3] [--out FILE]
    python benchmarks/structured.py --data DIR --tune          chooses C on a fifth of the training data
    python benchmarks/structured.py --data DIR --folds         OCR letters on ten folds: nine to train on, or one
    python benchmarks/structured.py --data DIR --halves        OCR letters as SVM-struct's published figures have them
    python benchmarks/structured.py --data DIR --strengths     2,000 sentences of CoNLL-2000 by C
    python benchmarks/structured.py --gather FILE ...          takes what was measured apart into --out

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
from benchmarks.sequence_sets import SETS, SequenceSet, ocr_folds, ocr_halves
from cutplane import SequenceSVM
from cutplane.structured.metrics import score_sequences

QUICK = ("--sets", "ocr-letters", "--repeats", "1")
OUT = measure.RESULTS / "structured.json"
# Chosen with --tune.
CS = {"conll2000": 0.1, "ocr-letters": 0.3, "ocr-letters-large": 1.0, "ud-english-ewt": 0.3}
TUNED = (0.03, 0.1, 0.3, 1.0)
# The gap of the models that are compared, and one at which a test figure is near its last value already.
TOL, ROUGH = 1e-2, 0.2
# SVM-struct's C, the weight of the mean loss, at which its accuracy on half of the OCR words is published.
HALVES_CS = (1.0, 10.0, 100.0, 1000.0, 10_000.0)
# C of the part "strengths", which ends after so many seconds each.
STRENGTHS, STRENGTH_SECONDS = (0.1, 1.0, 10.0, 1000.0), 60.0
# As crfsuite's users run it: its defaults but for the penalty and the number of passes.
CRFSUITE = {
    "crfsuite L-BFGS": ("lbfgs", {"c1": 0.0, "c2": 1.0, "max_iterations": 100}),
    "crfsuite averaged perceptron": ("ap", {"max_iterations": 10}),
}


def figure(sequences: SequenceSet, predicted: list) -> float:
    """In per cent: F1 of the entities, or the share of tokens that are right."""
    scores = score_sequences(sequences.Y_test, predicted)
    return 100 * (scores.entities.f1 if sequences.figure == "F1" else scores.accuracy)


def held_out(sequences: SequenceSet, predicted: list) -> dict:
    """The figure that is compared, accuracy of tokens and F1 of entities, on the test data, in per cent."""
    scores = score_sequences(sequences.Y_test, predicted)
    both = {"accuracy": 100 * scores.accuracy, "F1": 100 * scores.entities.f1}
    return {"figure": both[sequences.figure], **both}


class Ours:
    """`SequenceSVM` as a contestant."""

    def __init__(
        self, sequences: SequenceSet, C: float, threads: int, tol: float = TOL, time_limit: float | None = None
    ) -> None:
        self._sequences = sequences
        self._settings = {"C": C, "tol": tol, "n_jobs": threads, "time_limit": time_limit}

    def __call__(self) -> float:
        start = perf_counter()
        self.model = SequenceSVM(**self._settings).fit(self._sequences.X, self._sequences.Y)
        return perf_counter() - start

    def summary(self) -> dict:
        model = self.model
        return {
            **self._settings,
            **held_out(self._sequences, model.predict(self._sequences.X_test)),
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
        return {**self._settings, **held_out(self._sequences, predicted)}


def contestants(name: str, sequences: SequenceSet, threads: int) -> dict:
    ours = {"cutplane": Ours(sequences, CS[name], threads)}
    ours[f"cutplane, tol = {ROUGH:g}"] = Ours(sequences, CS[name], threads, ROUGH)
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
        "missing": [peer for peer in CRFSUITE if peer not in players],
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


def measure_folds(data: Path, wanted: list[int], threads: int) -> dict[str, list[dict]]:
    """Accuracy and seconds on folds of the OCR letters, trained on nine of ten parts, and on one."""
    found: dict[str, list[dict]] = {"ocr-letters": [], "ocr-letters-large": []}
    folds = ocr_folds(data)
    for number in wanted:
        fold = folds[number]
        turned = SequenceSet(fold.X_test, fold.Y_test, fold.X, fold.Y, fold.figure)
        for name, sequences in (("ocr-letters", turned), ("ocr-letters-large", fold)):
            players = contestants(name, sequences, threads)
            row = {player: {"seconds": call(), "figure": call.summary()["figure"]} for player, call in players.items()}
            found[name].append({"fold": number, **row})
            print(name, found[name][-1], flush=True)
    return found


def measure_halves(data: Path, threads: int) -> list[dict]:
    """Letters and words that are right on the other half of the OCR words, by SVM-struct's C."""
    rows = []
    for number, half in enumerate(ocr_halves(data)):
        for C in HALVES_CS:
            ours = Ours(half, C / len(half.X), threads)
            seconds = ours()
            predicted = ours.model.predict(half.X_test)
            words = [truth == list(found) for truth, found in zip(half.Y_test, predicted, strict=True)]
            rows.append({"half": number, "C": C, "seconds": seconds, "gap": ours.model.gap_})
            rows[-1] |= {"letters": figure(half, predicted), "words": 100 * sum(words) / len(words)}
            print(rows[-1], flush=True)
    return rows


def measure_strengths(data: Path, threads: int, repeats: int) -> list[dict]:
    """Seconds and held-out figures on 2,000 sentences, ours by C and crfsuite's L-BFGS in turn."""
    whole = SETS["conll2000"](data)
    part, rows = whole._replace(X=whole.X[:2000], Y=whole.Y[:2000]), []
    for C in STRENGTHS:
        players = {"cutplane": Ours(part, C, threads, time_limit=STRENGTH_SECONDS)}
        players["crfsuite L-BFGS"] = Crfsuite(part, *CRFSUITE["crfsuite L-BFGS"])
        seconds = measure.alternate(players, repeats)
        runs = {name: {"seconds": measure.median(seconds[name]), **call.summary()} for name, call in players.items()}
        rows.append({"C": C, "runs": runs})
        print(rows[-1], flush=True)
    return rows


def gather(known: dict, files: list[Path]) -> dict:
    """What is known with what was measured elsewhere: sets, halves and tuning are replaced, folds put together."""
    folds: dict[str, list[dict]] = {}
    for file in files:
        other = json.loads(file.read_text())
        for part in ("sets", "tuning"):
            known[part] = known[part] | other[part]
        if "halves" in other:
            known["halves"] = other["halves"]
        if "folds" in other:
            for name, rows in other["folds"]["rows"].items():
                folds.setdefault(name, []).extend(rows)
            known["folds"] = {**other["folds"], "rows": folds}
    known["sets"] = {name: known["sets"][name] for name in SETS if name in known["sets"]}
    for rows in folds.values():
        rows.sort(key=lambda row: row["fold"])
    return known


def print_table(results: dict) -> None:
    rows = [
        [
            name,
            player,
            run.get("accuracy"),
            run.get("F1"),
            f"{run['figure']:.2f} {cell['figure']}",
            measure.median(run["seconds"]),
            run.get("gap"),
        ]
        for name, cell in results.items()
        for player, run in cell["runs"].items()
    ]
    rows += [
        [name, peer, None, None, "missing", None, None]
        for name, cell in results.items()
        for peer in cell.get("missing", [])
    ]
    print(measure.table(["data", "trainer", "accuracy", "F1", "test", "seconds", "proven gap"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the published files (default: $CUTPLANE_DATA)")
    parser.add_argument("--sets", default=",".join(SETS), help="comma-separated, of %(default)s")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--budget", type=float, default=600.0, help="seconds after which no new round begins")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tune", action="store_true", help="choose C on a part of the training data, and stop")
    parser.add_argument(
        "--folds",
        nargs="?",
        const="0-9",
        metavar="FIRST-LAST",
        help="OCR letters on ten folds, or on some of them, and stop",
    )
    parser.add_argument("--halves", action="store_true", help="OCR letters on halves, by SVM-struct's C, and stop")
    parser.add_argument("--strengths", action="store_true", help="sentences of CoNLL-2000 by C, and stop")
    parser.add_argument("--gather", type=Path, nargs="+", metavar="FILE", help="measure nothing: take these into --out")
    parser.add_argument("--out", type=Path, default=OUT, help="sets measured earlier are kept in it (%(default)s)")
    options = parser.parse_args()
    known = json.loads(options.out.read_text()) if options.out.exists() else {"sets": {}, "tuning": {}}
    packages = ("cutplane", "numpy", "scipy", "python-crfsuite")
    if options.gather:
        known = gather(known, options.gather)
        measure.write_json(options.out, known)
        print_table(known["sets"])
        return
    if options.folds or options.halves or options.strengths:
        machine = measure.machine(packages)
        data = data_folder(options.data)
        if options.folds:
            first, last = map(int, options.folds.split("-"))
            rows = measure_folds(data, list(range(first, last + 1)), options.threads)
            known["folds"] = {"machine": machine, "threads": options.threads, "rows": rows}
        if options.halves:
            rows = measure_halves(data, options.threads)
            known["halves"] = {"machine": machine, "threads": options.threads, "rows": rows}
        if options.strengths:
            rows = measure_strengths(data, options.threads, options.repeats)
            known["strengths"] = {"machine": machine, "threads": options.threads, "rows": rows}
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
