"""``python -m cutplane.testing.device_tour``: every estimator that trains on a GPU, on arrays of every kind.

Each fit must end in a proven model, an honest gap at its limit of time, or one sentence of ours. Then the model
predicts and scores. The nightly tests do the same on NumPy's twin of a GPU.
"""

from __future__ import annotations

import argparse
import json
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import cutplane
from cutplane._types import Params

#: From a NumPy array or CSR matrix to what a user has: by the name of the place.
Places = dict[str, Callable[[Any], Any]]
DTYPES = ("float32", "float16", "bfloat16", "int8")
CLASSES = (2, 3, 5, 20)
CS = (1e-4, 1e-2, 1.0, 1e2, 1e4)
SECONDS = 2.0
_ONE_FILE = str(Path(cutplane.__file__).parent)


class Kind(NamedTuple):
    """An estimator: its class, what it is trained on, settings, and which choices it has."""

    name: str
    target: str = "labels"
    settings: tuple[tuple[str, Any], ...] = ()
    C: bool = True
    intercept: bool = False
    device: bool = True
    sparse: bool = True


_GRID = (("Cs", [1e-2, 1.0]), ("cv", 2))
KINDS = (
    *(Kind("LinearSVC", settings=(("loss", loss),), intercept=True) for loss in ("hinge", "squared_hinge", "logistic")),
    Kind("LinearSVC", settings=(("multi_class", "crammer_singer"),), intercept=True),
    Kind("LinearSVC", "sides", (("loss", "roc_area"),)),
    Kind("LinearSVCCV", settings=_GRID, C=False, intercept=True),
    Kind("LogisticRegression", intercept=True),
    *(
        Kind("LinearSVR", "numbers", (("loss", loss),), intercept=True)
        for loss in ("epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile")
    ),
    Kind("LinearSVRCV", "numbers", _GRID, C=False, intercept=True),
    Kind("OrdinalSVC"),
    Kind("RankSVM", "queries"),
    Kind("LinearOneClassSVM", "nothing", C=False, device=False),
    Kind("SVC"),
    Kind("NuSVC", settings=(("nu", 0.05),), C=False),
    Kind("SVR", "numbers"),
    Kind("NuSVR", "numbers"),
    Kind("OneClassSVM", "nothing", C=False),
    Kind("SampledCutSVC", "sides"),
    Kind("CholeskyFeatures", "features", (("n_components", 20),), C=False),
)


class Case(NamedTuple):
    """What is fitted: an estimator, where X lies, and the choices."""

    kind: Kind
    place: str
    dtype: str
    classes: int
    C: float
    intercept: bool
    weighted: bool

    @property
    def text(self) -> str:
        """All of it in a line."""
        settings = ", ".join(f"{name}={value}" for name, value in self.kind.settings)
        rest = f"{self.place} {self.dtype}, {self.classes} classes, C={self.C:g}"
        flags = (", intercept" if self.intercept else "") + (", weights" if self.weighted else "")
        return f"{self.kind.name}({settings}): {rest}{flags}"


def cases(places: Sequence[str], each: int, seed: int = 0) -> Iterator[Case]:
    """So many of each estimator at random: every value of every choice comes up."""
    random = Random(seed)
    for kind in KINDS:
        there = [name for name in places if (kind.device or name != "host") and (kind.sparse or name != "csr")]
        choices = product(there, DTYPES, CLASSES, CS if kind.C else (1.0,), (True, False), (True, False))
        every = [each for each in choices if each[1] != "bfloat16" or each[0] == "tensor"]
        for place, dtype, classes, C, intercept, weighted in random.sample(every, min(each, len(every))):
            yield Case(kind, place, dtype, classes, C, intercept, weighted)


def _examples(case: Case, n: int, d: int) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
    """Rows of the host, targets and weights."""
    rng = np.random.default_rng(case.classes)
    X = rng.standard_normal((n, d))
    z = X[:, : min(d, 8)].sum(axis=1) + 0.5 * rng.standard_normal(n)
    labels = np.digitize(z, np.quantile(z, np.arange(1, case.classes) / case.classes))
    X = 20.0 * X if case.dtype == "int8" else X
    rows = X.clip(-100, 100).astype("float32" if case.dtype == "bfloat16" else case.dtype)
    y = {"numbers": z, "sides": (z > 0).astype(np.int8)}.get(case.kind.target, labels)
    return sp.csr_matrix(rows.astype(np.float32)) if case.place == "csr" else rows, y, rng.random(n) + 0.5


def judged(case: Case, places: Places, n: int = 2000, d: int = 300) -> dict[str, Any]:
    """What comes of a case; `wrong` says what is."""
    X, y, weights = _examples(case, n, d)
    kind = case.kind
    found: dict[str, Any] = {"case": case.text}
    settings: Params = {**dict(kind.settings), "time_limit": SECONDS}
    settings |= {"C": case.C} if kind.C else {}
    settings |= {"fit_intercept": case.intercept} if kind.intercept else {}
    settings |= {"device": "cuda"} if case.place == "host" else {}
    if kind.target == "features":
        del settings["time_limit"]
    begun = time.perf_counter()
    try:
        there = places[case.place](X)
        there = there.bfloat16() if case.dtype == "bfloat16" else there
        aside = places["host" if case.place == "host" else "cupy" if case.place == "csr" else case.place]
        model = getattr(cutplane, kind.name)(**settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found |= _used(case, model, there, aside(y), aside(weights) if case.weighted else None)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        text = str(error)
        found["sentence"] = f"{type(error).__name__}: {text[:500]}"
        ours = frames[-1].filename.startswith(_ONE_FILE) and isinstance(error, (ValueError, TypeError))
        if not ours or "\n" in text or not text.endswith("."):
            found["wrong"] = "".join(traceback.format_exception(error))[-3000:]
    found["seconds"] = round(time.perf_counter() - begun, 3)
    return found


def _used(case: Case, model: Any, X: Any, y: Any, weights: Any) -> dict[str, Any]:
    """The model, fitted; predictions, and a score."""
    found: dict[str, Any] = {}
    target = case.kind.target
    given = {} if weights is None else {"sample_weight": weights}
    if target == "queries":
        groups = np.arange(X.shape[0]) // 20
        model.fit(X, y, qid=groups)
        found["score"] = float(model.score(X, y, qid=groups))
    elif target == "nothing":
        model.fit(X, **given)
        model.predict(X)
    elif target == "features":
        model.fit(X)
        model.transform(X)
        return found
    else:
        model.fit(X, y, **given)
        model.predict(X)
        found["score"] = float(model.score(X, y))
    certificates = list(getattr(model, "certificates_", []))
    reasons = sorted({str(each.stop_reason) for each in certificates}) or [str(getattr(model, "stop_reason_", "gap"))]
    gap = float(np.max(model.gap_)) if hasattr(model, "gap_") else float("nan")
    found |= {"gap": gap, "reasons": reasons}
    if any(each.lower_bound > each.objective * (1.0 + 1e-12) + 1e-300 for each in certificates if each.objective > 0):
        found["wrong"] = "a lower bound above the objective"
    if reasons == ["gap"] and not gap <= 0.5 and case.kind.name not in ("LinearOneClassSVM", "OneClassSVM"):
        found["wrong"] = f"said to be proven, with a gap of {gap:g}"
    return found


def toured(places: Places, each: int, n: int, d: int, seconds: float = float("inf")) -> dict[str, Any]:
    """All cases, by turns of estimators, as far as the seconds go."""
    begun, rows = time.perf_counter(), list[dict[str, Any]]()
    order = sorted(enumerate(cases(list(places), each)), key=lambda pair: pair[0] % each)
    for _, case in order:
        if time.perf_counter() - begun > seconds:
            break
        rows.append(judged(case, places, n, d))
    wrong = [row for row in rows if "wrong" in row]
    proven = sum(row.get("reasons") == ["gap"] for row in rows)
    counts = {"cases": len(rows), "proven": proven, "sentences": sum("sentence" in row for row in rows)}
    return counts | {"slowest": sorted(rows, key=lambda row: -row["seconds"])[:5], "wrong": wrong}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it on this machine's GPU; 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=40, help="cases of an estimator (%(default)s)")
    parser.add_argument("--seconds", type=float, default=300.0, help="for all of them (%(default)s)")
    parser.add_argument("--out", type=Path, help="JSON file")
    options = parser.parse_args(arguments)
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    torch: Any = import_module("torch")  # for this command alone
    places: Places = {
        "tensor": lambda a: torch.as_tensor(a, device="cuda"),
        "cupy": cupy.asarray,
        "csr": csr_matrix,
        "host": lambda a: a,
    }
    found = {"device": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(), "cupy": cupy.__version__}
    found |= toured(places, options.each, 2000, 300, options.seconds)
    text = json.dumps(found, indent=1)
    print(text)
    if options.out is not None:
        options.out.write_text(text + "\n")
    return 1 if found["wrong"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
