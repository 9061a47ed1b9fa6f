"""Benchmarks can be found and listed without their peers, and what the pages say is what was measured."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from benchmarks import __main__ as command
from benchmarks import harness, measure, readme_table, structured
from benchmarks.catalogue import discover
from benchmarks.figures import Panel, draw
from benchmarks.tables import cores, ofs
from tests.selection import first_cases

ROOT = Path(__file__).resolve().parents[1]

MISSING_PEER = '''"""A benchmark of something that is not there.

More words.
"""

import argparse

import a_peer_that_nobody_has

REPRODUCES = "A paper, Table 7"
QUICK = ("--rows", "10")


def main():
    argparse.ArgumentParser().add_argument("--data")


if __name__ == "__main__":
    main()
'''


def test_every_benchmark_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    out = capsys.readouterr().out
    for name in ("binary", "passes", "reading", "reduced_qp", "joachims", "franc_sonnenburg", "arnosti_kalita"):
        assert f"\n{name} " in f"\n{out}"
    assert "Table 1 and Figures 1, 2" in out


def test_one_whose_peer_is_missing_is_listed_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(MISSING_PEER)
    (tmp_path / "helper.py").write_text('"""No script."""\n')
    (found,) = discover(tmp_path)
    assert (found.name, found.title) == ("odd", "A benchmark of something that is not there")
    assert (found.reproduces, found.quick) == ("A paper, Table 7", ("--rows", "10"))


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["nothing"]) == 2
    assert "There is no benchmark 'nothing'; there are arnosti_kalita" in capsys.readouterr().err


def test_a_benchmark_that_fails_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    (tmp_path / "odd.py").write_text(MISSING_PEER)
    monkeypatch.setattr(command, "discover", lambda: discover(tmp_path))
    assert command.main(["odd", "--out", str(tmp_path / "out")]) == 1
    assert "Did not run to the end: odd." in capsys.readouterr().err


@pytest.mark.parametrize("script", ["joachims", "franc_sonnenburg", "arnosti_kalita", "sampled_cuts"])
def test_a_page_of_results_shows_every_table_that_was_measured(script: str) -> None:
    module = next(module for module, _ in readme_table.measured() if module.__name__.endswith(script))
    text = (readme_table.PAGES / module.PAGE).read_text()
    result = json.loads((ROOT / "benchmarks" / "results" / f"{script}.json").read_text())
    tables = module.tables(result)
    assert tables
    for name, table in tables.items():
        assert f"<!-- {name} -->\n\n{table}\n\n<!-- /{name} -->" in text
    assert all(part["machine"]["commit"] for part in result.values())


def test_the_page_on_ofs_says_what_was_measured() -> None:
    text = (readme_table.PAGES / ofs.PAGE).read_text()
    entries = json.loads((ROOT / "benchmarks" / "results" / "ofs.json").read_text())["tables"]
    runs = {(e["kernel"], e["set"], e["rows"], e["selection"], e["rule"]): e for e in entries}
    assert len(runs) == len(entries)
    largest = [runs["rbf", "covtype", 100_000, s, "kkt"] for s in ("second-order", "ofs2", "ofs1")]
    iterations, seconds = ([run[what] / largest[0][what] for run in largest] for what in ("iterations", "seconds"))
    assert f"{iterations[1]:.1f} times the iterations" in text
    assert f"({largest[1]['iterations']:,} against {largest[0]['iterations']:,})" in text
    assert f"{seconds[1]:.1f} times the seconds" in text
    assert f"OFS1 needs {iterations[2]:.1f} times" in text
    by_pair = runs["rbf", "covtype", 100_000, "ofs2", "pair"]
    assert f"{by_pair['iterations']:,}, with a violation of {by_pair['violation']:.1f}" in " ".join(text.split())
    violations = [
        e["violation"] for e in entries if (e["kernel"], e["selection"], e["rule"]) == ("rbf", "ofs2", "pair")
    ]
    assert f"true violation is up to {max(violations):.0f} with" in text
    worse = [
        e["gap"] / runs[e["kernel"], e["set"], e["rows"], "ofs2", "kkt"]["gap"]
        for e in entries
        if (e["selection"], e["rule"], e["stop"]) == ("ofs2", "pair", "pair")
    ]
    assert f"up to {max(worse):.0f} times what the sound rule leaves" in text
    sigmoid = ofs.relative(ofs.of_kernel(entries, "sigmoid"), "ofs2", "kkt", "iterations")
    assert (sum(ratio < 0.995 for ratio in sigmoid.values()), len(sigmoid)) == (5, 8)
    assert f"needs {sigmoid['w8a (49,749)']:.0f} times as many" in text


def test_a_set_counts_once_at_the_largest_size_that_ended() -> None:
    def run(rows: int, stop: str, selection: str = "second-order", iterations: int = 10) -> dict:
        return {"set": "a", "rows": rows, "selection": selection, "rule": "kkt", "stop": stop, "iterations": iterations}

    entries = [run(1, "kkt"), run(2, "kkt"), run(3, "time_limit"), run(2, "kkt", "ofs2", 5), run(3, "kkt", "ofs2", 1)]
    assert ofs.relative(entries, "ofs2", "kkt", "iterations") == {"a (2)": 0.5}


def test_a_stale_page_is_noticed(tmp_path: Path) -> None:
    assert readme_table.between("a <!-- t --> old <!-- /t --> b", "t", "new", tmp_path) == (
        "a <!-- t -->\n\nnew\n\n<!-- /t --> b"
    )
    with pytest.raises(SystemExit, match=r"must have one <!-- t -->"):
        readme_table.between("nothing", "t", "new", tmp_path)


def test_one_part_of_a_benchmark_leaves_the_others(tmp_path: Path) -> None:
    out = tmp_path / "b.json"
    parts = {"a": lambda options: [{"data": "x", "value": 1}], "b": lambda options: [{"data": "y", "value": 2}]}

    def measure(*words: str) -> dict:
        options = harness.parser("", "b", tuple(parts)).parse_args([*words, "--out", str(out)])
        harness.run(options, parts, (), lambda result: {}, lambda result: {})
        return json.loads(out.read_text())

    assert set(measure("--parts", "a")) == {"a"}
    result = measure("--parts", "b")
    assert [result[name]["rows"] for name in "ab"] == [[{"data": "x", "value": 1}], [{"data": "y", "value": 2}]]
    parts["a"] = lambda options: [{"data": "z", "value": 3}]
    rows = measure("--parts", "a", "--sets", "z")["a"]["rows"]
    assert [row["data"] for row in rows] == ["x", "z"]
    with pytest.raises(SystemExit, match="There is no part 'c'"):
        measure("--parts", "c")


def test_exponents_are_those_of_powers() -> None:
    x = [1.0, 10.0, 100.0]
    assert harness.exponent(x, [3 * value**0.7 for value in x]) == pytest.approx(0.7)
    assert math.isnan(harness.exponent([1.0], [2.0]))


def test_spreads() -> None:
    assert harness.spread([2.0, 1.0, 3.0]) == "2 (1–3)"
    assert harness.spread([]) == "-"


def test_plots_are_files(tmp_path: Path) -> None:
    panel = Panel("t", "x", "y", {"a": ([1.0, 10.0], [1.0, 5.0])}, guide=1.0, guide_label="linear")
    draw([panel] * 3).savefig(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text().startswith("<?xml")


@pytest.mark.nightly
def test_a_small_run_of_a_real_benchmark(tmp_path: Path) -> None:
    """Without data files: the made ones. Through the command, so that options, JSON and plots are those of users."""
    words = ["franc_sonnenburg", "--out", str(tmp_path), "--quick"]
    own = ["--parts", "challenge", "--sets", "nothing", "--cache", str(tmp_path / "cache")]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *words, "--", *own], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "franc_sonnenburg.json").read_text())
    assert result["challenge"]["rows"] == []
    assert result["challenge"]["machine"]["packages"]["cutplane"]


@pytest.mark.parametrize(
    "name", first_cases(["passes", "binary", "path", "ranking", "reading", "smo", "splice", "structured"], 1)
)
def test_benchmarks_without_plots_of_their_own_get_them(name, tmp_path):
    (tmp_path / f"{name}.json").write_text((readme_table.RESULTS / f"{name}.json").read_text())
    command.draw(name, tmp_path)
    pictures = list(tmp_path.glob("*.png"))
    assert pictures
    assert all(picture.stat().st_size > 2000 and picture.with_suffix(".svg").exists() for picture in pictures)


def test_parts_measured_elsewhere_replace_the_rows_of_their_data():
    def part(*rows, day):
        return {"machine": {"date": day}, "rows": [{"data": data, "seconds": seconds} for data, seconds in rows]}

    before = {"times": part(("a", 1), ("b", 2), day="old"), "errors": part(("a", 3), day="old")}
    files = [{"times": part(("b", 5), day="new")}, {"times": part(("c", 6), day="new")}]
    after = harness.gather(before, files)
    assert [(row["data"], row["seconds"]) for row in after["times"]["rows"]] == [("a", 1), ("b", 5), ("c", 6)]
    assert (after["times"]["machine"]["date"], after["errors"]) == ("new", before["errors"])
    assert len(before["times"]["rows"]) == 2


def test_sequences_measured_apart_are_put_together(tmp_path: Path) -> None:
    def file(name: str, **content) -> Path:
        (tmp_path / name).write_text(json.dumps({"sets": {}, "tuning": {}} | content))
        return tmp_path / name

    def folds(*numbers: int) -> dict:
        return {"machine": {}, "rows": {"ocr-letters": [{"fold": number} for number in numbers]}}

    files = [
        file("late", folds=folds(2, 3), sets={"ocr-letters": {"new": True}}),
        file("early", folds=folds(0, 1), halves={"rows": [1]}),
    ]
    known = {"sets": {"ocr-letters": {}, "conll2000": {}}, "tuning": {}, "folds": folds(7)}
    found = structured.gather(known, files)
    assert [row["fold"] for row in found["folds"]["rows"]["ocr-letters"]] == [0, 1, 2, 3]
    assert found["halves"] == {"rows": [1]}
    assert list(found["sets"].items()) == [("conll2000", {}), ("ocr-letters", {"new": True})]


def test_contestants_take_turns_and_short_ones_more_of_them() -> None:
    called: list[str] = []

    def contestant(name: str) -> float:
        called.append(name)
        return 0.0

    seconds = measure.alternate({name: partial(contestant, name) for name in "ab"}, repeats=2)
    assert 2 <= len(seconds["a"]) == len(seconds["b"]) <= 10
    assert "".join(called) == "ab" * len(seconds["a"])
    assert [len(each) for each in measure.alternate({"a": partial(contestant, "a")}, 2, budget=0.0).values()] == [1]


def test_speedups_are_those_of_fits_that_ended() -> None:
    def row(what: str, seconds: dict, **more) -> dict:
        rates = {"1": 10.0, "2": 15.0, "16": 60.0}
        return {"data": "d", "what": what, "seconds": seconds, "floor": "copy", "floor_rate": rates, **more}

    ended = row("ended", {"1": 8.0, "16": 2.0}, limited=[], phases={"1": {"scores": 6.0}, "16": {"scores": 1.5}})
    late = row("late", {"1": 9.0, "2": 5.0, "16": 3.0}, limited=["1"], phases={"1": {}, "16": {}})
    peer = {"data": "peers", "what": "slow", "seconds": {"1": 90.0}, "above": 2e-3, "peer": True}
    call = row("scores", {"1": 1.0, "16": 0.25}, work=9e9)
    part = {"machine": measure.machine(), "quick": False, "threads": [1, 2, 16]}
    result = {"rows": part | {"rows": [ended, late, peer]}, "passes": part | {"rows": [call]}}
    found = cores.tables(result)
    assert "| d | ended | 8 |  | 2 | 4x | 6x (copy) | 67% |" in found["Rows by the million"]
    assert "| d | late | > 9 | 5 | 3 | > 3x | 6x (copy) |  |" in found["Rows by the million"]
    assert "| d | scores | 90% | 60% | 4x |" in found["Passes"]
    assert "| slow | 90 | 2.0e-03 above the optimum |" in found["Peers"]
    assert "| d | ended | scores 6 | scores 1.5 |" in found["Where the time goes"]
    assert set(cores.figures(result)) == {"speedups", "passes"}
    assert "1 to 16 threads" in found["machine"]
