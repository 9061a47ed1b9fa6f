"""Binary linear SVMs: seconds to within 1e-3 of the optimum, ours beside every peer in the same run.

    python benchmarks/binary.py --data DIR [--quick] [--sets covtype,mnist] [--Cs 0.1,1] [--out FILE]
    python benchmarks/binary.py --report FILE          prints the tables of an earlier run

Objective ½|w|² + C·Σ hinge, no intercept. Ours stops at its own PROVEN gap of 1e-3; each peer runs at the
loosest of its settings that is within 1e-3 of the best known optimum. Ours and LIBLINEAR are timed
alternately and their medians compared.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

# So that it runs as a file too, not only with -m.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import binary_report, datasets, measure, ours, peers
from benchmarks.optima import FalseCertificateError, Optima

REPRODUCES = "Arnosti and Kalita 2013, the search times of Figures 4 and 5, in its last table"
SETS = ("covtype", "mnist", "a9a", "w8a", "news20", "news20-one", "rcv1")
CS = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
QUICK_SETS, QUICK_CS = ("a9a", "w8a", "rcv1"), (1e-3, 0.1, 10.0)
SEARCH_SETS, SEARCH_CS = ("covtype", "mnist", "news20", "poker"), (1e-2, 1.0)
TIGHT = 1e-6
OURS_LIMIT = 60.0  # seconds for one fit of ours; CPA at large C would take hours


def bracket(problem: peers.Problem, C: float, optima: Optima, liblinear: peers.Liblinear) -> tuple[float, float]:
    """The best known [lower, upper]: the file's, narrowed by our tight run, else LIBLINEAR's tightest."""
    known = optima.get(problem.name, C)
    if ours.MISSING is None:
        tight = ours.fit(problem, C, tol=TIGHT, time_limit=OURS_LIMIT)
        return optima.learn(problem.name, C, tight.lower, tight.objective)
    if known is None and liblinear.missing is None:
        run = liblinear.train(C, liblinear.settings[-1])
        return optima.learn(problem.name, C, run.lower * (1 - 1e-6), run.objective)
    if known is None:
        raise SystemExit(f"No optimum known for {problem.name} at C = {C:g} and no solver installed to find it.")
    return known


class OursTimed:
    """One of our methods as a contestant: remembers every fit, answers with the solver's seconds."""

    def __init__(self, problem: peers.Problem, C: float, threads: int, **settings) -> None:
        self._arguments = (problem, C)
        self._settings = {"threads": threads, "time_limit": OURS_LIMIT, **settings}
        self.fits: list[ours.Fitted] = []

    def __call__(self) -> float:
        self.fits.append(ours.fit(*self._arguments, **self._settings))
        return self.fits[-1].train

    def summary(self, optimum: float) -> dict:
        last = self.fits[-1]
        tol = self._settings["tol"]
        return {
            **asdict(last),
            "train": [each.train for each in self.fits],
            "fit": [each.fit for each in self.fits],
            "arrived": last.gap <= tol and last.objective <= optimum * (1 + tol),
        }


class Again:
    """A peer as a contestant: at the setting that arrived, else at the one that came nearest."""

    def __init__(self, peer: peers.Peer, C: float, swept: peers.Sweep) -> None:
        self._peer, self._C, self._setting = peer, C, (swept.arrived or swept.best()).setting

    def __call__(self) -> float:
        return self._peer.train(self._C, self._setting).seconds


def measure_cell(problem, C, optima, rivals, options) -> dict:
    """Everything measured on one data set at one C, as plain values."""
    lower, upper = bracket(problem, C, optima, rivals[0])
    sweeps = {rival.name: peers.sweep(rival, C, upper, limit=options.limit) for rival in rivals}
    contestants = {}
    if ours.MISSING is None:
        contestants = {
            "auto": OursTimed(problem, C, options.threads, method="auto", tol=peers.ARRIVED),
            "tight": OursTimed(problem, C, options.threads, method="auto", tol=TIGHT),
            "oca": OursTimed(problem, C, options.threads, method="oca", tol=peers.ARRIVED),
        }
    again = {rival.name: Again(rival, C, sweeps[rival.name]) for rival in rivals if sweeps[rival.name].runs}
    first = {name: again.pop(name) for name in (rivals[0].name,) if name in again}
    seconds = measure.alternate(contestants | first, options.repeats, options.budget)
    # The others apart, or a slow one of them would eat the repeats of the two that are compared.
    arrived = {name: each for name, each in again.items() if sweeps[name].arrived}
    seconds |= measure.alternate(arrived, options.repeats, options.budget / 4)
    for swept_peer in sweeps.values():
        for run in swept_peer.runs:
            lower, upper = optima.learn(problem.name, C, 0.0, run.objective)
    return {
        "data": problem.name,
        "C": C,
        "lower": lower,
        "upper": upper,
        "ours": {name: contestant.summary(upper) for name, contestant in contestants.items()},
        "peers": {
            name: {
                "verdict": each.verdict(upper),
                "arrived": each.arrived is not None,
                "chosen": asdict(each.arrived or each.best()) if each.runs else None,
                "seconds": seconds.get(name) or [run.seconds for run in (each.arrived or each.best(),) if run],
                "runs": [asdict(run) for run in each.runs],
            }
            for name, each in sweeps.items()
        },
    }


def measure_searches(problem: peers.Problem, C: float, threads: int) -> list[dict]:
    """CPA, OCA with the exact search and OCA with the three-point search, to a proven 1e-3."""
    ways = {"CPA": ("cpa", None), "OCA-E": ("oca", "exact"), "OCA-T": ("oca", "three-point")}
    return [
        {
            "data": problem.name,
            "C": C,
            "way": way,
            **asdict(ours.fit(problem, C, method=method, line_search=search, threads=threads, time_limit=OURS_LIMIT)),
        }
        for way, (method, search) in ways.items()
    ]


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the published data files (default: $CUTPLANE_DATA)")
    parser.add_argument("--cache", default=datasets.DEFAULT_CACHE, help="folder of the parsed data (%(default)s)")
    parser.add_argument("--sets", type=lambda text: tuple(text.split(",")), help=",".join(SETS))
    parser.add_argument("--Cs", type=lambda text: tuple(map(float, text.split(","))), help="C per example")
    parser.add_argument("--quick", action="store_true", help="three small data sets, three Cs, LIBLINEAR only")
    parser.add_argument("--repeats", type=int, default=5, help="alternating timings per cell (%(default)s)")
    parser.add_argument("--budget", type=float, default=120.0, help="seconds of alternating per cell (%(default)s)")
    parser.add_argument("--limit", type=float, default=peers.TIME_LIMIT, help="a peer's slowest run (%(default)s s)")
    parser.add_argument("--threads", type=int, default=2, help="ours and multi-core LIBLINEAR (%(default)s)")
    parser.add_argument("--multicore", metavar="DIR", help="where liblinear-multicore was installed with --target")
    parser.add_argument("--only-liblinear", action="store_true", help="no other peer")
    parser.add_argument("--no-searches", action="store_true", help="without the table of CPA, OCA-E and OCA-T")
    parser.add_argument("--only-searches", action="store_true", help="that table alone")
    parser.add_argument("--update-optima", action="store_true", help="keep narrower brackets in results/optima.json")
    parser.add_argument("--out", type=Path, default=measure.RESULTS / "binary.json", help="JSON file (%(default)s)")
    parser.add_argument("--report", type=Path, metavar="FILE", help="print the tables of this JSON file and stop")
    options = parser.parse_args(arguments)
    options.sets = options.sets or (QUICK_SETS if options.quick else SETS)
    if options.only_searches:
        options.sets = ()
    options.Cs = options.Cs or (QUICK_CS if options.quick else CS)
    return options


def make_rivals(options: argparse.Namespace) -> list[peers.Peer]:
    """LIBLINEAR first: it is what the ratios are against."""
    rivals: list[peers.Peer] = [peers.Liblinear()]
    if not (options.quick or options.only_liblinear):
        rivals += [peers.MulticoreLiblinear(options.multicore, options.threads), peers.Rehline(), peers.Sgd()]
    return rivals


def load(name: str, options: argparse.Namespace) -> peers.Problem:
    return peers.Problem(name, *datasets.load(name, options.data, options.cache))


def main() -> None:
    options = parse()
    if options.report:
        print(binary_report.text(json.loads(options.report.read_text())))
        return
    optima, rivals = Optima(), make_rivals(options)
    result = {
        "machine": measure.machine(),
        "copy_bandwidth_gb_s": measure.copy_bandwidth(options.threads),
        "threads": options.threads,
        "peers": {each.name: each.missing or each.version() for each in rivals},
        "ours": ours.MISSING or "present",
        "cells": [],
        "searches": [],
        "contradictions": [],
    }
    for name in options.sets:
        problem = load(name, options)
        for rival in rivals:
            if rival.missing is None:
                rival.prepare(problem)
        for C in options.Cs:
            try:
                result["cells"].append(measure_cell(problem, C, optima, rivals, options))
            except FalseCertificateError as error:
                # The gravest finding a run can make: shown under the tables, the other cells still measured.
                result["contradictions"].append(str(error))
                print(f"FALSE CERTIFICATE: {error}", flush=True)
                continue
            print(binary_report.progress(result["cells"][-1]), flush=True)
            measure.write_json(options.out, result)
    if ours.MISSING is None and not (options.quick or options.no_searches):
        for name in SEARCH_SETS:
            problem = load(name, options)
            for C in SEARCH_CS:
                result["searches"] += measure_searches(problem, C, options.threads)
    result["machine"]["load_average_at_end"] = measure.machine()["load_average"]
    measure.write_json(options.out, result)
    if options.update_optima:
        optima.save()
    print(binary_report.text(result))


if __name__ == "__main__":
    main()
