"""Every benchmark behind one command.

python -m benchmarks                                                lists them
python -m benchmarks joachims --data DIR [--quick] [--out OUT]      runs one; more names run more
python -m benchmarks all --data DIR --quick --out OUT               runs all

Each writes OUT/NAME.json, its plots beside it, and prints its table. Words after -- go to the benchmark as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from benchmarks import tables
from benchmarks.catalogue import FOLDER, Benchmark, discover
from benchmarks.harness import save_plot
from benchmarks.measure import RESULTS


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    extra: list[str] = []
    if "--" in words:
        cut = words.index("--")
        words, extra = words[:cut], words[cut + 1 :]
    options = _parser().parse_args(words)
    benchmarks = {each.name: each for each in discover()}
    if not options.names:
        print(listing(list(benchmarks.values())))
        return 0
    names = list(benchmarks) if options.names == ["all"] else options.names
    unknown = [name for name in names if name not in benchmarks]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}; there are {', '.join(benchmarks)}.", file=sys.stderr)
        return 2
    failed = [name for name in names if run(benchmarks[name], options, extra) != 0]
    if failed:
        print(f"Did not run to the end: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


def run(benchmark: Benchmark, options: argparse.Namespace, extra: list[str]) -> int:
    """In a process of its own, so that one that ends early or fills the memory stops no other."""
    command = [sys.executable, str(benchmark.path), "--out", str(options.out / f"{benchmark.name}.json")]
    if options.data:
        command += ["--data", str(options.data)]
    if options.quick:
        command += benchmark.quick
    print(f"\n== {benchmark.name}: {benchmark.title}", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(FOLDER.parent), os.environ.get("PYTHONPATH", "")])}
    status = subprocess.run([*command, *extra], env=environment).returncode
    if status == 0:
        draw(benchmark.name, options.out)
    return status


def draw(name: str, folder: Path) -> None:
    """The plots of a benchmark that draws none itself: those that `plots` of its module in `tables` makes."""
    if name not in {found.name for found in pkgutil.iter_modules(tables.__path__)}:
        return
    plots = getattr(import_module(f"benchmarks.tables.{name}"), "plots", None)
    file = folder / f"{name}.json"
    if plots is None or not file.exists() or find_spec("matplotlib") is None:
        return
    for title, figure in plots(json.loads(file.read_text())).items():
        save_plot(figure, folder / f"{name}-{title}")


def listing(benchmarks: list[Benchmark]) -> str:
    """Names, one line each, and what of the papers they measure again."""
    width = max(len(each.name) for each in benchmarks)
    lines = []
    for each in benchmarks:
        lines.append(f"{each.name:{width}}  {each.title}")
        if each.reproduces:
            lines.append(f"{'':{width}}    reproduces {each.reproduces}")
    return "\n".join([*lines, "", "python -m benchmarks NAME --data DIR [--quick | --full] [--out DIR] runs one."])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which to run, or all; none lists them")
    parser.add_argument("--data", type=Path, help="folder of the published data files (default: $CUTPLANE_DATA)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small data sets, about a minute each")
    size.add_argument("--full", action="store_true", help="everything (the default)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for JSON and plots (%(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
