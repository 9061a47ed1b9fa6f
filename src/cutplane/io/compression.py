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
from typing import IO, Any, Protocol, cast

import zstandard

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}

# What the decompressors raise on bytes that are not theirs. A truncated stream is an EOFError.
_DAMAGED = (gzip.BadGzipFile, zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError)

_ZSTD_PIECE = 1 << 17


class CompressionError(ValueError):
    """A compressed stream that is truncated or damaged."""


class Sink(Protocol):
    """Where compressed or plain bytes are written."""

    def write(self, data: bytes, /) -> Any:
        """Take the next bytes."""

    def close(self) -> None:
        """Write what is still held back; the file beneath stays open."""


def compression_of_name(path: str | os.PathLike[str]) -> str | None:
    """Return the compression that a file name asks for, or None."""
    return _SUFFIXES.get(Path(path).suffix.lower())


def read_blocks(stream: io.BufferedReader, name: str, block_bytes: int, plain_bytes: int) -> Iterator[Any]:
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
    start = stream.peek(8)[:8]
    kind = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
    if kind is None:
        yield from _fill_buffers(stream, plain_bytes)
        return
    try:
        if kind == "zstd":
            yield from _zstd_blocks(stream)
        else:
            yield from _fill_buffers(_decompressor(kind, stream), block_bytes)
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


def open_sink(file: IO[bytes], kind: str | None) -> Sink:
    """Return a sink that compresses into an open file; equal content gives equal bytes."""
    if kind == "gzip":
        return cast(Sink, gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0))
    if kind == "bzip2":
        return cast(Sink, bz2.BZ2File(file, "wb"))
    if kind == "xz":
        return cast(Sink, lzma.LZMAFile(file, "wb"))
    if kind == "zstd":
        return cast(Sink, zstandard.ZstdCompressor().stream_writer(file, closefd=False))
    return _PlainSink(file)


class _PlainSink:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, data: bytes, /) -> None:
        self._file.write(data)

    def close(self) -> None:
        pass


def _decompressor(kind: str, stream: io.BufferedReader) -> Any:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=stream)
    return bz2.BZ2File(stream) if kind == "bzip2" else lzma.LZMAFile(stream)


def _fill_buffers(stream: Any, size: int) -> Iterator[memoryview]:
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


def _zstd_blocks(stream: io.BufferedReader) -> Iterator[bytes]:
    # zstandard's own stream reader takes a truncated frame for a complete one: follow the frames here.
    factory = zstandard.ZstdDecompressor()
    frame = None
    while piece := stream.read(_ZSTD_PIECE):
        while piece:
            if frame is None:
                frame = factory.decompressobj()
            if content := frame.decompress(piece):
                yield content
            piece = b""
            if frame.eof:
                piece, frame = frame.unused_data, None
    if frame is not None:
        raise EOFError
