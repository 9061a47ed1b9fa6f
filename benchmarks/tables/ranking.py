"""The section of docs/benchmarks.md on ranking."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.measure import median
from benchmarks.tables.markdown import markdown_table, section

ORDER = 40


def overview(result: dict) -> str:
    rows = []
    for cell in result["two"]:
        seconds = {name: median(times) for name, times in cell["seconds"].items()}
        rows.append(
            [f"{cell['data']}, two ranks", f"{cell['n']:,}", f"{seconds['roc']:.2g} s", f"{seconds['hinge']:.2g} s"]
        )
    for cell in result["growth"]:
        kind = f"{cell['levels']} ranks" if cell["levels"] else "real targets"
        rows += [
            [f"synthetic, {kind}", f"{row['n']:,}", f"{row['seconds']:.2g} s", ""]
            for row in cell["rows"]
            if row["n"] in (100_000, 1_000_000, 5_000_000)
        ]
    words = (
        "All pairs of examples of different rank, to a proven 1e-3: seconds, and beside them those of plain "
        "classification (`LinearSVC`, hinge) on the same data. "
        f"2 threads, {result['machine']['cpu']}, {result['machine']['date']}."
    )
    tables = [markdown_table(["data", "examples", "all pairs", "classification"], rows)]
    tables += [part(result) for part in (queries, ordinal, dlib) if result.get(part.__name__)]
    return section("Ranking", "python benchmarks/ranking.py --data DIR", words, "\n\n".join(tables))


def queries(result: dict) -> str:
    rows = []
    for cell in result["queries"]:
        test, svm_rank = cell["test"], cell.get("svm_rank_elsewhere")
        rows.append(
            [
                f"{cell['data']}, C = {cell['C']:g}",
                f"{cell['pairs']:,}",
                f"{median(cell['seconds']['auto']):.2g} s",
                f"{svm_rank[0]:g} s" if svm_rank else "",
                f"{cell['peer']['seconds']:.2g} s",
                *(f"{test[who]['ndcg@10']:.4f}" for who in ("ours", "liblinear on pairs")),
            ]
        )
    words = (
        "Queries, C per query; SVM-rank as measured on another machine (`-e 0.001`, a gap of 0.2 %), LIBLINEAR on "
        "the differences of at most 200,000 pairs, and NDCG@10 on the test queries:"
    )
    header = ["data", "pairs", "cutplane", "SVM-rank", "LIBLINEAR on pairs", "NDCG@10", "its NDCG@10"]
    return f"{words}\n\n{markdown_table(header, rows)}"


def ordinal(result: dict) -> str:
    rows = [
        [
            cell["data"],
            f"{cell['n']:,}",
            f"{median(cell['seconds']):.2g} s",
            f"{cell['mean_absolute_error']:.3f}",
            *(f"{error:.3f}" for error in cell["peer_mean_absolute_error"].values()),
        ]
        for cell in result["ordinal"]
        if "peer_mean_absolute_error" in cell
    ]
    words = (
        "Ordered classes (targets of regression cut at quantiles, at most five classes): the mean absolute error on "
        "unseen rows, and that of scikit-learn's ridge regression, rounded, and of its logistic regression:"
    )
    header = ["data", "examples", "`OrdinalSVC`", "error", "ridge, rounded", "logistic"]
    return f"{words}\n\n{markdown_table(header, rows)}"


def dlib(result: dict) -> str:
    rows = []
    for cell in result["dlib"]:
        ours, theirs = (median(cell["seconds"][name]) for name in ("ours", "dlib"))
        above = cell["dlib_objective"] / cell["objective"] - 1.0
        name = f"{cell['data']}, C = {cell['C']:g}"
        rows.append([name, f"{ours:.2g} s", f"{theirs:.2g} s", f"{theirs / ours:.1f}x", f"{above:+.2%}"])
    words = (
        "dlib's ranking SVM, which knows relevant and irrelevant alone, on the same pairs and to the same gap; the "
        "last column is its objective beside ours:"
    )
    return f"{words}\n\n{markdown_table(['data', 'cutplane', 'dlib', 'ratio', 'its objective'], rows)}"


def plots(result: dict) -> dict:
    """Seconds of every method, on two ranks and on queries."""
    found = {}
    for part in ("two", "queries"):
        seconds = {
            _cell_name(cell): {name: median(times) for name, times in cell["seconds"].items() if times}
            for cell in result.get(part) or []
        }
        if seconds:
            found[part] = figures.bars({"two": "Area under the ROC", "queries": "Ranking in queries"}[part], seconds)
    return found


def _cell_name(cell: dict) -> str:
    return f"{cell['data']}, C = {cell['C']:g}" if "C" in cell else cell["data"]
