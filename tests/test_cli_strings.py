"""The command with strings: train, evaluate, predict, scan, convert."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cutplane import load
from cutplane.cli.app import run
from cutplane.report.trained import Trained


@pytest.fixture
def reads(tmp_path, monkeypatch):
    """A FASTA file in which sites have GATTACA behind AG at 4."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = []
    for i in range(300):
        letters = np.array(list("ACGT"))[rng.integers(4, size=14)]
        letters[4:6] = list("AG")
        if i % 3 == 0:
            letters[6:13] = np.where(rng.random(7) < 0.8, list("GATTACA"), letters[6:13])
        lines += [f">read{i} label={1 if i % 3 == 0 else -1}", "".join(letters)]
    Path("reads.fa").write_text("\n".join(lines) + "\n")
    return Path("reads.fa")


def command(capfd, *arguments):
    capfd.readouterr()
    status = run([str(argument) for argument in arguments])
    return status, *capfd.readouterr()


def test_from_reads_to_sites(reads, capfd):
    options = ("--order", "3", "--spectrum", "0:4", "--spectrum", "6:14", "--spectrum-order", "2", "--depth", "10")
    status, out, _ = command(capfd, "train", "--task", "strings", reads, "model", *options, "--json")
    assert status == 0
    assert json.loads(out)["gap"] <= 1e-3
    status, out, _ = command(capfd, "evaluate", "model", reads, "--json")
    assert json.loads(out)["roc_area"] > 0.95
    assert json.loads(out)["pr_area"] > 0.9
    assert command(capfd, "info", "model")[0] == 0
    status, out, _ = command(capfd, "predict", "model", reads)
    assert sorted(set(out.split())) == ["-1", "1"]

    site = "CCCCAGGATTACAC"
    back = site[::-1].translate(str.maketrans("ACGT", "TGCA"))
    Path("genome.fa").write_text(f">chr1 test\nTTTTTTT{site}TTTT\nNNNNNNNNNN{back}TTTTT\n>tiny\nACG\n")
    status, out, err = command(
        capfd, "scan", "model", "genome.fa", "--motif", "AG", "--at", "4", "--both-strands", "--importance", "p.png"
    )
    assert status == 0, err
    hits = [line.split("\t") for line in out.splitlines()]
    assert [hit[:3] + hit[5:6] for hit in hits] == [
        ["chr1", "11", "13", "+"],
        ["chr1", str(7 + 14 + 4 + 10 + 8), str(7 + 14 + 4 + 10 + 10), "-"],
    ]
    model = load("model")
    np.testing.assert_allclose([float(hit[6]) for hit in hits], model.decision_function([site, site]), rtol=1e-5)
    assert {hit[3] for hit in hits} == {"1"}
    assert all(500 < int(hit[4]) <= 1000 for hit in hits)
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")
    assert "1 entries are shorter than a window of 14 letters" in err
    status, out, _ = command(capfd, "scan", "model", "genome.fa", "-o", "hits.bed")
    assert f"{len(Path('hits.bed').read_text().splitlines())}\n" in out
    status, out, _ = command(capfd, "scan", "model", "genome.fa", "-o", "hits.bed", "--json")
    assert json.loads(out)["hits"] == len(Path("hits.bed").read_text().splitlines())


def test_a_report_shows_held_out_curves_and_names_kmers(reads, capfd):
    lines = reads.read_text().splitlines()
    Path("seen.fa").write_text("\n".join(lines[:400]) + "\n")
    Path("unseen.fa").write_text("\n".join(lines[400:]) + "\n")
    options = ("--order", "3", "--spectrum", "6:14", "--spectrum-order", "2", "--report", "r.html")
    status, _, err = command(capfd, "train", "--task", "strings", "seen.fa", "m", *options, "--test", "unseen.fa")
    assert status == 0, err
    page = Path("r.html").read_text()
    assert "Area under ROC" in page
    assert "Precision" in page
    assert "200" in page
    model = load("m")
    best = int(np.abs(model.coef_[0]).argmax())
    assert Trained(model).feature(best) in page
    assert command(capfd, "train", "--task", "strings", "seen.fa", "m", *options[:-2], "--report", "q.html")[0] == 0
    Path("short.fa").write_text(">a label=1\nACGT\n")
    status, _, err = command(capfd, "train", "--task", "strings", "seen.fa", "m", *options, "--test", "short.fa")
    assert status == 1
    assert "short.fa has strings of 4 letters, those to train on have 14" in err


def test_a_text_without_a_window_is_named(reads, capfd):
    assert command(capfd, "train", "--task", "strings", reads, "model", "--order", "2", "-q")[0] == 0
    Path("tiny.fa").write_text(">chr1\nACGT\n")
    status, _, err = command(capfd, "scan", "model", "tiny.fa", "-o", "hits.bed")
    assert status == 1
    assert "tiny.fa has no text as long as a window of the model, which has 14 letters" in err
    assert not Path("hits.bed").exists()


def test_labels_may_be_words(reads, capfd):
    Path("words.fa").write_text(reads.read_text().replace("label=1", "label=site").replace("label=-1", "label=decoy"))
    assert command(capfd, "train", "--task", "strings", "words.fa", "m", "--order", "3", "-q")[0] == 0
    status, out, _ = command(capfd, "evaluate", "m", "words.fa", "--json")
    assert status == 0
    assert json.loads(out)["labels"] == ["decoy", "site"]
    assert json.loads(out)["roc_area"] > 0.95
    Path("bare.fa").write_text(">a\nACGTACGTACGTAC\n")
    status, _, err = command(capfd, "evaluate", "m", "bare.fa")
    assert status == 1
    assert "bare.fa has no labels" in err
    status, out, _ = command(capfd, "predict", "m", "bare.fa")
    assert (status, out.strip() in ("site", "decoy")) == (0, True)


def test_converted_strings_train_the_same_model(reads, capfd):
    assert command(capfd, "convert", reads, "reads.strings")[0] == 0
    for data in (reads, "reads.strings"):
        assert command(capfd, "train", "--task", "strings", data, f"{data}.model", "--order", "2", "-q")[0] == 0
    assert np.array_equal(load(f"{reads}.model").coef_, load("reads.strings.model").coef_)


def test_converted_svmlight_is_trained_where_it_lies(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("data.svm").write_text("".join(f"{1 if i % 2 else -1} 1:{i % 2 + 0.1 * i % 0.3} 3:1\n" for i in range(60)))
    status, out, _ = command(capfd, "convert", "data.svm", "folder", "--json")
    assert (status, json.loads(out)["entries"]) == (0, 120)
    assert command(capfd, "train", "folder", "there", "-q")[0] == 0
    assert command(capfd, "train", "data.svm", "here", "-q")[0] == 0
    assert np.isclose(load("there").objective_, load("here").objective_, rtol=2e-3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train --task strings bare.fa new", "bare.fa has no labels"),
        ("train --task strings reads.fa new --spectrum 4", "--spectrum 4 is no window"),
        ("train --task strings reads.fa new --order 20", "order=20 is longer than the window of 14"),
        (
            "train --task strings reads.fa new --intercept-scaling 1",
            "--intercept-scaling is for --task classes",
        ),
        ("train reads.fa new", "reads.fa is a FASTA file; --task strings learns from those"),
        ("convert rows.npy new", "rows.npy is read a block at a time as it is"),
        ("scan reads.fa reads.fa", "reads.fa"),
        ("convert reads.fa reads.fa", "named for reading and for writing"),
    ],
)
def test_bad_input_is_one_sentence(reads, capfd, arguments, words):
    Path("bare.fa").write_text(">a\nACGT\n>b\nACCC\n")
    np.save("rows.npy", np.zeros((2, 2)))
    status, _, err = command(capfd, *arguments.split())
    assert status in (1, 2)
    assert words in err
    assert "Traceback" not in err


def test_scan_looks_where_all_strings_of_the_training_have_the_same_letters(reads, capfd):
    assert command(capfd, "train", "--task", "strings", reads, "model", "--order", "3", "-q")[0] == 0
    Path("genome.fa").write_text(">chr1\nTTTTTTTCCCCAGGATTACACTTTTCCCCTTGATTACACTT\n")
    status, out, _ = command(capfd, "scan", "model", "genome.fa", "-o", "hits.bed", "--json")
    found = json.loads(out)
    assert (status, found["motif"], found["at"], found["looked_at"]) == (0, "AG", 4, 1)
    assert found["windows"] > 20
    _, out, _ = command(capfd, "scan", "model", "genome.fa", "-o", "hits.bed", "--any-window", "--json")
    assert json.loads(out)["looked_at"] == found["windows"]
    _, out, _ = command(capfd, "scan", "model", "genome.fa", "-o", "hits.bed", "--motif", "G", "--json")
    assert (json.loads(out)["motif"], json.loads(out)["at"]) == ("G", 5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--motif AG --at 5", "the strings that the model was trained on all have AG at 4, so none has AG at 5"),
        ("--motif AG --at 8", "they all have AG at 4"),
        ("--motif CC", "needs --at"),
        ("--motif AG --any-window", "leave out --motif"),
        ("--at 14", "14 is not in a window of 14 letters"),
    ],
)
def test_scan_refuses_places_that_the_training_contradicts(reads, capfd, options, words):
    assert command(capfd, "train", "--task", "strings", reads, "model", "--order", "2", "-q")[0] == 0
    Path("genome.fa").write_text(">chr1\nTTTTTTTCCCCAGGATTACACTTTT\n")
    status, _, err = command(capfd, "scan", "model", "genome.fa", *options.split())
    assert status == 2
    assert words in err


def test_a_scan_without_sites_says_so_and_what_to_try(reads, capfd):
    assert command(capfd, "train", "--task", "strings", reads, "model", "--order", "2", "-q")[0] == 0
    Path("genome.fa").write_text(">chr1\nTTTTTTTCCCCAGGATTACACTTTT\n")
    status, out, err = command(capfd, "scan", "model", "genome.fa", "--threshold", "50")
    assert (status, out) == (0, "")
    assert "no site: of 1 windows with AG at 4 none scores above 50" in err
    assert "--class-weight balanced" in err
