"""`cutplane convert`: data for training that need not fit into memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cutplane.cli import exit_codes
from cutplane.cli.options import DebugOption, JsonOption, ThreadsOption


def convert(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="FASTA or svmlight file, plain or compressed.", show_default=False)
    ],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="A file for strings; a new folder for svmlight.")],
    alphabet: Annotated[str, typer.Option(help="Of strings: dna, rna, protein, or the letters.")] = "dna",
    zero_based: Annotated[bool, typer.Option("--zero-based", help="Features are numbered from 0.")] = False,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
    _debug: DebugOption = False,
) -> int:
    """Convert DATA once into a form that need not fit into memory: it is read a block at a time."""
    from cutplane.cli.output import print_facts, print_json
    from cutplane.cli.outputs import check_text_output
    from cutplane.io.convert import convert_svmlight
    from cutplane.io.fasta import is_fasta
    from cutplane.io.strings import convert_fasta

    check_text_output(output, inputs=[data])
    if data.suffix in (".npy", ".parquet"):
        raise ValueError(f"{data} is read a block at a time as it is: cutplane.sources.open_rows({str(data)!r}).")
    if is_fasta(data):
        count, length = convert_fasta(data, output, alphabet, n_threads=threads or 0)
        facts = {"strings": count, "letters": length}
    else:
        rows, columns, entries = convert_svmlight(data, output, zero_based=zero_based, n_jobs=threads)
        facts = {"examples": rows, "features": columns, "entries": entries}
    if as_json:
        print_json({"output": output, **facts})
    else:
        print_facts([(name, f"{value:,}") for name, value in facts.items()] + [("written", str(output))])
    return exit_codes.OK
