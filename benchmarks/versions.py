"""Two versions of the library on the same calls: seconds, and whether they give the same coefficients.

    python benchmarks/versions.py --data DIR --before FOLDER --after FOLDER [--sets a9a,covtype] [--out FILE]

FOLDER holds a package `cutplane` with its extension: a site-packages, or a source tree that was built in place. Each
version runs in a process of its own, and they take turns. Of each call: the median of both, their ratio, and "same"
where the coefficients agree to the bit; otherwise how far the objectives are apart, and the larger of the two gaps.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from statistics import geometric_mean, median
from time import perf_counter

import numpy as np

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import datasets

SETS = ("covtype", "mnist", "a9a", "w8a", "news20", "rcv1")
CS = (0.01, 1.0, 10.0)
# Longer calls are made no more often than this many seconds allow, but three times.
ENOUGH = 6.0


def calls(name: str) -> list[dict]:
    """What is compared on a data set."""
    fits = [{"model": "LinearSVC", "C": C, "fit_intercept": b} for C in CS for b in (False, True)]
    found = [{"set": name, **fit} for fit in fits]
    if name == "a9a":
        found.append({"set": name, "model": "LinearSVC", "fit_intercept": False, "path": list(np.logspace(-3, 1, 9))})
        found.append({"set": name, "model": "LinearSVC", "C": 0.1, "multi_class": "crammer_singer"})
        found.append({"set": name, "model": "RankSVM", "C": 0.1})
    return found


def worker(options: argparse.Namespace) -> None:
    """Answer calls, one line each."""
    import cutplane

    warnings.simplefilter("ignore")
    held: tuple[str, datasets.Examples] | None = None
    print(json.dumps({"package": str(Path(cutplane.__file__).parent)}), flush=True)
    for line in sys.stdin:
        call = json.loads(line)
        name, model, path = call.pop("set"), call.pop("model"), call.pop("path", None)
        if held is None or held[0] != name:
            held = (name, datasets.load(name, options.data, options.cache))
        X, y = held[1]
        estimator = getattr(cutplane, model)(**call)
        begin = perf_counter()
        fitted = list(estimator.path(X, y, path)) if path else [estimator.fit(X, y)]
        seconds = perf_counter() - begin
        last = fitted[-1]
        objective, gap = float(np.sum(last.objective_)), float(np.max(last.gap_))
        bits = (
            np.ascontiguousarray(last.coef_).tobytes()
            + np.ascontiguousarray(getattr(last, "intercept_", 0.0)).tobytes()
        )
        print(json.dumps({"seconds": seconds, "objective": objective, "gap": gap, "bits": hash_of(bits)}), flush=True)


def hash_of(data: bytes) -> str:
    """Short, and the same in both processes."""
    from hashlib import sha256

    return sha256(data).hexdigest()[:16]


class Version:
    """A process that runs one of them."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        command = [sys.executable, __file__, "--worker", "--data", str(options.data), "--cache", str(options.cache)]
        surroundings = {**os.environ, "PYTHONPATH": str(folder.resolve())}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=surroundings
        )
        package = Path(self._answer()["package"])
        if package.parent != folder.resolve():
            raise SystemExit(f"{folder} has no package cutplane that can be imported: {package} was.")

    def _answer(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("A worker ended: see its error above.")
        return json.loads(line)

    def run(self, call: dict) -> dict:
        """One call."""
        self._process.stdin.write(json.dumps(call) + "\n")
        self._process.stdin.flush()
        return self._answer()


def compare(call: dict, versions: tuple[Version, Version], repeats: int) -> dict:
    """Both take turns; who begins changes."""
    found: tuple[list[dict], list[dict]] = ([], [])
    for turn in range(repeats):
        for which in (0, 1) if turn % 2 else (1, 0):
            found[which].append(versions[which].run(call))
        if turn >= 2 and sum(each["seconds"] for side in found for each in side) > 2 * ENOUGH:
            break
    before, after = (median(each["seconds"] for each in side) for side in found)
    last = found[0][-1], found[1][-1]
    apart = abs(last[0]["objective"] - last[1]["objective"]) / abs(last[0]["objective"])
    return {
        **call,
        "before": before,
        "after": after,
        "ratio": after / before,
        "turns": len(found[0]),
        "same": last[0]["bits"] == last[1]["bits"],
        "apart": apart,
        "gap": max(each["gap"] for each in last),
    }


def parsed(given: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the published data files (default: $CUTPLANE_DATA)")
    parser.add_argument("--cache", type=Path, default=datasets.DEFAULT_CACHE)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--after", type=Path)
    parser.add_argument("--sets", type=lambda text: tuple(text.split(",")), default=SETS)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(given)
    if not options.worker and (options.before is None or options.after is None):
        parser.error("--before and --after are folders that each hold a version.")
    return options


def main(given: list[str] | None = None) -> None:
    """Run and print a line for each call."""
    options = parsed(given)
    if options.worker:
        worker(options)
        return
    options.data = datasets.data_folder(options.data)
    versions = (Version(options.before, options), Version(options.after, options))
    rows = []
    for name in options.sets:
        for call in calls(name):
            row = compare(call, versions, options.repeats)
            rows.append(row)
            what = {key: value for key, value in call.items() if key != "path"}
            same = "same" if row["same"] else f"{row['apart']:.1e} apart, gap {row['gap']:.1e}"
            print(f"{what} {row['before']:.4f} s {row['after']:.4f} s ratio {row['ratio']:.3f} {same}", flush=True)
    ratios = [row["ratio"] for row in rows]
    summary = {"geometric_mean": geometric_mean(ratios), "worst": max(ratios), "same": sum(row["same"] for row in rows)}
    print(f"{len(rows)} calls: {summary}")
    if options.out:
        options.out.write_text(json.dumps({"summary": summary, "calls": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
