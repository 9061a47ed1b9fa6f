"""Token files: a line of columns for each token, a blank line after each sentence (CoNLL, CRF++, CoNLL-U)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from cutplane.io.compression import read_blocks

Sentence = list[list[str]]

_BLOCK_BYTES = 1 << 20
_CONLLU_COLUMNS = 10
_FORM, _UPOS = 1, 3
# Lines that tell the format: comments before the first sentence, and a sentence.
_LOOKED_AT = 200


class TokenFileError(ValueError):
    """A token file that cannot be read; the message names the file, the line and what was expected."""


def read_tokens(path: str | os.PathLike[str]) -> list[Sentence]:
    """Read the sentences of a token file, plain or compressed.

    Columns are separated by blanks or tabs, every line has as many. Files named ``.conllu``, and those whose lines
    have a number and nine more columns between tabs, are in the format of Universal Dependencies: comments, multi-word
    tokens and empty nodes are left out, and what is kept of a token are
    its form and its universal part of speech.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    list of list of list of str
        For each sentence its tokens, for each token its columns.

    Raises
    ------
    TokenFileError
        If a line has another number of columns, or there is no token.

    Examples
    --------
    >>> import os, tempfile
    >>> from cutplane.io.conll import read_tokens
    >>> path = os.path.join(tempfile.mkdtemp(), "tokens.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("He PRP B-NP\\nreckons VBZ B-VP\\n\\nYes UH O\\n")
    >>> read_tokens(path)
    [[['He', 'PRP', 'B-NP'], ['reckons', 'VBZ', 'B-VP']], [['Yes', 'UH', 'O']]]
    """
    name = os.fspath(path)
    lines = _lines(name)
    begin = list(islice(lines, _LOOKED_AT))
    conllu = ".conllu" in Path(name).suffixes or _looks_like_conllu(begin)
    rows = (_conllu_rows if conllu else _rows)(name, chain(begin, lines))
    sentences: list[Sentence] = []
    open_one: Sentence = []
    for row in rows:
        if row:
            open_one.append(row)
        elif open_one:
            sentences.append(open_one)
            open_one = []
    if open_one:
        sentences.append(open_one)
    if not sentences:
        raise TokenFileError(f"{name} has no tokens; a line of columns for each was expected.")
    return sentences


def _lines(name: str) -> Iterator[str]:
    with open(name, "rb") as stream:
        rest, number = b"", 0
        for block in read_blocks(stream, name, _BLOCK_BYTES, _BLOCK_BYTES):
            *whole, rest = (rest + bytes(block)).split(b"\n")
            for line in whole:
                number += 1
                yield _decoded(name, number, line)
        if rest:
            yield _decoded(name, number + 1, rest)


def _decoded(name: str, number: int, line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise TokenFileError(f"{name}, line {number}: byte {error.start + 1} is not UTF-8 text.") from None


def _rows(name: str, lines: Iterable[str]) -> Iterator[list[str]]:
    columns = 0
    for number, line in enumerate(lines, 1):
        row = line.split()
        if row and not columns:
            columns, first = len(row), number
        if row and len(row) != columns:
            raise TokenFileError(f"{name}, line {number}: {len(row)} columns, but line {first} has {columns}.")
        yield row


def _looks_like_conllu(lines: list[str]) -> bool:
    """Whether every token has ten columns, and the first of a sentence the number 1."""
    tokens = [line.rstrip("\r").split("\t") for line in lines if line.strip() and not line.startswith("#")]
    return bool(tokens) and all(
        len(row) == _CONLLU_COLUMNS and row[0].replace("-", "").replace(".", "").isdigit() for row in tokens
    )


def _conllu_rows(name: str, lines: Iterable[str]) -> Iterator[list[str]]:
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r")
        if not line:
            yield []
        elif not line.startswith("#"):
            row = line.split("\t")
            if len(row) != _CONLLU_COLUMNS:
                raise TokenFileError(
                    f"{name}, line {number}: {len(row)} columns; CoNLL-U has {_CONLLU_COLUMNS}, separated by tabs."
                )
            if row[0].isdigit():  # 3-4 is a multi-word token, 5.1 an empty node
                yield [row[_FORM], row[_UPOS]]
