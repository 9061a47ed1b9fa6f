"""dlib's ranking SVM beside ours: cutting planes on pairs too, for documents that are relevant or not.

dlib minimises ½|w|² + C·(mean over all pairs), and stops when that mean is known to within its `epsilon`: it is given
the one that stands for a relative gap of 1e-3 of the objective. Making its vectors is not timed.
"""

import importlib.util
from time import perf_counter

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets, measure, ranking_data
from cutplane import RankSVM

MISSING = None if importlib.util.find_spec("dlib") else "missing: pip install dlib"
ROWS = 10_000  # of the large sets
GAP = 1e-3


def version() -> str:
    if MISSING:
        return MISSING
    import dlib

    return str(dlib.__version__)


def dense_vector(row: np.ndarray):
    import dlib

    return dlib.vector(row.tolist())


def sparse_vector(row: sp.csr_array):
    import dlib

    vector = dlib.sparse_vector()
    for index, value in zip(row.indices.tolist(), row.data.tolist(), strict=True):
        vector.append(dlib.pair(index, value))
    return vector


def ranking_pairs(X, relevant: np.ndarray, qid: np.ndarray):
    """The queries as dlib takes them; dense or sparse vectors, as X is."""
    import dlib

    sparse = sp.issparse(X)
    queries = dlib.sparse_ranking_pairs() if sparse else dlib.ranking_pairs()
    for query in np.unique(qid):
        pair = dlib.sparse_ranking_pair() if sparse else dlib.ranking_pair()
        for row in np.flatnonzero(qid == query):
            vector = sparse_vector(X[[row]]) if sparse else dense_vector(X[row])
            (pair.relevant if relevant[row] else pair.nonrelevant).append(vector)
        if len(pair.relevant) and len(pair.nonrelevant):
            queries.append(pair)
    return queries


def objective(X, relevant: np.ndarray, qid: np.ndarray, C: float, w: np.ndarray) -> float:
    """½|w|² + C·(mean over all pairs), pair by pair."""
    total, count, scores = 0.0, 0, X @ w
    for query in np.unique(qid):
        of_query = qid == query
        better, worse = scores[of_query & relevant], scores[of_query & ~relevant]
        for part in np.array_split(better, max(1, len(better) * len(worse) // 10_000_000)):
            total += np.maximum(0.0, 1.0 - part[:, None] + worse).sum()
        count += len(better) * len(worse)
    return float(0.5 * w @ w + C * total / count)


def compare(name: str, X, relevant: np.ndarray, qid: np.ndarray, C: float, options) -> dict:
    """Ours and dlib's on the same pairs, C being that of the mean over all of them."""
    import dlib

    found: dict = {}

    def ours() -> float:
        queries = len([q for q in np.unique(qid) if 0 < relevant[qid == q].sum() < (qid == q).sum()])
        model = RankSVM(C=C / queries, weighting="pairs", tol=GAP, n_jobs=options.threads)
        start = perf_counter()
        found["ours"] = model.fit(X, relevant.astype(int), qid=qid)
        return perf_counter() - start

    ours()
    trainer = dlib.svm_rank_trainer_sparse() if sp.issparse(X) else dlib.svm_rank_trainer()
    trainer.c = C
    trainer.epsilon = GAP * found["ours"].objective_ / C
    queries = ranking_pairs(X, relevant, qid)

    def theirs() -> float:
        start = perf_counter()
        found["dlib"] = trainer.train(queries)
        return perf_counter() - start

    seconds = measure.alternate({"ours": ours, "dlib": theirs}, options.repeats, options.budget)
    weights = found["dlib"].weights
    w = np.zeros(X.shape[1])
    if sp.issparse(X):
        for entry in weights:
            w[entry.first] = entry.second
    else:
        w[:] = [weights[k] for k in range(X.shape[1])]
    return {
        "data": name,
        "n": X.shape[0],
        "C": C,
        "seconds": seconds,
        "objective": found["ours"].objective_,
        "gap": found["ours"].gap_,
        "dlib_objective": objective(X, relevant, qid, C, w),
    }


def measure_all(options) -> list[dict]:
    """The query sets with documents relevant or not, and subsamples of the two-rank sets, sparse."""
    rows = []
    folder = datasets.data_folder(options.data)
    for name, load in ranking_data.QUERIES.items():
        d = load(folder)
        X = d.X.astype(np.float64)
        rows += [compare(name, X, d.y > 0, d.qid, C, options) for C in (10.0, 1000.0)]
    for name in ("covtype", "mnist"):
        X, y = datasets.load(name, options.data, options.cache)
        chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:ROWS])
        X = sp.csr_array(X[chosen].astype(np.float64))
        rows.append(compare(f"{name}, {ROWS:,} rows", X, y[chosen] > 0, np.zeros(ROWS), 0.01 * ROWS, options))
    return rows


def table(rows: list[dict]) -> str:
    lines = []
    for row in rows:
        ours, theirs = (measure.median(row["seconds"][name]) for name in ("ours", "dlib"))
        above = row["dlib_objective"] / row["objective"] - 1.0
        lines.append([row["data"], row["n"], row["C"], ours, theirs, theirs / ours, f"{above:+.2%}"])
    return measure.table(["data", "n", "C", "ours s", "dlib s", "ratio", "its objective beside ours"], lines)
