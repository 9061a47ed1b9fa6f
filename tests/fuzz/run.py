"""Feed a reader what Atheris thinks up: python tests/fuzz/run.py TARGET [options of libFuzzer] [folder of inputs]."""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent))
with atheris.instrument_imports(
    include=["cutplane.io", "cutplane.sources", "cutplane.estimators.restoring", "cutplane.proof"]
):
    import targets


def main() -> None:
    """Run until an input is met that does what it must not."""
    name = sys.argv.pop(1)
    if name not in targets.TARGETS:
        sys.exit(f"There is no target {name}; there are {', '.join(targets.TARGETS)}.")
    atheris.Setup(sys.argv, lambda data: targets.attempt(name, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
