"""A chain with a kernel by cutting planes: Taskar's letters, as in benchmarks/structured.py; a part of sampled_cuts."""

import argparse
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks import datasets, sequence_sets
from cutplane import KernelStructuralSVM
from cutplane.structured.chain import ChainModel

# Kernels of the chain; of each family the one is shown that labels a fifth of the training words best.
CHAIN = [
    *(("linear", {"kernel": "linear", "C": C}) for C in (0.1, 0.3, 1.0)),
    *(
        (f"polynomial, degree {degree}", {"kernel": "poly", "degree": degree, "gamma": 0.05, "coef0": 1.0, "C": C})
        for degree, C in ((2, 0.1), (2, 1.0), (3, 0.03), (3, 0.3))
    ),
    *(("Gaussian", {"kernel": "rbf", "gamma": gamma, "C": C}) for gamma in (0.02, 0.05, 0.1) for C in (1.0, 5.0)),
]


def letters(data: Path):
    """Words of letters as arrays of 128 pixels and a constant, and their labels."""
    X, Y, Xt, Yt = sequence_sets.ocr_arrays(data)
    return [x.astype(np.float64) for x in X], Y, [x.astype(np.float64) for x in Xt], Yt


def chain(options: argparse.Namespace) -> list[dict]:
    """Label sequences with kernelised emissions: 626 words to train on, 6,251 to test."""
    X, Y, Xt, Yt = letters(datasets.data_folder(options.data))
    rows = []
    for kernel, params in CHAIN:
        if options.ways and not kernel.startswith(tuple(options.ways)):
            continue
        if options.gammas and params.get("gamma") not in options.gammas:
            continue
        held = [i for i in range(len(X)) if i % 5 == 0]
        rest = [i for i in range(len(X)) if i % 5]
        # What kernels are chosen by, and what they are worth.
        folds = {"train": [[part[i] for i in which] for which in (rest, held) for part in (X, Y)]}
        for fold, parts in {**folds, "test": [X, Y, Xt, Yt]}.items():
            rows.append({"data": "letters", "kernel": kernel, "fold": fold, **chain_run(parts, params, options)})
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def chain_run(parts, params: dict, options: argparse.Namespace) -> dict:
    X, Y, Xt, Yt = parts
    model = KernelStructuralSVM(
        ChainModel(26, X[0].shape[1]), risk_tol=0.05, n_jobs=options.threads, time_limit=options.limit, **params
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        model.fit(X, Y)
        seconds = perf_counter() - start
    wrong = [np.mean(np.concatenate(model.predict(x)) != np.concatenate(y)) for x, y in ((X, Y), (Xt, Yt))]
    return {
        "n": len(X),
        "C": params["C"],
        "gamma": params.get("gamma"),
        "seconds": seconds,
        "train_error": 100 * float(wrong[0]),
        "test_error": 100 * float(wrong[1]),
        "gap": model.gap_,
        "n_iter": model.n_iter_,
        "stop_reason": model.stop_reason_,
        "support": len(model.support_),
    }
