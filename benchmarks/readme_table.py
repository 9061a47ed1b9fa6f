"""Write the measured results into README.md, docs/benchmarks.md and docs/results, from benchmarks/results/*.json.

python benchmarks/readme_table.py             writes them between their markers
python benchmarks/readme_table.py --check     fails if they are not what is there

A benchmark takes part by a module of its name in benchmarks/tables; see there.
"""

import argparse
import json
import pkgutil
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import tables
from benchmarks.measure import RESULTS
from benchmarks.tables.readme import summary as summarised

ROOT = RESULTS.parents[1]
README = ROOT / "README.md"
BENCHMARKS = ROOT / "docs" / "benchmarks.md"
PAGES = ROOT / "docs" / "results"


def measured() -> Iterator[tuple[ModuleType, dict]]:
    """The modules of `tables` with the results they are about, those that were measured."""
    for found in pkgutil.iter_modules(tables.__path__):
        path = RESULTS / f"{found.name}.json"
        if path.exists():
            yield import_module(f"benchmarks.tables.{found.name}"), json.loads(path.read_text())


def sections() -> str:
    """The sections of docs/benchmarks.md in their order."""
    found = [
        (getattr(module, "ORDER", 100), module, result) for module, result in measured() if hasattr(module, "overview")
    ]
    return "\n\n".join(module.overview(result) for _, module, result in sorted(found, key=lambda each: each[0]))


def summary() -> str:
    """The table of the README, and where others are faster."""
    whole, called = (json.loads((RESULTS / f"{name}.json").read_text()) for name in ("readme", "as_called"))
    return summarised(whole, called)


def between(text: str, name: str, content: str, path: Path) -> str:
    """`text` with what stands between the two markers of that name replaced."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise SystemExit(f"{path.name} must have one {begin} and one {end}.")
    before, rest = text.split(begin)
    return f"{before}{begin}\n\n{content}\n\n{end}{rest.split(end)[1]}"


def wanted() -> dict[Path, str]:
    """Every file that shows results, as it should be."""
    files = {
        README: between(README.read_text(), "results", summary(), README),
        BENCHMARKS: between(BENCHMARKS.read_text(), "results", sections(), BENCHMARKS),
    }
    for module, result in measured():
        if not hasattr(module, "PAGE") or not (PAGES / module.PAGE).exists():
            continue
        path = PAGES / module.PAGE
        text = files.get(path) or path.read_text()
        made = module.tables(result)
        for name in re.findall(r"<!-- ((?!/).*?) -->", text):
            if name in made:
                text = between(text, name, made[name], path)
        files[path] = text
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a file is stale")
    check = parser.parse_args().check
    for path, text in wanted().items():
        if check and path.read_text() != text:
            name = path.relative_to(ROOT)
            raise SystemExit(f"The results in {name} are not those measured; run python benchmarks/readme_table.py.")
        if not check:
            path.write_text(text)


if __name__ == "__main__":
    main()
