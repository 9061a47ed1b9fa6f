"""Feed a reader random changes of its corpus: python tests/fuzz/mutate.py TARGET RUNS [SEED]. No fuzzer is needed."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import targets

_PIECES = (
    b"0",
    b"-1",
    b"1e308",
    b"null",
    b"[]",
    b"{}",
    b'"',
    b"\0",
    b"\xff" * 4,
    b'{"$float": "nan"}',
    b"1e-308",
    b"9" * 25,
)


_NUMBER = re.compile(rb"-?\d+(\.\d+)?(e-?\d+)?")


def mutate(data: bytes, inputs: list[bytes], rng: np.random.Generator) -> bytes:
    """A few bytes changed, taken out, put in, or another input's tail put on."""
    for _ in range(int(rng.integers(1, 5))):
        at, end = sorted(rng.integers(0, len(data) + 1, 2).tolist())
        end = min(end, at + int(2 ** rng.uniform(0, 6)))
        kind = rng.integers(8)
        if kind == 0 and data:
            at = int(rng.integers(len(data)))
            data = data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + data[end:]
        elif kind == 2:
            data = data[:at] + rng.bytes(int(rng.integers(1, 9))) + data[end:]
        elif kind == 3:
            data = data[:at] + _PIECES[int(rng.integers(len(_PIECES)))] + data[end:]
        elif kind > 4:  # numbers of a text, so that it still is one
            numbers = list(_NUMBER.finditer(data)) or [_NUMBER.match(b"0")]
            found = numbers[int(rng.integers(len(numbers)))]
            new = repr(float(rng.normal() * 10.0 ** rng.integers(-8, 8))).encode() if kind > 5 else _PIECES[kind % 3]
            data = data[: found.start()] + new + data[found.end() :]
        else:
            other = inputs[int(rng.integers(len(inputs)))]
            data = data[:at] + other[int(rng.integers(len(other) + 1)) :]
    return data


def main() -> None:
    """Run until an input is met that does what it must not, and leave it in a file."""
    name, runs = sys.argv[1], int(sys.argv[2])
    rng = np.random.default_rng(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
    inputs = [path.read_bytes() for path in sorted((Path(__file__).parent / "corpus" / name).iterdir())]
    said: Counter[str] = Counter()
    for _ in range(runs):
        data = mutate(inputs[int(rng.integers(len(inputs)))], inputs, rng)
        try:
            said[targets.attempt(name, data)] += 1
        except BaseException:
            Path(f"crash-{name}").write_bytes(data)
            raise
    print(
        f"{runs} inputs: {said['.']} passed, {runs - said['.']} were refused, in {len(said) - 1} different sentences."
    )


if __name__ == "__main__":
    main()
