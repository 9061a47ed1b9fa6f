"""`cutplane scan`: every window of a genome scored, the best as a BED file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Self

import numpy as np
import typer

from cutplane.cli import exit_codes
from cutplane.cli.data import read_fitted
from cutplane.cli.output import print_facts, print_json, warn
from cutplane.cli.outputs import check_plot_output, check_text_output
from cutplane.cli.scan import ScanOptions
from cutplane.estimators.strings.string_svc import StringSVC
from cutplane.io.atomic import replace_file
from cutplane.io.bed import bed_line, hits_above
from cutplane.io.fasta import read_fasta
from cutplane.report.importance import save_importance
from cutplane.sources.windows import SlidingWindows


def scan(options: ScanOptions, context: typer.Context) -> int:
    """Write the sites that were found."""
    model_path, genome, importance, as_json = options.model_path, options.genome, options.importance, options.as_json
    output = None if options.output is None or str(options.output) == "-" else options.output
    motif, at = options.motif, options.at
    if output is not None:
        check_text_output(output, inputs=[model_path, genome])
    if importance is not None:
        check_plot_output(importance, inputs=[model_path, genome])
    model = _model_for_genomes(model_path)
    _check_place(model, motif, at)
    if importance is not None:
        save_importance(model, importance)
    model.set_params(n_jobs=options.threads)
    target: AbstractContextManager[IO[bytes] | None] = nullcontext(None) if output is None else replace_file(output)
    with target as file:
        write = None if as_json and file is None else partial(_write, file)
        found = _Scan(model, options.threshold, motif, at, "+-" if options.both else "+", write).read(genome)
        if not found.windows:
            raise ValueError(
                f"{genome} has no text as long as a window of the model, which has {model.length_} letters."
            )
    if found.short:
        warn(
            f"{genome}: {found.short:,} entries are shorter than a window of {model.length_} letters and were left out."
        )
    if as_json:
        print_json({"windows": found.windows, "hits": found.hits, "output": output})
    elif output is not None:
        print_facts([("windows", f"{found.windows:,}"), ("sites", f"{found.hits:,}"), ("written", str(output))])
    return exit_codes.OK


def _model_for_genomes(path: Path) -> StringSVC:
    model, _ = read_fitted(path)
    if not isinstance(model, StringSVC):
        raise ValueError(f"{path} is a {type(model).__name__}; genomes are scanned with a StringSVC.")
    if len(model.classes_) > 2:
        raise ValueError(f"{path} tells {len(model.classes_)} classes apart; genomes are scanned for one of two.")
    return model


def _check_place(model: StringSVC, motif: str, at: int | None) -> None:
    if motif and at is None:
        raise typer.BadParameter("needs --at: where in a window it stands.", param_hint="--motif")
    if at is not None and at + max(1, len(motif)) > model.length_:
        raise typer.BadParameter(f"{at} is not in a window of {model.length_} letters.", param_hint="--at")


def _write(file: IO[bytes] | None, line: str) -> None:
    if file is None:
        sys.stdout.write(line)
    else:
        file.write(line.encode())


@dataclass
class _Scan:
    """The windows of a genome, scored; `write` is handed the BED line of each that scores more than the threshold."""

    model: StringSVC
    threshold: float
    motif: str
    at: int | None
    strands: str
    write: Callable[[str], None] | None
    windows: int = 0
    hits: int = 0
    short: int = 0

    def read(self, genome: Path) -> Self:
        """Every entry of a FASTA file; those shorter than a window are counted."""
        for record in read_fasta(genome):
            if len(record.letters) < self.model.length_:
                self.short += 1
                continue
            name = record.header.split()[0].decode("latin-1") if record.header.split() else "."
            for strand in self.strands:
                self._strand(name, record.letters, strand)
        return self

    def _strand(self, name: str, letters: bytes, strand: str) -> None:
        length = self.model.length_
        place = (0, length) if self.at is None else (self.at, self.at + max(1, len(self.motif)))
        read = SlidingWindows(letters, length, self.model.alphabet, reverse=strand == "-")
        chosen = np.ones(len(read), bool)
        if self.motif and self.at is not None:
            chosen = read.starts_with(self.motif, self.at)
        scores = read.forward(self.model.decision_function(read))
        order = chosen[::-1] if read.reverse else chosen
        for hit in hits_above(name, scores, order, self.threshold, place, length, strand):
            self.hits += 1
            if self.write is not None:
                self.write(bed_line(hit))
        self.windows += len(read)
