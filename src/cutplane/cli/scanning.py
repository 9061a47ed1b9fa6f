"""`cutplane scan`: every window of a genome scored, the best as a BED file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import repeat
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
from cutplane.device import arrays
from cutplane.device.windows import WindowScores
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.strings.on_device import check_one_device
from cutplane.estimators.strings.string_svc import StringSVC
from cutplane.io.atomic import replace_file
from cutplane.io.bed import Hit, bed_line, hits_above, hits_at
from cutplane.io.fasta import Record, read_fasta
from cutplane.io.model_file import ModelFile
from cutplane.report.importance import save_importance
from cutplane.sources.alphabet import as_alphabet
from cutplane.sources.read_ahead import read_ahead
from cutplane.sources.windows import SlidingWindows


def scan(options: ScanOptions, context: typer.Context) -> int:
    """Write the sites that were found."""
    genome = options.genome
    output = None if options.output is None or str(options.output) == "-" else options.output
    _check_options(options, output)
    model, file = _model_for_genomes(options.model_path)
    motif = None if options.any_window else chosen(noted(file), options.motif, options.at)
    _check_place(model, motif, options.at)
    threshold = (thresholds.noted(file) or 0.0) if options.threshold is None else options.threshold
    if options.importance is not None:
        save_importance(model, options.importance)
    model.set_params(n_jobs=options.threads)
    there = None if options.device is None else _on_one_device(model, options.device)
    target: AbstractContextManager[IO[bytes] | None] = nullcontext(None) if output is None else replace_file(output)
    with target as opened:
        write = None if options.as_json and opened is None else partial(_write, opened)
        found = _Scan(model, threshold, motif, options.at, "+-" if options.both else "+", write, there).read(genome)
        if not found.windows:
            raise ValueError(
                f"{genome} has no text as long as a window of the model, which has {model.length_} letters."
            )
    found.warn(genome)
    if options.as_json:
        print_json({**found.as_json(), "output": output})
    elif output is not None:
        print_facts([*found.facts(), ("written", str(output))])
    return exit_codes.OK


def _check_options(options: ScanOptions, output: Path | None) -> None:
    """Before anything is read."""
    inputs = [options.model_path, options.genome]
    if options.any_window and options.motif is not None:
        raise typer.BadParameter("looks at all windows; leave out --motif.", param_hint="--any-window")
    if output is not None:
        check_text_output(output, inputs=inputs)
    if options.importance is not None:
        check_plot_output(options.importance, inputs=inputs)


def _model_for_genomes(path: Path) -> tuple[StringSVC, ModelFile]:
    model, file = read_fitted(path)
    if not isinstance(model, StringSVC):
        raise ValueError(f"{path} is a {type(model).__name__}; genomes are scanned with a StringSVC.")
    if len(model.classes_) > 2:
        raise ValueError(f"{path} tells {len(model.classes_)} classes apart; genomes are scanned for one of two.")
    return model, file


def _on_one_device(model: StringSVC, device: str) -> WindowScores:
    """The model's weights on a GPU."""
    try:
        check_one_device(device)
    except (ImportError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint="--device") from None
    weights, intercept = dense(model.coef_)[0], float(np.ravel(model.intercept_)[0])
    alphabet, parts = as_alphabet(model.alphabet), model.parts(model.length_)
    return WindowScores(
        arrays.cuda_kernels(),
        alphabet,
        model.length_,
        parts,
        weights,
        intercept,
        normalize=bool(model.normalize),
    )


def _check_place(model: StringSVC, motif: Motif | None, at: int | None) -> None:
    end = 0 if at is None else at + (1 if motif is None else len(motif.letters))
    if end > model.length_:
        raise typer.BadParameter(f"{at} is not in a window of {model.length_} letters.", param_hint="--at")


def _write(file: IO[bytes] | None, line: str) -> None:
    if file is None:
        sys.stdout.write(line)
    else:
        file.write(line.encode())


def _read_ahead(records: Iterator[Record]) -> Iterator[Record]:
    """Each while its predecessor is looked at."""
    for record in read_ahead(repeat(partial(next, records, None))):
        if record is None:
            return
        yield record


@dataclass
class _Scan:
    """The windows of a genome, scored; `write` is handed the BED line of each that scores more than the threshold."""

    model: StringSVC
    threshold: float
    motif: Motif | None
    at: int | None
    strands: str
    write: Callable[[str], None] | None
    there: WindowScores | None = None  # on a device
    windows: int = 0
    hits: int = 0
    short: int = 0
    looked_at: int = 0
    highest: float = -np.inf

    def warn(self, genome: Path) -> None:
        """Say what was left out, and where nothing was found what to try."""
        if self.short:
            letters = self.model.length_
            warn(f"{genome}: {self.short:,} entries are shorter than a window of {letters} letters and were left out.")
        if not self.hits:
            looked = f"{self.looked_at:,} windows" + ("" if self.motif is None else f" with {self.motif}")
            warn(
                f"no site: of {looked} none scores above {self.threshold:g}, the highest {self.highest:.4g}. "
                f"Try --threshold {self.highest - 0.1:.1f}, or train with --class-weight balanced or a larger --C."
            )

    def facts(self) -> list[tuple[str, str]]:
        """For people."""
        looked = [] if self.motif is None else [("looked at", f"{self.looked_at:,} with {self.motif}")]
        return [("windows", f"{self.windows:,}"), *looked, ("sites", f"{self.hits:,}")]

    def as_json(self) -> dict[str, object]:
        """For machines."""
        about = {} if self.motif is None else {"motif": self.motif.letters, "at": self.motif.at}
        counts = {"windows": self.windows, "looked_at": self.looked_at, "hits": self.hits}
        return {**counts, **about, "threshold": self.threshold}

    def read(self, genome: Path) -> Self:
        """Every entry of a FASTA file; those shorter than a window are counted."""
        for record in _read_ahead(read_fasta(genome)):
            if len(record.letters) < self.model.length_:
                self.short += 1
                continue
            name = record.header.split()[0].decode("latin-1") if record.header.split() else "."
            if self.there is not None:
                self._on_device(self.there, name, record.letters)
                continue
            for strand in self.strands:
                self._strand(name, record.letters, strand)
        return self

    def _on_device(self, there: WindowScores, name: str, letters: bytes) -> None:
        codes, last = there.codes(letters), len(letters) - self.model.length_
        for strand in self.strands:
            found = there.hits(codes if strand == "+" else there.opposite(codes), self.threshold, self.motif)
            if strand == "-":  # windows in the order of the text
                found = found._replace(begins=last - found.begins[::-1], scores=found.scores[::-1])
            self._report(hits_at(name, found.begins, found.scores, self._place(), self.model.length_, strand))
            self._count(last + 1, found.looked_at, found.highest)

    def _strand(self, name: str, letters: bytes, strand: str) -> None:
        length = self.model.length_
        read = SlidingWindows(letters, length, self.model.alphabet, reverse=strand == "-")
        chosen = np.ones(len(read), bool)
        if self.motif is not None:
            chosen = read.starts_with(self.motif.letters, self.motif.at)
        scores = read.forward(self.model.decision_function(read))
        order = chosen[::-1] if read.reverse else chosen
        self._report(hits_above(name, scores, order, self.threshold, self._place(), length, strand))
        self._count(len(read), int(np.count_nonzero(order)), float(scores[order].max(initial=-np.inf)))

    def _report(self, hits: Iterable[Hit]) -> None:
        label = str(plain_label(self.model.classes_[1]))
        for hit in hits:
            self.hits += 1
            if self.write is not None:
                self.write(bed_line(hit, label))

    def _count(self, windows: int, looked_at: int, highest: float) -> None:
        self.windows += windows
        self.looked_at += looked_at
        self.highest = max(self.highest, highest)

    def _place(self) -> tuple[int, int]:
        """The letters of a window that are reported."""
        if self.motif is not None:
            return self.motif.at, self.motif.at + len(self.motif.letters)
        return (0, self.model.length_) if self.at is None else (self.at, self.at + 1)
