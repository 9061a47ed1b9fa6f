"""Layout, lint, types and layers: `python -m tests.lint`, as in .pre-commit-config.yaml.

Types and layers are those of the installed package, which alone has the stub that the build generates.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = ROOT / "pyproject.toml"


def script(name: str) -> str:
    """A command installed beside the interpreter, whether or not its environment is activated."""
    return shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name) or name


def checks(elsewhere: str) -> dict[str, tuple[list[str], str | Path]]:
    """Each command, and where to run it: elsewhere, the name means the installed package and not the sources."""
    cpp = [str(path) for part in ("core", "bindings", "tests/fuzz") for path in sorted((ROOT / part).rglob("*.[ch]pp"))]
    ruff = [sys.executable, "-m", "ruff"]
    # The cache stays: the next run checks what has changed.
    types = ["--config-file", str(SETTINGS), "--cache-dir", str(ROOT / ".mypy_cache" / "installed"), "-p", "cutplane"]
    return {
        "lint": ([*ruff, "check", "--no-cache", "."], ROOT),
        "layout": ([*ruff, "format", "--check", "--no-cache", "."], ROOT),
        "layout of C++": ([script("clang-format"), "--dry-run", "-Werror", *cpp], ROOT),
        "types": ([sys.executable, "-m", "mypy", *types], elsewhere),
        "layers": ([script("lint-imports"), "--config", str(SETTINGS), "--no-cache"], elsewhere),
    }


def main(names: list[str]) -> int:
    """Run the checks of these names, or all; how many failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as elsewhere:
        known = checks(elsewhere)
        for name in names or known:
            command, where = known[name]
            try:
                done = subprocess.run(command, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                code, said = done.returncode, done.stdout
            except FileNotFoundError:
                code, said = 1, f"{command[0]} is missing; pip install '.[test]' brings it.\n"
            print(f"{name}: {'fails' if code else 'passes'}", said if code else "", sep="\n" if code else "")
            failed += code != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
