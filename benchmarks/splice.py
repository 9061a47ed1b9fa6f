"""Splice sites: string features at full scale, phase times as in Franc and Sonnenburg's Table 9, threads as in Table 5.

    python benchmarks/splice.py --data DIR --part celegans          and so on, each into the same JSON file
    python benchmarks/splice.py --part synthetic --n 15000000       planted sites in random DNA: no data needed
    python benchmarks/splice.py --part threads --threads 1,2,4,8,16 --n 2000000
    python benchmarks/splice.py --data DIR --part few --limit 60    StringSVC at its defaults beside two other ways
    python benchmarks/splice.py --report                            prints the tables of the file

Features are the paper's: spectra of orders 1 to 8 left and right of the site, weighted degree of order 8 over 141 bases
with the first weights of order 40. C is per example.
"""

import argparse
import bz2
import gzip
import json
import resource
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.svm import SVC

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import datasets, measure
from cutplane import LinearSVC, StringSVC
from cutplane.sources.alphabet import DNA
from cutplane.sources.packed import PIECE, PackedStrings, UnknownLetters
from cutplane.sources.strings import StringSource, degree_weights

REPRODUCES = "Franc and Sonnenburg 2009, Table 9 and Table 5's threads on string features"
QUICK = ("--part", "synthetic", "--n", "50000")
LENGTH, SITE = 141, 60
PHASES = {"scores": "output", "line_search": "line search", "cut": "add plane", "qp": "solver"}
OUT = measure.RESULTS / "splice.json"

#: C of the part "few".
FEW_CS = (0.1, 1.0, 100.0)

#: Stopping rules: that of Franc and Sonnenburg, and a proven gap.
RULES: dict[str, dict[str, float]] = {
    "the paper's rule": {"tol": 1e-12, "risk_tol": 1e-3},
    "a proven gap of 1e-3": {"tol": 1e-3},
}


def paper_model(**settings) -> StringSVC:
    equal = {"class_weight": None}  # as in the paper
    return StringSVC(order=8, spectra=[(0, 59), (61, LENGTH)], spectrum_order=8, depth=40, **equal, **settings)


def celegans(data: Path) -> tuple[np.ndarray, np.ndarray]:
    """The acceptor windows of 141 bases around the AG at 198."""
    with bz2.open(data / "celegans_acceptor" / "C_elegans_acc_100000.fasta.bz2") as file:
        entries = file.read().split(b">")[1:]
    split = [entry.partition(b"\n") for entry in entries]
    text = np.frombuffer(b"".join(body.replace(b"\n", b"") for _, _, body in split), np.uint8)
    labels = np.array([int(header.rpartition(b"label=")[2]) for header, _, _ in split])
    return np.ascontiguousarray(text.reshape(len(split), -1)[:, 139 : 139 + LENGTH]), labels


def human(data: Path) -> tuple[np.ndarray, np.ndarray]:
    """The AG sites of chromosome 22, both strands, 141 bases with the site at 60."""
    with gzip.open(data / "human_chr22" / "chr22.fasta.gz") as file:
        chromosome = np.frombuffer(file.read().partition(b"\n")[2].replace(b"\n", b""), np.uint8)
    sites = np.load(data / "human_chr22" / "acceptor_sites.npz")
    opposite = np.arange(256, dtype=np.uint8)
    opposite[list(b"ACGTacgt")] = list(b"TGCAtgca")
    pos, strand, label = sites["pos"].astype(np.int64), sites["strand"], sites["label"]
    start = np.where(strand > 0, pos - SITE, pos - (LENGTH - SITE - 2))
    inside = (start >= 0) & (start + LENGTH <= len(chromosome))
    start, strand, label = start[inside], strand[inside], label[inside]
    text = np.empty((len(start), LENGTH), np.uint8)
    for begin in range(0, len(start), 1 << 17):
        part = slice(begin, begin + (1 << 17))
        rows = chromosome[start[part, None] + np.arange(LENGTH)]
        back = strand[part] < 0
        rows[back] = opposite[rows[back][:, ::-1]]
        text[part] = rows
    return text, np.where(label > 0, 1, -1)


def synthetic(n: int, cache: Path, seed: int = 0) -> tuple[PackedStrings, np.ndarray]:
    """The synthetic strings, made once."""
    files = [Path(cache) / f"splice-{n}-{seed}-{part}.npy" for part in ("data", "y")]
    if not all(file.exists() for file in files):
        Path(cache).mkdir(parents=True, exist_ok=True)
        for file, array in zip(files, planted(n, seed), strict=True):
            np.save(file, array)
    data, y = map(np.load, files)
    return PackedStrings(data, n, LENGTH, DNA, UnknownLetters.none()), y


def planted(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random DNA with AG at the site; one in a hundred has a pyrimidine tract before it and an exon's bases behind."""
    rng = np.random.default_rng(seed)
    pieces, labels = [], []

    def table(*shares: float) -> np.ndarray:
        return np.repeat(np.arange(4, dtype=np.uint8), (np.array(shares) * 256).round().astype(int))

    plain, tract, exon = table(0.28, 0.22, 0.22, 0.28), table(0.16, 0.3, 0.12, 0.42), table(0.25, 0.25, 0.27, 0.23)
    for begin in range(0, n, PIECE):
        size = min(PIECE, n - begin)
        random = rng.integers(0, 256, size=(size, LENGTH), dtype=np.uint8)
        codes = plain[random]
        true = rng.random(size) < 0.01
        codes[true, SITE - 22 : SITE - 1] = tract[random[true, SITE - 22 : SITE - 1]]
        codes[true, SITE + 2 :] = exon[random[true, SITE + 2 :]]
        codes[true, SITE - 1] = np.where(random[true, SITE - 1] < 170, 1, codes[true, SITE - 1])
        codes[true, SITE + 2] = np.where(random[true, SITE + 2] < 128, 2, codes[true, SITE + 2])
        codes[:, SITE], codes[:, SITE + 1] = 0, 2
        text = np.frombuffer(b"ACGT", np.uint8)[codes]
        pieces.append(PackedStrings.pack(text).data)
        labels.append(np.where(true, 1, -1).astype(np.int8))
    return np.concatenate(pieces), np.concatenate(labels)  # pieces of the packed layout follow each other


def train(strings, y, options, unseen=None) -> dict:
    """Fit, phase times, memory, and areas on unseen strings."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    tol = 1e-12 if options.rule == "paper" else 1e-3
    model = paper_model(
        C=options.C,
        tol=tol,
        risk_tol=1e-3 if options.rule == "paper" else 0.0,
        n_jobs=options.jobs,
        time_limit=options.limit,
        method=options.method,
    )
    start = time.perf_counter()
    model.fit(strings, y)
    seconds = time.perf_counter() - start
    phases = {name: sum(step.phases.get(key, 0.0) for step in model.history_) for key, name in PHASES.items()}
    result = {
        "examples": len(y),
        "positive": int((np.asarray(y) > 0).sum()),
        "dimensions": model.n_features_in_,
        "C": options.C,
        "rule": options.rule,
        "fit_seconds": seconds,
        "train_seconds": model.history_[-1].seconds,
        "iterations": model.n_iter_,
        "gap": model.gap_,
        "stop": model.stop_reason_,
        "planes": model.history_[-1].planes,
        "phases": phases,
        "output_seconds_per_pass": phases["output"] / model.n_iter_,
        "peak_memory_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "threads": options.jobs,
    }
    if unseen is not None:
        scores = model.decision_function(unseen[0])
        result["unseen"] = len(unseen[1])
        result["roc_area"] = float(roc_auc_score(unseen[1], scores))
        result["pr_area"] = float(average_precision_score(unseen[1], scores))
    return result


def passes(strings, jobs: int, repeats: int = 3) -> dict:
    """Seconds of one output pass and of one sum over all, and over a fiftieth, of the examples."""
    source = StringSource(strings, paper_model().parts(LENGTH), normalize=True, n_threads=jobs)
    rng = np.random.default_rng(0)
    w, coef = rng.normal(size=source.shape[1]), rng.normal(size=len(strings))
    few = coef * (rng.random(len(strings)) < 0.02)
    seconds: dict[str, list[float]] = {"output": [], "sum of all": [], "sum of a fiftieth": []}
    for _ in range(repeats):
        for name, call in (
            ("output", lambda: source.scores(w)),
            ("sum of all", lambda: source.combine(coef)),
            ("sum of a fiftieth", lambda: source.combine(few)),
        ):
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    medians = {name: measure.median(each) for name, each in seconds.items()}
    lookups = len(strings) * source.lookups / medians["output"] / jobs / 1e9
    return {"examples": len(strings), "threads": jobs, **medians, "lookups_per_ns_and_core": lookups}


def columns(text: np.ndarray, order: int) -> sparse.csr_array:
    """The weighted-degree features of equally long strings that occur: one column for each, rows of length 1."""
    n, length = text.shape
    values = np.sqrt(degree_weights(order))
    codes, parts, data, width = np.searchsorted(np.frombuffer(b"ACGT", np.uint8), text), [], [], 0
    for begin in range(length):
        kmers = np.zeros(n, np.int64)
        for k in range(min(order, length - begin)):
            found, kmers = np.unique(kmers * 4 + codes[:, begin + k], return_inverse=True)
            parts.append(kmers + width)
            data.append(values[k])
            width += len(found)
    indices = np.stack(parts, axis=1).astype(np.int32)
    rows = np.tile(np.array(data) / np.linalg.norm(data), n)
    return sparse.csr_array((rows, indices.ravel(), np.arange(0, indices.size + 1, len(parts))), shape=(n, width))


def few(text: np.ndarray, y: np.ndarray, order: int, options: argparse.Namespace) -> list[dict]:
    """By C, seconds of `StringSVC` at its defaults, and of the same problem on its columns and on its kernel matrix.

    The others are given their columns or products ready-made.
    """
    X, rows = columns(text, order), []
    kernel = (X @ X.T).toarray() if len(y) <= 3000 else None
    for C in FEW_CS:
        common, models = {"C": C, "class_weight": "balanced", "tol": 1e-3}, {}

        def contestant(name, make, *data, models=models):
            def call() -> float:
                models[name] = make()
                return measure.fit_seconds(models[name], *data)

            return call

        ours = partial(StringSVC, order=order, time_limit=options.limit, **common)
        players = {"cutplane": contestant("cutplane", ours, text, y)}
        players["columns"] = contestant("columns", partial(LinearSVC, time_limit=options.limit, **common), X, y)
        if kernel is not None:
            players["kernel"] = contestant("kernel", partial(SVC, kernel="precomputed", **common), kernel, y)
        seconds = measure.alternate(players, repeats=3)
        model = models["cutplane"]
        row = {"examples": len(y), "order": order, "C": C, "gap": model.gap_, "objective": model.objective_}
        rows.append(row | {"seconds": {name: measure.median(each) for name, each in seconds.items()}})
        print(rows[-1], flush=True)
    return rows


def run(options: argparse.Namespace) -> dict:
    """One part, under the name it has in the file."""
    if options.part == "few":
        text, y = celegans(datasets.data_folder(options.data))
        drawn = np.random.default_rng(0).permutation(len(y))
        rows = [
            row
            for n in options.sizes
            for order in options.orders
            for row in few(text[drawn[:n]], y[drawn[:n]], order, options)
        ]
        return {f"few {','.join(map(str, options.sizes))}": rows}
    if options.part in ("celegans", "human"):
        text, y = (celegans if options.part == "celegans" else human)(datasets.data_folder(options.data))
        if options.part == "celegans":  # sites were drawn from all over the genome
            order = np.random.default_rng(0).permutation(len(y))
            seen, unseen = order[: len(y) // 2], order[len(y) // 2 :]
        else:  # neighbouring windows overlap: the end of the chromosome is kept apart
            cut = int(0.8 * len(y))
            seen, unseen = np.arange(cut), np.arange(cut, len(y))
        strings = PackedStrings.pack(text[seen])
        part = train(strings, y[seen], options, (PackedStrings.pack(text[unseen]), y[unseen]))
        return {f"{options.part} {options.rule} C={options.C:g}, {options.jobs} threads": part}
    if options.part == "synthetic":
        strings, y = synthetic(options.n, options.cache)
        unseen = synthetic(200_000, options.cache, seed=1)
        part = train(strings, y, options, unseen)
        return {f"synthetic {options.n} {options.rule} C={options.C:g}, {options.jobs} threads": part}
    if options.part == "make":
        for n, seed in ((options.n, 0), (200_000, 1)):
            synthetic(n, options.cache, seed)
        return {}
    strings, _ = synthetic(options.n, options.cache)
    if options.part == "output":
        return {f"output {options.n}, {options.jobs} threads": passes(strings, options.jobs)}
    return {"threads": [passes(strings, jobs) for jobs in options.threads]}


def report(content: dict) -> str:
    parts = content["parts"]
    trained = {name: part for name, part in parts.items() if isinstance(part, dict) and "phases" in part}
    columns = list(PHASES.values())
    text = [
        measure.table(
            ["data", "examples", "iterations", *columns, "total s", "gap", "planes", "GB", "ROC", "PR"],
            [
                [
                    name,
                    f"{p['examples']:,}",
                    p["iterations"],
                    *(p["phases"][column] for column in columns),
                    p["train_seconds"],
                    f"{p['gap']:.1e}",
                    p["planes"],
                    p["peak_memory_gb"],
                    *(f"{p[area]:.4f}" for area in ("roc_area", "pr_area")),
                ]
                for name, p in trained.items()
            ],
        )
    ]
    timed = [p for name, p in parts.items() if name.startswith("output")] + parts.get("threads", [])
    names = ["examples", "threads", "output", "sum of all", "sum of a fiftieth", "lookups_per_ns_and_core"]
    if timed:
        text.append(measure.table(names, [[p[name] for name in names] for p in timed]))
    small = [row for name, rows in parts.items() if name.startswith("few") for row in rows]
    if small:
        names = ("cutplane", "columns", "kernel")
        rows = [
            [p["examples"], p["order"], p["C"], *(p["seconds"].get(name) for name in names), f"{p['gap']:.1e}"]
            for p in small
        ]
        text.append(measure.table(["strings", "order", "C", *names, "gap"], rows))
    return "\n\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the published data files (default: $CUTPLANE_DATA)")
    parser.add_argument(
        "--cache", type=Path, default=datasets.DEFAULT_CACHE, help="folder of what was made (%(default)s)"
    )
    parser.add_argument(
        "--part", default="celegans", choices=["celegans", "human", "few", "synthetic", "output", "threads", "make"]
    )
    numbers = {"type": lambda text: tuple(map(int, text.split(",")))}
    parser.add_argument("--sizes", **numbers, default=(300, 3000), help="strings of the part few (%(default)s)")
    parser.add_argument("--orders", **numbers, default=(2, 4, 8, 10), help="its orders (%(default)s)")
    parser.add_argument("--n", type=int, default=1_000_000, help="synthetic strings (%(default)s)")
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument(
        "--rule", choices=["gap", "paper"], default="gap", help="stop at a gap of 1e-3, or as the paper"
    )
    parser.add_argument("--method", default="auto")
    parser.add_argument("--jobs", type=int, default=2, help="threads of a part (%(default)s)")
    parser.add_argument("--threads", type=lambda text: tuple(map(int, text.split(","))), default=(1, 2))
    parser.add_argument("--limit", type=float, default=None, help="seconds of training")
    parser.add_argument("--out", type=Path, default=OUT, help="JSON file (%(default)s)")
    parser.add_argument("--report", action="store_true", help="print the tables of the file and stop")
    options = parser.parse_args()
    content = json.loads(options.out.read_text()) if options.out.exists() else {"parts": {}}
    if not options.report:
        content["parts"].update(run(options))
        content["machine"] = measure.machine()
        measure.write_json(options.out, content)
    print(report(content))


if __name__ == "__main__":
    main()
