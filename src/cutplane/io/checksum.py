"""A checksum inside a safetensors file that covers every byte of it, padding and header included.

The digest is that of the file with zeros in the digest's own place. A digest of the arrays and the description alone
would let a changed name, shape or blank of the header pass.
"""

from __future__ import annotations

import hashlib
import re
from typing import BinaryIO

PLACEHOLDER = "0" * 64
"""Stands where the digest will be, in the document that is written first."""

# The first field of the document. Quotes that are not escaped do not occur inside a string, so there is one such place
# at most, whatever the document says further on.
_FIELD = re.compile(rb'"cutplane":"{\\"sha256\\": \\"([0-9a-f]{64})\\"')
_LENGTH_BYTES = 8
# The format's own limit.
_MOST_HEADER_BYTES = 100_000_000
_BLOCK_BYTES = 1 << 20


def sealed(contents: bytes) -> list[bytes | memoryview]:
    """The file in pieces, with its digest filled in.

    Requires: its document begins with ``"sha256"``, which is the `PLACEHOLDER`.
    """
    (place,) = _FIELD.finditer(contents, 0, _LENGTH_BYTES + _header_length(contents))
    digest = hashlib.sha256(contents).hexdigest().encode()
    whole = memoryview(contents)
    return [whole[: place.start(1)], digest, whole[place.end(1) :]]


def is_intact(file: BinaryIO) -> bool | None:
    """Whether a file, at its beginning, is as it was written; None where it has no digest."""
    start = file.read(_LENGTH_BYTES)
    length = _header_length(start)
    if len(start) < _LENGTH_BYTES or length > _MOST_HEADER_BYTES:
        return None
    header = file.read(length)
    places = list(_FIELD.finditer(header))
    if len(places) != 1:
        return None
    (place,) = places
    digest = hashlib.sha256(start)
    digest.update(header[: place.start(1)] + PLACEHOLDER.encode() + header[place.end(1) :])
    while block := file.read(_BLOCK_BYTES):
        digest.update(block)
    return digest.hexdigest().encode() == place[1]


def _header_length(start: bytes) -> int:
    return int.from_bytes(start[:_LENGTH_BYTES], "little")
