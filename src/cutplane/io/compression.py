"""Compressed files: told by their first bytes when read, by their name when written."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol, cast

from cutplane._runtime.extras import require

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}

# What the decompressors raise on bytes that are not theirs. A truncated stream is an EOFError.
_DAMAGED = (gzip.BadGzipFile, zlib.error, lzma.LZMAError, OSError)

# A few bytes of zstd may stand for 32,000 times as many: a piece must not fill the memory before it is counted.
_ZSTD_PIECE = 1 << 13
_ZSTD_BLOCK = 1 << 20

# Text of numbers shrinks to a third, or a twentieth; far less is a file made to fill the memory.
_MOST_EXPANSION = 200.0
_EXPANSION_SETTING = "CUTPLANE_MAX_EXPANSION"
# Small files may shrink by any factor: this much content does no harm.
_HARMLESS_BYTES = 1 << 28


class CompressionError(ValueError):
    """A compressed stream that is truncated, damaged, or out of proportion to what it was compressed to."""


class Sink(Protocol):
    """Where compressed or plain bytes are written."""

    def write(self, data: bytes, /) -> object:
        """Take the next bytes."""

    def close(self) -> None:
        """Write what is still held back; the file beneath stays open."""


class _Filled(Protocol):
    """A stream that fills buffers."""

    def readinto(self, buffer: memoryview, /) -> int | None: ...


def compression_of_name(path: str | os.PathLike[str]) -> str | None:
    """Return the compression that a file name asks for, or None."""
    return _SUFFIXES.get(Path(path).suffix.lower())


def read_blocks(
    stream: io.BufferedReader, name: str, block_bytes: int, plain_bytes: int
) -> Iterator[bytes | memoryview]:
    """Yield the decompressed content of a stream.

    Parameters
    ----------
    stream : io.BufferedReader
        At its beginning, plain or compressed.
    name : str
        What to call it in errors.
    block_bytes : int
        Size of the blocks of compressed content. It alone decides where a damaged file is found to be so.
    plain_bytes : int
        Size of the blocks of plain content.

    Yields
    ------
    bytes-like
        Valid until the next but one is asked for: two buffers take turns.
    """
    most = _most_expansion()
    start = _first_bytes(stream, max(map(len, _MAGIC)))
    read = _Counted(start, stream)
    kind = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
    if kind is None:
        yield from _fill_buffers(read, plain_bytes)
        return
    try:
        blocks = _zstd_blocks(read) if kind == "zstd" else _fill_buffers(_decompressor(kind, read), block_bytes)
        content = 0
        for block in blocks:
            content += len(block)
            if content > max(_HARMLESS_BYTES, most * read.count):
                raise CompressionError(
                    f"{name} holds more than {content / read.count:.0f} times its size of {kind} content, as files "
                    f"made to fill the memory do; decompress it first, or set {_EXPANSION_SETTING} above {most:g}."
                )
            yield block
    except EOFError:
        raise CompressionError(
            f"{name} is truncated: its {kind} stream stops before its end; fetch or write the file again."
        ) from None
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's trouble, not the data's
        raise CompressionError(
            f"{name} is damaged: its {kind} stream cannot be decompressed ({error}); fetch or write the file again."
        ) from None


def _most_expansion() -> float:
    """How many times its size a compressed file may hold."""
    setting = os.environ.get(_EXPANSION_SETTING, "")
    try:
        most = float(setting or _MOST_EXPANSION)
    except ValueError:
        most = 0.0
    if not most >= 1.0:
        raise ValueError(f"{_EXPANSION_SETTING}={setting!r} must be a number of 1 or greater; inf is no limit.")
    return most


def _first_bytes(stream: io.BufferedReader, count: int) -> bytes:
    """The first bytes, however few a read gives: `peek` would look at those of one read only."""
    start = b""
    while len(start) < count and (more := stream.read(count - len(start))):
        start += more
    return start


class _Counted(io.RawIOBase):
    """A stream whose first bytes were read already, and how many of its bytes were taken."""

    def __init__(self, start: bytes, stream: io.BufferedReader) -> None:
        self._start = start
        self._stream = stream
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # what readers hand over
        if self._start:
            count = min(len(buffer), len(self._start))
            buffer[:count], self._start = self._start[:count], self._start[count:]
        else:
            count = self._stream.readinto(buffer) or 0
        self.count += count
        return count


def open_sink(file: IO[bytes], kind: str | None) -> Sink:
    """Return a sink that compresses into an open file; equal content gives equal bytes."""
    if kind == "gzip":
        return cast(Sink, gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0))
    if kind == "bzip2":
        return cast(Sink, bz2.BZ2File(file, "wb"))
    if kind == "xz":
        return cast(Sink, lzma.LZMAFile(file, "wb"))
    if kind == "zstd":
        require("zstandard", "cli", "Files of zstd")
        import zstandard

        return cast(Sink, zstandard.ZstdCompressor().stream_writer(file, closefd=False))
    return _PlainSink(file)


class _PlainSink:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, data: bytes, /) -> None:
        self._file.write(data)

    def close(self) -> None:
        pass


def _decompressor(kind: str, stream: _Counted) -> _Filled:
    file = cast(IO[bytes], stream)
    if kind == "gzip":
        return gzip.GzipFile(fileobj=file)
    return bz2.BZ2File(file) if kind == "bzip2" else lzma.LZMAFile(file)


def _fill_buffers(stream: _Filled, size: int) -> Iterator[memoryview]:
    buffers = [memoryview(bytearray(size)) for _ in range(2)]
    while True:
        buffer = buffers[0]
        filled = 0
        while filled < size and (count := stream.readinto(buffer[filled:])):
            filled += count
        if filled == 0:
            return
        yield buffer[:filled]
        buffers.reverse()


def _zstd_blocks(stream: _Counted) -> Iterator[bytes]:
    require("zstandard", "cli", "Files of zstd")
    import zstandard

    # zstandard's own stream reader takes a truncated frame for a complete one: follow the frames here.
    factory = zstandard.ZstdDecompressor()
    frame = None
    found: list[bytes] = []
    while piece := stream.read(_ZSTD_PIECE):
        while piece:
            if frame is None:
                frame = factory.decompressobj()
            try:
                found.append(frame.decompress(piece))
            except zstandard.ZstdError as error:
                raise zlib.error(str(error)) from None  # as the other decompressors do
            piece = b""
            if frame.eof:
                piece, frame = frame.unused_data, None
        if sum(map(len, found)) >= _ZSTD_BLOCK:
            yield b"".join(found)
            found = []
    if frame is not None:
        raise EOFError
    if found:
        yield b"".join(found)
