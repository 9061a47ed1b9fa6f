"""Start-up of the command and of the package: processor seconds and seconds of new processes.

Each figure is the least of several runs: what the work takes where nothing else disturbs it. On a busy machine the
processor's seconds say more than those on the clock. Bytecode is compiled before, as it is in an installed package.

    python benchmarks/startup.py [--runs 7] [--json startup.json] [--importtime]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cutplane.datasets import adult_svmlight

QUICK = ("--runs", "2")
_CUTPLANE = ["-m", "cutplane"]


def commands(folder: Path) -> dict[str, list[str]]:
    """What is measured, by what a user would say; the files are made."""
    train = folder / "adult.svm"
    train.write_bytes(adult_svmlight("train"))
    small = folder / "small.svm"
    small.write_bytes(b"\n".join(train.read_bytes().splitlines()[:2000]) + b"\n")
    model = str(folder / "model.safetensors")
    return {
        "import cutplane": ["-c", "import cutplane"],
        "cutplane --help": [*_CUTPLANE, "--help"],
        "cutplane train --help": [*_CUTPLANE, "train", "--help"],
        "train, 2,000 rows of a9a": [*_CUTPLANE, "train", str(small), model],
        "predict, 2,000 rows of a9a": [*_CUTPLANE, "predict", model, str(small)],
        "train, all of a9a": [*_CUTPLANE, "train", str(train), model],
        "evaluate, all of a9a": [*_CUTPLANE, "evaluate", model, str(train)],
    }


def measure(words: list[str], environment: dict[str, str], runs: int) -> dict[str, float]:
    """The least processor and clock seconds of a new Python with these words."""
    processor, clock = [], []
    for _ in range(runs + 1):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([sys.executable, *words], env=environment, check=True, stdout=subprocess.DEVNULL)
        clock.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    # The first run compiles.
    return {"processor_seconds": min(processor[1:]), "seconds": min(clock[1:])}


def slowest_imports(words: list[str], environment: dict[str, str], most: int = 15) -> list[tuple[str, float]]:
    """The modules that take longest to import, by ``python -X importtime``, without what they import themselves."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *words], env=environment, check=True, capture_output=True, text=True
    )
    rows = [
        line[len("import time:") :].split("|") for line in done.stderr.splitlines() if line.startswith("import time:")
    ]
    seconds = [(name.strip(), 1e-6 * int(own)) for own, _, name in rows if own.strip().isdigit()]
    return sorted(seconds, key=lambda row: -row[1])[:most]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    parser.add_argument("--importtime", action="store_true", help="show which imports take longest")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(name) / "bytecode")
        found = {}
        for what, words in commands(Path(name)).items():
            found[what] = measure(words, environment, given.runs)
            figures = found[what]
            print(f"{what:<28} {figures['processor_seconds']:.2f} s of the processor, {figures['seconds']:.2f} s")
            if given.importtime:
                for module, seconds in slowest_imports(words, environment):
                    print(f"    {1000 * seconds:6.1f} ms  {module}")
    if given.json is not None:
        given.json.write_text(json.dumps({"python": sys.version.split()[0], "startup": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
