"""`cutplane scan`: every window of a genome scored, the best as a BED file."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from cutplane.cli import exit_codes
from cutplane.cli.data import read_fitted
from cutplane.cli.options import DebugOption, JsonOption, ModelArgument, ThreadsOption
from cutplane.cli.output import print_facts, print_json, warn
from cutplane.cli.outputs import check_plot_output, check_text_output
from cutplane.estimators.strings.string_svc import StringSVC
from cutplane.io.atomic import replace_file
from cutplane.io.bed import bed_line, hits_above
from cutplane.io.fasta import read_fasta
from cutplane.report.importance import save_importance
from cutplane.sources.windows import SlidingWindows


def scan(
    model_path: ModelArgument,
    genome: Annotated[Path, typer.Argument(metavar="GENOME", help="FASTA file, plain or compressed.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write there, not to stdout.", show_default=False),
    ] = None,
    threshold: Annotated[float, typer.Option(metavar="T", help="Report windows that score more.")] = 0.0,
    motif: Annotated[
        str, typer.Option(metavar="LETTERS", help="Look at windows with these letters at --at alone.")
    ] = "",
    at: Annotated[
        int | None,
        typer.Option(min=0, metavar="P", help="Where in a window the site is, from 0.", show_default=False),
    ] = None,
    both: Annotated[bool, typer.Option("--both-strands", help="Scan the opposite strand of DNA, too.")] = False,
    importance: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Plot what the model looks at (.png, .svg or .pdf).", show_default=False),
    ] = None,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
    _debug: DebugOption = False,
) -> int:
    """Score the window that begins at each letter of GENOME and write those above the threshold in BED format.

    Columns: chromosome, begin, end, name (the class), score (a real number), strand; sorted within a strand. Begin and
    end are those of the motif if --motif is given, else of the letter at --at, else of the whole window.
    """
    if output is not None:
        check_text_output(output, inputs=[model_path, genome])
    if importance is not None:
        check_plot_output(importance, inputs=[model_path, genome])
    model, _ = read_fitted(model_path)
    if not isinstance(model, StringSVC):
        raise ValueError(f"{model_path} is a {type(model).__name__}; genomes are scanned with a StringSVC.")
    if len(model.classes_) > 2:
        raise ValueError(f"{model_path} tells {len(model.classes_)} classes apart; genomes are scanned for one of two.")
    if motif and at is None:
        raise typer.BadParameter("needs --at: where in a window it stands.", param_hint="--motif")
    if at is not None and at + max(1, len(motif)) > model.length_:
        raise typer.BadParameter(f"{at} is not in a window of {model.length_} letters.", param_hint="--at")
    if importance is not None:
        save_importance(model, importance)
    model.set_params(n_jobs=threads)
    place = (0, model.length_) if at is None else (at, at + max(1, len(motif)))
    windows = hits = short = 0
    target: Any = nullcontext(None) if output is None else replace_file(output)
    with target as file:
        for record in read_fasta(genome):
            if len(record.letters) < model.length_:
                short += 1
                continue
            name = record.header.split()[0].decode("latin-1") if record.header.split() else "."
            for strand in "+-" if both else "+":
                read = SlidingWindows(record.letters, model.length_, model.alphabet, reverse=strand == "-")
                chosen = read.starts_with(motif, at) if motif and at is not None else np.ones(len(read), bool)
                scores = read.forward(model.decision_function(read))
                order = chosen[::-1] if read.reverse else chosen
                for hit in hits_above(name, scores, order, threshold, place, model.length_, strand):
                    hits += 1
                    if file is not None:
                        file.write(bed_line(hit).encode())
                    elif not as_json:
                        sys.stdout.write(bed_line(hit))
                windows += len(read)
        if not windows:
            raise ValueError(
                f"{genome} has no text as long as a window of the model, which has {model.length_} letters."
            )
    if short:
        warn(f"{genome}: {short:,} entries are shorter than a window of {model.length_} letters and were left out.")
    if as_json:
        print_json({"windows": windows, "hits": hits, "output": output})
    elif output is not None:
        print_facts([("windows", f"{windows:,}"), ("sites", f"{hits:,}"), ("written", str(output))])
    return exit_codes.OK
