"""Strings on a GPU, for `benchmarks/gpu.py`: splice sites by the tens of millions, and a genome to scan."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import datasets, measure
from benchmarks.measure import fit_seconds
from benchmarks.splice import LENGTH, RULES, SITE, human, paper_model, planted
from cutplane.sources.alphabet import DNA
from cutplane.sources.packed import PIECE, PackedStrings, UnknownLetters

LINE = 60


def _planted(job: tuple[int, int]) -> tuple[Any, Any]:
    return planted(*job)


def strings(n: int, cores: int) -> tuple[PackedStrings, Any]:
    """Planted sites as `benchmarks/splice.py` makes them, in parts with a seed each."""
    each = -(-n // (4 * cores * PIECE)) * PIECE
    jobs = [(min(each, n - begin), seed) for seed, begin in enumerate(range(0, n, each))]
    with ProcessPoolExecutor(cores) as pool:
        parts = list(pool.map(_planted, jobs))
    data = np.concatenate([part for part, _ in parts])  # pieces of the packed layout follow each other
    return PackedStrings(data, n, LENGTH, DNA, UnknownLetters.none()), np.concatenate([y for _, y in parts])


def _row(name: str, what: str, rule: dict[str, float], examples: tuple[Any, Any], options, repeats: int) -> dict:
    model = paper_model(device="cuda", n_jobs=options.threads, time_limit=options.limit, **rule)
    seconds = [fit_seconds(model, *examples) for _ in range(repeats)]
    row = {"data": name, "what": what, "seconds": {"device": measure.median(seconds)}}
    row |= {"spread": {"device": [min(seconds), max(seconds)]}, "gap": model.gap_, "iterations": model.n_iter_}
    print(row, flush=True)
    return row


def _beside(row: dict, rule: dict[str, float], examples: tuple[Any, Any], options) -> dict:
    """The same on the host."""
    host = paper_model(n_jobs=options.threads, time_limit=options.limit, **rule)
    row["seconds"]["host"] = fit_seconds(host, *examples)
    row["host_gap"] = host.gap_
    print(row, flush=True)
    return row


def measure_strings(options) -> list[dict]:
    """Fits from packed bytes in host memory."""
    some, most = (20_000, 50_000) if options.quick else (5_000_000, 50_000_000)
    examples = strings(most, options.threads)
    few = examples[0].take(np.arange(some)), examples[1][:some]
    fit_seconds(paper_model(device="cuda", tol=0.1), *few)  # compiles
    real = _human(options)
    rows = []
    for what, rule in RULES.items():
        rows.append(_row(f"{most:,} planted sites", what, rule, examples, options, 2))
    chromosome = f"{len(real[1]):,} sites of human chromosome 22"
    for name, given in ((f"{some:,} planted sites", few), (chromosome, real)):
        for what, rule in RULES.items():
            rows.append(_beside(_row(name, what, rule, given, options, 3), rule, given, options))
    return rows


def _human(options) -> tuple[PackedStrings, Any]:
    """The real sites that `benchmarks/splice.py` trains on."""
    text, y = human(datasets.data_folder(options.data))
    cut = 20_000 if options.quick else int(0.8 * len(y))
    return PackedStrings.pack(text[:cut]), y[:cut]


def _chromosome(job: tuple[int, int]) -> bytes:
    """Random letters in lines, of which the first twentieth is unknown."""
    size, seed = job
    text = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(seed).integers(0, 4, size, np.uint8)]
    text[: size // 20] = ord("N")
    lines = np.full((size // LINE, LINE + 1), ord("\n"), np.uint8)
    lines[:, :LINE] = text.reshape(-1, LINE)
    return b">chr%d\n" % seed + lines.tobytes()


def measure_scans(options) -> list[dict]:
    """Both strands of a genome of three billion letters, from file to file, Python's start included."""
    model = paper_model(device="cuda", n_jobs=options.threads).fit(*_human(options))
    size, number = (60_000, 8) if options.quick else (125_000_040, 24)
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        whole, part, saved = Path(folder, "genome.fa"), Path(folder, "part.fa"), Path(folder, "model")
        model.save(saved)
        with ProcessPoolExecutor(12) as pool, whole.open("wb") as file, part.open("wb") as first:
            for seed, text in enumerate(pool.map(_chromosome, [(size, seed) for seed in range(number)])):
                file.write(text)
                if seed < number // 8:
                    first.write(text)
        return [
            _scan(f"{number * size:,} letters", "windows with AG", saved, whole, ["--motif", "AG", "--at", str(SITE)]),
            _scan(f"{number // 8 * size:,} letters", "every window", saved, part, ["--any-window"]),
        ]


def _scan(name: str, what: str, model: Path, genome: Path, windows: list[str]) -> dict:
    bed = genome.with_suffix(".bed")
    command = [sys.executable, "-m", "cutplane", "scan", model, genome, "--both-strands", *windows]
    start = perf_counter()
    subprocess.run([*command, "--device", "cuda", "--threshold", "1", "--output", bed], check=True)
    row = {"data": name, "what": what, "seconds": {"device": perf_counter() - start}}
    row |= {"gigabytes": genome.stat().st_size / 1e9, "sites": bed.read_bytes().count(b"\n")}
    print(row, flush=True)
    return row
