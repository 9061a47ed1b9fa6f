"""What the package does, recorded: to show that a change of its inside changes nothing outside.

    python tests/recorded write FILE        # with the installed package, of any version
    python tests/recorded compare OLD NEW   # two records of one machine, to the bit
    python tests/recorded bounds FILE       # a record for other machines: proven bounds and sentences

Of a fit: all its numbers but times, predictions, steps, and what its file holds. Then sentences of errors, every
command's --help and some --json. `compare` prints what differs and exits with 1.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cases

COMMANDS = [
    "",
    "quickstart",
    "train",
    "path",
    "cross-validate",
    "predict",
    "evaluate",
    "info",
    "verify",
    "scan",
    "export",
    "convert",
]


def numbers_of(model: Any) -> dict[str, Any]:
    """All numbers that a fit has left, but times."""
    left: dict[str, Any] = {}
    for name, value in sorted(vars(model).items()):
        if name.endswith("_") and not name.startswith("_"):
            left[name] = _plain(value)
    for name in ("objective_", "lower_bound_", "gap_"):
        if hasattr(model, name):
            left[name] = _plain(getattr(model, name))
    if hasattr(model, "save"):
        left["file"] = _file(model)
    return left


def _plain(value: Any) -> Any:
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, np.ndarray) and value.dtype != object:
        array = np.ascontiguousarray(value)
        seen = hashlib.sha256(array.tobytes()).hexdigest()[:16]
        return {"shape": list(array.shape), "dtype": str(array.dtype), "bits": seen}
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    fields = getattr(value, "_asdict", None)
    fields = fields() if fields else getattr(value, "__dict__", None) or _slots(value)
    if fields and type(value).__module__.startswith("cutplane"):
        return {name: _plain(each) for name, each in fields.items() if name != "seconds" and not name.startswith("_")}
    return repr(value) if isinstance(value, (bool, int, str, np.generic, type(None))) else type(value).__name__


def _slots(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in getattr(value, "__slots__", ()) if hasattr(value, name)}


def _file(model: Any) -> dict[str, Any]:
    """Names and shapes of a model file's arrays, and what the loaded model predicts."""
    from safetensors import safe_open

    import cutplane

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        try:
            model.save(path)
        except (TypeError, ValueError) as refusal:
            return {"refused": str(refusal)}
        with safe_open(path, framework="numpy") as file:
            held = {name: list(file.get_slice(name).get_shape()) for name in sorted(file.keys())}
        return {"arrays": held, "class": type(cutplane.load(path)).__name__}


def sentence_of(case: cases.Case) -> str:
    """What a case is refused with."""
    try:
        case()
    except Exception as refusal:  # a raw error is a finding, too
        return f"{type(refusal).__name__}: {refusal}"
    return "accepted"


def answer_of(*words: str) -> str:
    """What the command prints, without times."""
    done = subprocess.run(
        [sys.executable, "-m", "cutplane", *words],
        capture_output=True,
        text=True,
        check=False,
        env={"COLUMNS": "100", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "NO_COLOR": "1"},
    )
    printed = re.sub(r'("[\w ]*seconds": )[\d.e-]+', r"\1...", done.stdout)
    return f"{done.returncode}\n{printed}{done.stderr}"


def record() -> dict[str, Any]:
    """Everything, by kind and name."""
    found: dict[str, Any] = {"models": {}, "refused": {}, "commands": {}}
    for name, case in cases.CASES.items():
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                found["models"][name] = numbers_of(case())
            except Exception as failure:
                found["models"][name] = {"failed": f"{type(failure).__name__}: {failure}"}
        found["models"][name]["warned"] = sorted({f"{each.category.__name__}: {each.message}" for each in warned})
    found["refused"] = {name: sentence_of(case) for name, case in cases.REFUSED.items()}
    for command in COMMANDS:
        found["commands"][f"{command} --help"] = answer_of(*command.split(), "--help")
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder) / "data.svm", Path(folder) / "model.safetensors"
        dump_svmlight_file(cases.X, cases.SIGNS, str(data))
        for words in (
            f"train {data} {model}",
            f"evaluate {model} {data}",
            f"cross-validate {data}",
            f"info {model}",
        ):
            printed = answer_of(*words.split(), "--json").replace(folder, "")
            found["commands"][words.replace(folder, "") + " --json"] = printed
    return found


def bounds_of(found: dict[str, Any]) -> dict[str, Any]:
    """What holds on every machine: between what the optimum lies, sentences, and what files hold."""
    models = {
        name: {"bounds": [model["lower_bound_"], model["objective_"]], "file": file_of(model)}
        for name, model in found["models"].items()
        if "lower_bound_" in model and "objective_" in model
    }
    return {"models": models, "refused": found["refused"]}


def file_of(numbers: dict[str, Any]) -> str:
    """The class that a model file gives, and its arrays' names, but for the phases of its steps."""
    file = numbers.get("file") or {}
    arrays = (name for name in file.get("arrays", ()) if not name.startswith("history.phase."))
    return " ".join([file.get("class", file.get("refused", "no file")), *arrays])


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Places where two records differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = sorted({*old, *new})
        return [each for name in names for each in differences(old.get(name), new.get(name), f"{path} / {name}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = zip(old, new, strict=True)
        return [each for place, pair in enumerate(pairs) for each in differences(*pair, f"{path} / {place}")]
    return [] if old == new else [f"{path[3:]}: {old!r:.200} -> {new!r:.200}"]


def _by_line(found: dict[str, Any]) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(of)}" for name, of in found.items()) + "}"


def main() -> int:
    what, *paths = sys.argv[1:] or ["help"]
    if what in ("write", "bounds") and len(paths) == 1:
        found = record()
        found = bounds_of(found) if what == "bounds" else found
        lines = [f"{json.dumps(kind)}: {_by_line(of)}" for kind, of in found.items()]
        Path(paths[0]).write_text("{" + ",\n".join(lines) + "}\n")
        return 0
    if what == "compare" and len(paths) == 2:
        found = differences(*(json.loads(Path(path).read_text()) for path in paths))
        print("\n".join(found) or "no difference")
        return bool(found)
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
