"""The report in a real browser, at the widths of a phone, a tablet and a desk, light and dark.

    pip install '.[browser]' && python tests/browser/report_in_chromium.py [--shots FOLDER]

Not run by pytest: it needs Chromium on the PATH. Checks that nothing is fetched, nothing logged, nothing wider than the
window, every chart drawn, and what axe-core finds against WCAG 2.1 AA, contrast included.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, sync_playwright
from sklearn.datasets import load_digits

from cutplane import LinearSVC, RankSVM, SequenceSVM
from cutplane.datasets import adult_feature_names, load_adult

WIDTHS = (360, 800, 1280)
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
# Whatever is wider than the window makes a phone scroll sideways; tables scroll inside their own frame.
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
EMPTY_CHARTS = """[...document.querySelectorAll('figure svg[role=img]')].filter(
    svg => !svg.closest('details') && svg.getBoundingClientRect().height < 12).length"""
CLIPPED = """[...document.querySelectorAll('figure svg[role=img] text')].filter(text => {
    const frame = text.ownerSVGElement.getBoundingClientRect(), box = text.getBoundingClientRect();
    return box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1);
}).map(text => text.textContent)"""


def make_reports(folder: Path) -> list[Path]:
    """Two classes with everything, ten classes, a run that ended early, rankings and label sequences."""
    X, y = load_adult()
    X_test, y_test = load_adult("test")
    names = adult_feature_names()
    models = [LinearSVC(C=C).fit(X, y) for C in (1e-3, 1e-2, 0.1, 1.0)]
    files = [folder / f"{name}.html" for name in ("adult", "digits", "early")]
    models[-1].report(files[0], X_test, y_test, X_train=X, y_train=y, feature_names=names, models=models)
    digits, labels = load_digits(return_X_y=True)
    LinearSVC(C=0.01).fit(digits[:1200], labels[:1200]).report(files[1], digits[1200:], labels[1200:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LinearSVC(method="oca", max_iter=5).fit(X, y).report(files[2])
    return [*files, _ranking(folder / "ranking.html"), _sequences(folder / "sequences.html")]


def _ranking(file: Path) -> Path:
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(600, 8)), np.repeat(np.arange(60), 10)
    grades = np.clip((X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=600)).round(), 0, 4)
    model = RankSVM().fit(X[:400], grades[:400], qid=qid[:400])
    model.report(file, X[400:], grades[400:], qid_test=qid[400:], X_train=X[:400], y_train=grades[:400])
    return file


def _sequences(file: Path) -> Path:
    """Made-up sentences of a grammar with many labels: a long table of confusions, names of features."""
    rng = np.random.default_rng(0)
    labels = [f"{prefix}-{kind}" for kind in ("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT") for prefix in "BI"]
    Y = [[str(each) for each in rng.choice([*labels, "O"], size=rng.integers(3, 12))] for _ in range(120)]
    X = [[[f"word={label}{rng.integers(4)}", f"noise={rng.integers(9)}"] for label in y] for y in Y]
    X = [[token if rng.random() < 0.8 else token[1:] for token in x] for x in X]
    model = SequenceSVM(tol=0.05).fit(X[:80], Y[:80])
    model.report(file, X[80:], Y[80:], X_train=X[:80], y_train=Y[:80])
    return file


def faults(browser: Browser, file: Path, width: int, scheme: str, shots: Path | None) -> list[str]:
    """What is wrong with a page at a width and in a colour scheme."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True, bypass_csp=True
    )
    page = context.new_page()
    found: list[str] = []
    page.on("console", lambda message: found.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: found.append(f"error: {error}"))
    page.on(
        "request", lambda request: None if request.url == file.as_uri() else found.append(f"asks for {request.url}")
    )
    page.goto(file.as_uri())
    if shots is not None:
        page.screenshot(path=shots / f"{file.stem}-{width}-{scheme}.png", full_page=True)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    if (wider := page.evaluate(OVERFLOW)) > 0:
        found.append(f"{wider} px wider than the window")
    if empty := page.evaluate(EMPTY_CHARTS):
        found.append(f"{empty} charts are not drawn")
    found += [f"a label leaves its chart: {words}" for words in page.evaluate(CLIPPED)]
    for violation in Axe().run(page, options=WCAG).response["violations"]:
        found.append(f"axe: {violation['id']}: {violation['help']}, {violation['nodes'][0]['html'][:120]}")
    context.close()
    return found


def main() -> int:
    """Check every report at every width; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shots", type=Path, help="folder for screenshots")
    shots = parser.parse_args().shots
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("There is no Chromium on the PATH.", file=sys.stderr)
        return 2
    if shots is not None:
        shots.mkdir(parents=True, exist_ok=True)
    checked, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for file in make_reports(Path(folder)):
            for width in WIDTHS:
                for scheme in ("light", "dark"):
                    found = faults(browser, file, width, scheme, shots)
                    checked += 1
                    wrong += bool(found)
                    for fault in dict.fromkeys(found):
                        print(f"{file.stem}, {width} px, {scheme}: {fault}")
        browser.close()
    print(f"{checked - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
