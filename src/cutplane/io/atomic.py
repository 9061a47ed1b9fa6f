"""Output files and folders that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_PREFIX = ".cutplane-"
# Temporary files and folders that are being written.
_unfinished: set[Path] = set()


class OutputError(OSError):
    """An output file cannot be written; the message is one sentence for the user."""


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise `OutputError` now if `path` could not be written later.

    Permission bits do not tell (root, read-only file systems, full quotas of files), so a file is
    really created beside `path`, and removed.
    """
    path = Path(path)
    _refuse_folders(path)
    if _is_stream(path):
        return
    try:
        with suppress(FileNotFoundError):
            path.stat()  # a name too long for the file system fails here
        temporary, descriptor = _create_beside(path)
    except OSError as error:
        raise _output_error(path, error) from error
    os.close(descriptor)
    temporary.unlink()


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the place of `path` only once it is complete and on disk.

    The bytes go to a temporary file in the same folder (a rename is atomic only within a file
    system). Whatever goes wrong, a full disk or Ctrl-C, the temporary file is removed and what was
    at `path` before is still there.

    Parameters
    ----------
    path : path-like
        Where the file shall be. A symbolic link is followed; a device or pipe is written directly.

    Raises
    ------
    OutputError
        If the file cannot be written, with the reason in one sentence.
    """
    path = Path(path)
    _refuse_folders(path)
    try:
        if _is_stream(path):
            with path.open("wb") as stream:
                yield stream
            return
        temporary, descriptor = _create_beside(path)
        _unfinished.add(temporary)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path.resolve())
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        finally:
            _unfinished.discard(temporary)
    except OutputError:
        raise
    except OSError as error:
        if _is_of_another(error, path):
            raise
        raise _output_error(path, error) from error
    _sync(path.resolve().parent)


@contextmanager
def replace_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a new folder that has its name only once everything in it is written and on disk.

    Raises
    ------
    OutputError
        If `path` exists or cannot be written, with the reason in one sentence.
    """
    path = Path(path)
    if os.path.lexists(path):
        raise OutputError(f"{path} exists already; give the name of a new folder.")
    if not os.path.isdir(path.resolve().parent):
        raise OutputError(f"{path} cannot be written: the folder {path.parent} does not exist.")
    temporary = _name_beside(path)
    try:
        temporary.mkdir()
        _unfinished.add(temporary)
        try:
            yield temporary
            for part in temporary.iterdir():
                _sync(part)
            _sync(temporary)
            temporary.rename(path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        finally:
            _unfinished.discard(temporary)
    except OutputError:
        raise
    except OSError as error:
        if _is_of_another(error, path):
            raise
        raise _output_error(path, error) from error
    _sync(path.resolve().parent)


def remove_unfinished() -> None:
    """Remove what is half written: for whoever ends the process without unwinding it."""
    for temporary in list(_unfinished):
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _refuse_folders(path: Path) -> None:
    if os.path.isdir(path):
        raise OutputError(f"{path} cannot be written: it is a folder, and a file name is needed.")
    if not os.path.isdir(path.resolve().parent):
        raise OutputError(f"{path} cannot be written: the folder {path.parent} does not exist.")


def _is_stream(path: Path) -> bool:
    """Whether `path` is a device or pipe: renaming a file over /dev/null would destroy it."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _create_beside(path: Path) -> tuple[Path, int]:
    temporary = _name_beside(path)
    # Not tempfile: its files are private (0600), and ours shall have the mode any new file gets.
    return temporary, os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)


def _name_beside(path: Path) -> Path:
    # Not derived from the name of the target, which may leave no room for more characters.
    return path.resolve().with_name(f"{_PREFIX}{secrets.token_hex(8)}.tmp")


def _is_of_another(error: OSError, path: Path) -> bool:
    """Whether an error names a file that is read meanwhile, and not the one that is written."""
    if error.filename is None:
        return False
    named = Path(os.fsdecode(error.filename)).resolve()
    parents = (named, *named.parents)
    return path.resolve() not in parents and not any(parent.name.startswith(_PREFIX) for parent in parents)


def _output_error(path: Path, error: OSError) -> OutputError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    reason = "the disk is full" if full else (error.strerror or str(error))
    result = OutputError(f"{path} could not be written: {reason}; what was there before is untouched.")
    result.errno = error.errno
    return result


def _sync(path: Path) -> None:
    """Make a rename, or what a folder holds, durable. Some file systems refuse; it is complete all the same."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
