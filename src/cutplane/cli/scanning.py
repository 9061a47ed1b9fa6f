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

from cutplane.cli import exit_codes, thresholds
from cutplane.cli.data import read_fitted
from cutplane.cli.motifs import Motif, chosen, noted
from cutplane.cli.output import plain_label, print_facts, print_json, warn
from cutplane.cli.outputs import check_plot_output, check_text_output
from cutplane.cli.scan import ScanOptions
from cutplane.estimators.strings.string_svc import StringSVC
from cutplane.io.atomic import replace_file
from cutplane.io.bed import bed_line, hits_above
from cutplane.io.fasta import read_fasta
from cutplane.io.model_file import ModelFile
from cutplane.report.importance import save_importance
from cutplane.sources.windows import SlidingWindows


def scan(options: ScanOptions, context: typer.Context) -> int:
    """Write the sites that were found."""
    model_path, genome, importance, as_json = options.model_path, options.genome, options.importance, options.as_json
    output = None if options.output is None or str(options.output) == "-" else options.output
    if options.any_window and options.motif is not None:
        raise typer.BadParameter("looks at all windows; leave out --motif.", param_hint="--any-window")
    if output is not None:
        check_text_output(output, inputs=[model_path, genome])
    if importance is not None:
        check_plot_output(importance, inputs=[model_path, genome])
    model, file = _model_for_genomes(model_path)
    motif = None if options.any_window else chosen(noted(file), options.motif, options.at)
    _check_place(model, motif, options.at)
    threshold = (thresholds.noted(file) or 0.0) if options.threshold is None else options.threshold
    if importance is not None:
        save_importance(model, importance)
    model.set_params(n_jobs=options.threads)
    target: AbstractContextManager[IO[bytes] | None] = nullcontext(None) if output is None else replace_file(output)
    with target as opened:
        write = None if as_json and opened is None else partial(_write, opened)
        found = _Scan(model, threshold, motif, options.at, "+-" if options.both else "+", write).read(genome)
        if not found.windows:
            raise ValueError(
                f"{genome} has no text as long as a window of the model, which has {model.length_} letters."
            )
    if found.short:
        warn(
            f"{genome}: {found.short:,} entries are shorter than a window of {model.length_} letters and were left out."
        )
    if not found.hits:
        warn(
            f"no site: of {found.looked_at:,} windows{'' if motif is None else f' with {motif}'} none scores above "
            f"{threshold:g}, the highest {found.highest:.4g}. Try --threshold {found.highest - 0.1:.1f}, or train with "
            "--class-weight balanced or a larger --C."
        )
    if as_json:
        about = {} if motif is None else {"motif": motif.letters, "at": motif.at}
        counts = {"windows": found.windows, "looked_at": found.looked_at, "hits": found.hits}
        print_json({**counts, **about, "threshold": threshold, "output": output})
    elif output is not None:
        looked = [] if motif is None else [("looked at", f"{found.looked_at:,} with {motif}")]
        print_facts(
            [("windows", f"{found.windows:,}"), *looked, ("sites", f"{found.hits:,}"), ("written", str(output))]
        )
    return exit_codes.OK


def _model_for_genomes(path: Path) -> tuple[StringSVC, ModelFile]:
    model, file = read_fitted(path)
    if not isinstance(model, StringSVC):
        raise ValueError(f"{path} is a {type(model).__name__}; genomes are scanned with a StringSVC.")
    if len(model.classes_) > 2:
        raise ValueError(f"{path} tells {len(model.classes_)} classes apart; genomes are scanned for one of two.")
    return model, file


def _check_place(model: StringSVC, motif: Motif | None, at: int | None) -> None:
    end = 0 if at is None else at + (1 if motif is None else len(motif.letters))
    if end > model.length_:
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
    motif: Motif | None
    at: int | None
    strands: str
    write: Callable[[str], None] | None
    windows: int = 0
    hits: int = 0
    short: int = 0
    looked_at: int = 0
    highest: float = -np.inf

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
        read = SlidingWindows(letters, length, self.model.alphabet, reverse=strand == "-")
        chosen = np.ones(len(read), bool)
        if self.motif is not None:
            chosen = read.starts_with(self.motif.letters, self.motif.at)
        scores = read.forward(self.model.decision_function(read))
        order = chosen[::-1] if read.reverse else chosen
        label = str(plain_label(self.model.classes_[1]))
        for hit in hits_above(name, scores, order, self.threshold, self._place(), length, strand):
            self.hits += 1
            if self.write is not None:
                self.write(bed_line(hit, label))
        self.windows += len(read)
        self.looked_at += int(np.count_nonzero(order))
        self.highest = max(self.highest, float(scores[order].max(initial=-np.inf)))

    def _place(self) -> tuple[int, int]:
        """The letters of a window that are reported."""
        if self.motif is not None:
            return self.motif.at, self.motif.at + len(self.motif.letters)
        return (0, self.model.length_) if self.at is None else (self.at, self.at + 1)
