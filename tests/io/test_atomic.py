"""Output files appear whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cutplane.io.atomic import OutputError, check_writable, replace_file


def test_what_is_written_is_there_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with replace_file(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with replace_file(tmp_path / "ours"):
        pass
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with replace_file(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail_half_way() -> None:
        with replace_file(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail_half_way()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    # A limit on the size of files fails in write, as a full disk does.
    code = (
        "import resource, sys; from cutplane.io.atomic import replace_file\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    with replace_file(sys.argv[1]) as file: file.write(bytes(100000))\n"
        "except OSError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert done.stdout == f"{path} could not be written: File too large; what was there before is untouched.\n"
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_device_is_written_not_replaced() -> None:
    with pytest.raises(OutputError, match="the disk is full"), replace_file("/dev/full") as file:
        file.write(bytes(100))
    with replace_file("/dev/null") as file:
        file.write(b"gone")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".", "it is a folder"),
        ("missing/file", "the folder .*missing does not exist"),
        ("existing/file", "the folder .*existing does not exist"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_hopeless_place_is_found_before_any_work(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "existing").write_bytes(b"a file, not a folder")
    with pytest.raises(OutputError, match=reason):
        check_writable(tmp_path / name)
    with pytest.raises(OutputError, match=reason), replace_file(tmp_path / name):
        pass


def test_checking_leaves_no_trace(tmp_path: Path) -> None:
    check_writable(tmp_path / "file")
    assert os.listdir(tmp_path) == []
