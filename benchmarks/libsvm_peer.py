"""LIBSVM's own C library through its official Python package: only the call of svm_train is timed.

The package is built with OpenMP: kernel rows are computed by OMP_NUM_THREADS threads, which spin while they wait. On
cores that others use too it is many times slower than with one thread.
"""

import ctypes
import re
from dataclasses import dataclass
from importlib import metadata
from time import perf_counter

import numpy as np
import scipy.sparse as sp

try:
    from libsvm import svm
except ImportError:
    svm = None

MISSING = None if svm is not None else "pip install libsvm-official"
KERNELS = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3}


def version() -> str:
    return metadata.version("libsvm-official") if svm is not None else "missing"


@dataclass
class Trained:
    seconds: float
    iterations: int
    dual: float  # summed over the machines
    support: int
    model: object

    def predict(self, X) -> np.ndarray:
        """The classes of new examples, by LIBSVM itself."""
        rows = sp.csr_matrix(X, dtype=np.float64)
        found = np.empty(rows.shape[0])
        for i in range(rows.shape[0]):
            part = slice(rows.indptr[i], rows.indptr[i + 1])
            nodes, _ = svm.gen_svm_nodearray((rows.indices[part], rows.data[part]))
            found[i] = svm.libsvm.svm_predict(self.model, nodes)
        return found


def train(X, y, kernel, C: float, eps: float = 1e-3, cache_mb: float = 4096) -> Trained:
    """Train on CSR or dense X; one-vs-one where y has more than two classes."""
    problem = svm.svm_problem(np.asarray(y, float), sp.csr_matrix(X, dtype=np.float64))
    options = (
        f"-s 0 -t {KERNELS[kernel.name]} -c {C!r} -g {kernel.gamma!r} -r {kernel.coef0!r} -d {kernel.degree} "
        f"-e {eps!r} -m {cache_mb}"
    )
    parameters = svm.svm_parameter(options)
    lines: list[bytes] = []
    printer = svm.PRINT_STRING_FUN(lines.append)
    svm.libsvm.svm_set_print_string_function(ctypes.cast(printer, svm.PRINT_STRING_FUN))
    start = perf_counter()
    model = svm.libsvm.svm_train(problem, parameters)
    seconds = perf_counter() - start
    said = b"".join(lines).decode()
    iterations = sum(map(int, re.findall(r"#iter = (\d+)", said)))
    dual = -sum(map(float, re.findall(r"obj = (\S+),", said)))
    trained = svm.toPyModel(model)
    trained.x_space = problem.x_space  # the model's support vectors lie in it
    return Trained(seconds, iterations, dual, trained.get_nr_sv(), trained)
