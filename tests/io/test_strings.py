"""FASTA files: entries, labels, and what is wrong with them."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from cutplane.io import fasta
from cutplane.io import strings as files
from cutplane.io.fasta import FastaLabels, packed_blocks, read_fasta
from cutplane.io.strings import convert_fasta, read_strings, write_strings
from cutplane.sources.alphabet import DNA, Alphabet
from cutplane.sources.packed import PIECE, as_strings
from cutplane.sources.string_file import HEADER, MappedStrings


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
    with pytest.raises(ValueError, match=words):
        convert_fasta(tmp_path / "bad.fa", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def many(tmp_path):
    """More strings than two pieces of the packed layout hold, some with unknown letters."""
    rng = np.random.default_rng(0)
    text = np.frombuffer(b"ACGTN", np.uint8)[rng.choice(5, p=[0.249] * 4 + [0.004], size=(2 * PIECE + 500, 6))]
    entries = [b">%d label=%d\n%s\n" % (k, k % 3 - 1, row.tobytes()) for k, row in enumerate(text)]
    (tmp_path / "many.fa").write_bytes(b"".join(entries))
    return text, tmp_path / "many.fa"


def test_a_fasta_file_is_converted_a_block_at_a_time(many, tmp_path, monkeypatch):
    text, path = many
    sizes = []

    def watched(*words, **options):
        for block in packed_blocks(*words, **options):
            sizes.append(len(block))
            yield block

    monkeypatch.setattr(files, "packed_blocks", watched)
    assert convert_fasta(path, tmp_path / "out", block_strings=PIECE) == (len(text), 6)
    assert sizes == [PIECE, PIECE, 500]
    strings, labels = read_strings(path)
    write_strings(tmp_path / "whole", strings, labels)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
    back = MappedStrings(tmp_path / "out")
    assert back.labels.tolist() == labels.tolist() == [k % 3 - 1 for k in range(len(text))]
    last = back.take(np.array([2 * PIECE + 7]))
    assert last.text(0) == text[2 * PIECE + 7].tobytes().decode()


def test_what_is_wrong_in_a_later_block_is_named_by_its_own_number(tmp_path):
    (tmp_path / "late.fa").write_bytes(b">a\nACGT\n" * (PIECE + 3) + b">b\nAC*T\n")
    blocks = packed_blocks(tmp_path / "late.fa", DNA, FastaLabels("late.fa"), block_strings=PIECE)
    with pytest.raises(ValueError, match=f"late.fa: String {PIECE + 3} has the letter '\\*' at position 2"):
        list(blocks)


def test_one_class_may_be_written_in_two_ways(tmp_path):
    (tmp_path / "a.fa").write_text(">a label=1\nAC\n>b label=+1\nGT\n>c label=-1\nGG\n")
    assert read_strings(tmp_path / "a.fa")[1].tolist() == [1, 1, -1]


def test_labels_must_be_as_many_as_strings(tmp_path):
    (tmp_path / "a.fa").write_text(">a\nAC\n>b\nGT\n")
    with pytest.raises(ValueError, match="3 labels were given for 2 strings"):
        write_strings(tmp_path / "out", read_strings(tmp_path / "a.fa")[0], [1, 2, 3])


@pytest.mark.parametrize("letters", ["ABCDE", "ABC", "AB"])
def test_a_code_that_is_no_letter_is_refused(tmp_path, letters):
    """It would be looked up beyond the tables of k-mers."""
    path = tmp_path / "packed"
    write_strings(path, as_strings(["ABABA", "BABAB"], Alphabet(letters)))
    damaged = bytearray(path.read_bytes())
    damaged[HEADER] = 0xFF
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=r"packed is damaged: a byte of the strings is none of a letter; convert it"):
        list(MappedStrings(path).chunks())


def test_labels_beyond_64_bits_stay_text(tmp_path):
    path = tmp_path / "long.fasta"
    path.write_text(">a label=9223372036854775808\nACGT\n>b label=-1\nACGT\n>c label=9223372036854775809\nACGT\n")
    _, labels = read_strings(path)
    assert labels.tolist() == ["9223372036854775808", "-1", "9223372036854775809"]


@pytest.mark.parametrize("block", [1, 7, 16, 64, 1 << 20])
def test_fasta_in_blocks_of_any_size(tmp_path, block, monkeypatch):
    """Blocks that are all letters are not split into lines; what comes of them, and numbers of lines, are the same."""
    monkeypatch.setattr(fasta, "_BLOCK", block)
    path = tmp_path / "some.fa"
    path.write_bytes(b"\n>one\nACGT\nACG\n\nTTTTTTTTTTTTTTTTTTTT\n;note\nA C\n>two x\r\nGG\r\nGGG\r\n>three\nAAAA\nT")
    found = [(record.header, record.letters, record.line) for record in fasta.read_fasta(path)]
    assert found == [
        (b"one", b"ACGTACGTTTTTTTTTTTTTTTTTTTTA C", 2),
        (b"two x", b"GGGGG", 9),
        (b"three", b"AAAAT", 12),
    ]
