"""The page of a run grows with it, and is served to this machine alone."""

from __future__ import annotations

import base64
import hashlib
import http.client
import re
import socket
import threading
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from cutplane import LinearSVC, SampledCutSVC
from cutplane.cli.app import run
from cutplane.cli.watch import watched
from cutplane.report.live import LiveRun
from cutplane.report.live_server import LiveServer
from cutplane.solvers.result import Step

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.arange(60) % 3


def step(iteration: int, problem: int = 0) -> Step:
    return Step(iteration, 0.1 * iteration, 1.0, 1.0 - 0.5**iteration, planes=1, problem=problem)


def test_the_page_grows_and_ends() -> None:
    live = LiveRun("My run", 1e-6)
    assert "No step has been taken yet" in live.page()
    for iteration in range(1, 6):
        live(step(iteration))
    page = live.page()
    assert "Running: proven within 3.2 % of the optimum so far" in page
    assert "Certified convergence" in page
    assert " left</dd>" in page
    assert 'id="ended"' not in page
    live(step(1, problem=1))
    assert "problem 2, the worst so far proven within 50 %" in live.page()
    live.end()
    assert "The run has ended" in live.page()
    assert 'id="ended"' in live.page()


def test_the_script_of_the_page_is_the_one_that_is_allowed() -> None:
    page = LiveRun("<b>", 1e-3).page()
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script.group(1).encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    assert "<h1>&lt;b&gt;</h1>" in page


@pytest.mark.parametrize("model", [LinearSVC(), SampledCutSVC(kernel="rbf", risk_tol=0.1)], ids=["classes", "cuts"])
def test_steps_of_real_runs(model: LinearSVC) -> None:
    live = LiveRun("run", 1e-3)
    model.set_params(on_step=live).fit(X, Y if isinstance(model, LinearSVC) else Y > 0)
    assert "Iterations" in live.page()


def test_it_is_served_on_the_loopback_address_under_its_own_name_alone() -> None:
    with LiveServer(0, lambda: "page") as server:
        host, port = server.address.removeprefix("http://").rstrip("/").split(":")
        assert host == "127.0.0.1"
        assert urlopen(server.address).read() == b"page"
        for path, name, status in (("/", f"localhost:{port}", 200), ("/", "evil.example", 403), ("/x", None, 404)):
            connection = http.client.HTTPConnection(host, int(port))
            connection.request("GET", path, headers={} if name is None else {"Host": name})
            assert connection.getresponse().status == status
            connection.close()
    with pytest.raises(OSError, match="refused"):
        urlopen(server.address)


def test_a_port_that_is_taken_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"Port {port} of this machine cannot be used"):
            LiveServer(port, str)


def test_a_reader_gets_to_see_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    """The last page is waited for, once somebody has looked."""
    pages: list[str] = []
    with watched(0, LinearSVC(), 1e-3, lambda _: None) as on_step:
        address = capsys.readouterr().err.split()[-1]
        on_step(step(1))
        pages.append(urlopen(address).read().decode())

        def look_again() -> None:
            while "The run has ended" not in pages[-1]:
                pages.append(urlopen(address).read().decode())

        reader = threading.Thread(target=look_again)
        reader.start()
    reader.join()
    assert "Running" in pages[0]
    assert "The run has ended" in pages[-1]


@pytest.mark.parametrize("task", ["classes", "sequence"])
def test_the_command_says_where_to_look(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if task == "classes":
        dump_svmlight_file(X, Y, "d", zero_based=False)
    else:
        Path("d").write_text("the D\ncat N\n\na D\ndog N\n\n")
    assert run(["train", "d", "m", "--task", task, "--watch", "0"]) == 0
    assert re.search(r"watch  http://127\.0\.0\.1:\d+/", capsys.readouterr().err)
    assert run(["train", "d", "m", "--watch", "70000"]) != 0
