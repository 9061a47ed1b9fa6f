"""FASTA files: entries, labels, and what is wrong with them."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from cutplane.io.strings import read_fasta, read_strings, write_strings
from cutplane.sources.string_file import MappedStrings


def test_entries_may_take_several_lines_and_be_compressed(tmp_path):
    text = b">one label=1\nACG\nTA\n\n>two; label=-1\r\nacgtn\r\n"
    (tmp_path / "a.fa").write_bytes(text)
    (tmp_path / "a.fa.gz").write_bytes(gzip.compress(text))
    for name in ("a.fa", "a.fa.gz"):
        assert [record.letters for record in read_fasta(tmp_path / name)] == [b"ACGTA", b"acgtn"]
        strings, labels = read_strings(tmp_path / name)
        assert [strings.text(0), strings.text(1)] == ["ACGTA", "ACGTN"]
        assert labels.tolist() == [1, -1]


def test_labels_may_be_words_or_missing(tmp_path):
    (tmp_path / "words.fa").write_text(">a label=site\nAC\n>b,label=none\nGT\n")
    assert read_strings(tmp_path / "words.fa")[1].tolist() == ["site", "none"]
    (tmp_path / "bare.fa").write_text(">a\nAC\n>b\nGT\n")
    assert read_strings(tmp_path / "bare.fa")[1] is None


def test_a_written_file_has_strings_and_labels(tmp_path):
    (tmp_path / "a.fa").write_text(">a label=x\nACNT\n>b label=y\nGTTT\n")
    strings, labels = read_strings(tmp_path / "a.fa")
    write_strings(tmp_path / "a.strings", strings, labels)
    mapped, again = read_strings(tmp_path / "a.strings")
    assert isinstance(mapped, MappedStrings)
    assert again.tolist() == ["x", "y"]
    both = mapped.take(np.array([1, 0]))
    assert [both.text(0), both.text(1)] == ["GTTT", "ACNT"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("ACGT\n", "line 1: a FASTA file begins with a line that starts with '>'"),
        (">a\n>b\nAC\n", "line 1: the entry 'a' has no letters"),
        (">a\nAC\n>b\n\n", "line 3: the entry 'b' has no letters"),
        (">a\nAC\n>b\nACG\n", "line 3: entry 1 has 3 letters and those before it 2"),
        (">a label=1\nAC\n>b\nAG\n", "line 3: entry 1 has no label"),
        (">a\nAC\n>b\nA*\n", "String 1 has the letter '\\*' at position 1"),
    ],
)
def test_bad_files_are_named(tmp_path, text, words):
    (tmp_path / "bad.fa").write_text(text)
    with pytest.raises(ValueError, match=words):
        read_strings(tmp_path / "bad.fa")


def test_labels_must_be_as_many_as_strings(tmp_path):
    (tmp_path / "a.fa").write_text(">a\nAC\n>b\nGT\n")
    with pytest.raises(ValueError, match="3 labels were given for 2 strings"):
        write_strings(tmp_path / "out", read_strings(tmp_path / "a.fa")[0], [1, 2, 3])
