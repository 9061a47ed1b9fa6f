"""Exit with a sentence unless a tag is `v` and the version that every file of a release names.

python packaging/check_tag.py v0.1.0
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

# Where a version stands, and how its line begins.
PLACES = {
    "pyproject.toml": r'^version = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "packaging/conda/recipe.yaml": r"^  version: (.+)$",
}


def versions(root: Path) -> dict[str, str]:
    """The version in each file; none if it has no such line, or several."""
    found = {}
    for name, line in PLACES.items():
        stated = re.findall(line, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        # A recipe names its version once more, by the variable that the first line sets.
        stated = [version for version in stated if not version.startswith("$")]
        found[name] = stated[0] if len(stated) == 1 else "none"
    return found


def main(tag: str) -> int:
    """0 if the tag is right."""
    stated = versions(Path(__file__).resolve().parents[1])
    wrong = {name: version for name, version in stated.items() if f"v{version}" != tag}
    for name, version in wrong.items():
        print(f"The tag is {tag}, and the version in {name} is {version}; v{version} would fit.", file=sys.stderr)
    if not wrong:
        print(f"{tag} is the version of {', '.join(stated)}.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) == 2 else ""))
