"""Token files and feature templates."""

from __future__ import annotations

import gzip

import pytest

from cutplane.io.conll import TokenFileError, read_tokens
from cutplane.io.feature_template import FeatureTemplate, TemplateError

CHUNKS = "He PRP B-NP\nreckons\tVBZ B-VP\n\n\n# # O\n"
CONLLU = (
    "# text = Don't go\n"
    "1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tDo\tdo\tAUX\t_\t_\t_\t_\t_\t_\n"
    "2\tn't\tnot\tPART\t_\t_\t_\t_\t_\t_\n"
    "2.1\tgone\t_\tVERB\t_\t_\t_\t_\t_\t_\n"
    "3\tgo\tgo\tVERB\t_\t_\t_\t_\t_\t_\n\n"
)


def test_columns(tmp_path):
    expected = [[["He", "PRP", "B-NP"], ["reckons", "VBZ", "B-VP"]], [["#", "#", "O"]]]
    (tmp_path / "plain.txt").write_text(CHUNKS)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(CHUNKS.rstrip("\n").encode()))
    (tmp_path / "windows.txt").write_bytes(CHUNKS.replace("\n", "\r\n").encode())
    for name in ("plain.txt", "packed.gz", "windows.txt"):
        assert read_tokens(tmp_path / name) == expected


def test_universal_dependencies(tmp_path):
    (tmp_path / "a.conllu").write_text(CONLLU)
    assert read_tokens(tmp_path / "a.conllu") == [[["Do", "AUX"], ["n't", "PART"], ["go", "VERB"]]]
    (tmp_path / "a.txt").write_text(CONLLU)  # known by its content, too
    assert read_tokens(tmp_path / "a.txt") == read_tokens(tmp_path / "a.conllu")
    (tmp_path / "b.conllu").write_text("1 two columns")
    with pytest.raises(TokenFileError, match=r"b.conllu, line 1: 1 columns; CoNLL-U has 10, separated by tabs"):
        read_tokens(tmp_path / "b.conllu")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a b\n\nc d e\n", "line 3: 3 columns, but line 1 has 2"),
        (b"\n\n", "has no tokens"),
        (b"a b\n\xff b\n", "line 2: byte 1 is not UTF-8"),
    ],
)
def test_bad_files(content, words, tmp_path):
    (tmp_path / "bad.txt").write_bytes(content)
    with pytest.raises(TokenFileError, match=words):
        read_tokens(tmp_path / "bad.txt")


def test_a_template_as_crfpp_reads_it():
    text = "# words\nU00:%x[-2,0]\nU01:%x[0,0]/%x[1,1] 100%\n\nU02:on\nB\n"
    sentence = [["He", "PRP"], ["reckons", "VBZ"]]
    assert FeatureTemplate(text).apply(sentence) == [
        ["U00:_B-2", "U01:He/VBZ 100%", "U02:on"],
        ["U00:_B-1", "U01:reckons/_B+1 100%", "U02:on"],
    ]


def test_the_usual_template_has_windows():
    names = FeatureTemplate.usual(2).apply([["He", "PRP"]])[0]
    assert len(names) == len(set(names)) == 1 + 7 + 12
    assert "U:bias" in names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("B\n# nothing", "has no rule"),
        ("U0:%x[0,0]\nB1:%x[0,0]", "line 2: 'B1:%x.0,0.' cannot be used; rules for pairs of labels have no columns"),
        ("X0:%x[0,0]", "line 1: .* rules begin with U"),
        ("U0:%x[0;0]", r"line 1: .* has a %x that is not %x\[offset,column\]"),
    ],
)
def test_bad_templates(text, words):
    with pytest.raises(TemplateError, match=words):
        FeatureTemplate(text)


def test_a_template_that_wants_more_columns():
    with pytest.raises(TemplateError, match="uses column 2, but tokens have 2"):
        FeatureTemplate("U0:%x[0,2]").apply([["He", "PRP"]])


@pytest.mark.parametrize("place", ["-99999999999,0", "0," + "9" * 5000])
def test_templates_reach_no_further_than_sentences_do(place):
    with pytest.raises(TemplateError, match=r"line 1: .{1,30} is too far away; offsets and columns go up to 10000\.$"):
        FeatureTemplate(f"U0:%x[{place}]")
