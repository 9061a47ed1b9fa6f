"""What the benchmarks that measure a paper again share: options, parts that can be run apart, plots, spreads."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import datasets, measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Part = Callable[[argparse.Namespace], Any]


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def parser(doc: str, name: str, parts: Sequence[str], threads: int | list[int] = 2) -> argparse.ArgumentParser:
    """The options that all of them take; `threads` is a list where numbers of them are compared."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--data", help="folder of the published data files (default: $CUTPLANE_DATA)")
    made.add_argument("--cache", default=datasets.DEFAULT_CACHE, help="folder of the parsed data (%(default)s)")
    size = made.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small data sets, about a minute")
    size.add_argument("--full", action="store_true", help="everything (the default)")
    made.add_argument("--parts", type=lambda text: text.split(","), default=list(parts), help=",".join(parts))
    made.add_argument("--sets", type=lambda text: text.split(","), help="only these data sets; others keep their rows")
    made.add_argument("--repeats", type=int, default=3, help="of what is timed (%(default)s)")
    made.add_argument("--threads", type=int if isinstance(threads, int) else _numbers, default=threads)
    made.add_argument("--limit", type=float, default=60.0, help="seconds for one run (%(default)s)")
    made.add_argument("--out", type=Path, default=measure.RESULTS / f"{name}.json", help="JSON file (%(default)s)")
    made.add_argument("--plots", type=Path, help="folder for the plots (default: beside the JSON file)")
    made.add_argument("--report", action="store_true", help="measure nothing: tables and plots of --out as it is")
    made.add_argument("--gather", type=Path, nargs="+", metavar="FILE", help="measure nothing: take these into --out")
    return made


def run(
    options: argparse.Namespace,
    parts: dict[str, Part],
    packages: Sequence[str],
    tables: Callable[[dict], dict[str, str]],
    figures: Callable[[dict], dict[str, Figure]],
) -> None:
    """Measure the parts that were asked for, keep those measured before, write JSON and plots, print the tables.

    A part carries its own machine, versions and commit, since the parts of one file may be measured apart.
    """
    unknown = sorted(set(options.parts) - set(parts))
    if unknown:
        raise SystemExit(f"There is no part {unknown[0]!r}; there are {', '.join(parts)}.")
    result: dict = json.loads(options.out.read_text()) if options.out.exists() else {}
    if options.gather:
        result = gather(result, [json.loads(file.read_text()) for file in options.gather])
        measure.write_json(options.out, result)
    for name in [] if options.report or options.gather else options.parts:
        machine = measure.machine(("cutplane", "numpy", "scipy", "scikit-learn", *packages))
        found = parts[name](options)
        if options.sets:  # measured piece by piece
            found = [row for row in result.get(name, {}).get("rows", []) if row["data"] not in options.sets] + found
        machine["load_average_at_end"] = measure.machine(())["load_average"]
        result[name] = {"machine": machine, "quick": options.quick, "threads": options.threads, "rows": found}
        measure.write_json(options.out, result)
    measured = {name: part for name, part in result.items() if part["rows"]}
    for title, text in tables(measured).items():
        print(f"\n## {title}\n\n{text}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("\nMatplotlib is missing, so there are no plots; --report draws them where it is.")
        return
    for name, figure in figures(measured).items():
        save_plot(figure, (options.plots or options.out.parent) / f"{options.out.stem}-{name}")


def gather(result: dict, measured: Sequence[dict]) -> dict:
    """Results with those measured elsewhere: their parts, but for the rows of data sets that they do not have."""
    result = dict(result)
    fresh: dict[str, dict] = {}
    for file in measured:
        for name, part in file.items():
            rows = fresh[name]["rows"] if name in fresh else []
            fresh[name] = {**part, "rows": rows + part["rows"]}
    for name, part in fresh.items():
        new = {row["data"] for row in part["rows"]}
        kept = [row for row in result.get(name, {}).get("rows", []) if row["data"] not in new]
        result[name] = {**part, "rows": kept + part["rows"]}
    return result


def save_plot(figure: Figure, where: Path) -> None:
    """As PNG and SVG. A few lines need few colours: a palette makes the PNG a quarter of the size."""
    from PIL import Image

    where.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(where.with_suffix(".svg"))
    picture = where.with_suffix(".png")
    figure.savefig(picture, dpi=100)
    with Image.open(picture) as image:
        small = image.convert("RGB").quantize(64)
    small.save(picture, optimize=True)


def spread(seconds: Sequence[float]) -> str:
    """The median, and least and most where there is more than one."""
    if not seconds:
        return "-"
    middle = measure.median(seconds)
    return f"{middle:.2g}" if len(seconds) == 1 else f"{middle:.2g} ({min(seconds):.2g}–{max(seconds):.2g})"


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """The p of y ~ x^p, by least squares on logarithms; NaN for fewer than two points."""
    points = [(a, b) for a, b in zip(x, y, strict=True) if a > 0 and b > 0]
    if len(points) < 2:
        return float("nan")
    logs = np.log(np.array(points))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table for a page: numbers to the right."""
    lines = [list(header), ["---", *["---:"] * (len(header) - 1)], *([_text(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return "" if np.isnan(cell) else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def where(result: dict) -> str:
    """One line on the machines that the parts of a result were measured on."""
    lines = dict.fromkeys(_machine_line(part) for part in result.values())
    return f"Measured on {'; '.join(lines)}." if lines else "Not measured yet."


def _machine_line(part: dict) -> str:
    machine, threads = part["machine"], part["threads"]
    threads = threads if isinstance(threads, int) else f"{min(threads)} to {max(threads)}"
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {threads} threads, Python {machine['python']}, "
        f"Cutplane {machine['packages']['cutplane']}, {machine['date']}{', quick' if part['quick'] else ''}"
    )
