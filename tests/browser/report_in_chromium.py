"""The report in a real browser, at the widths of a phone, a tablet and a desk, light and dark.

    pip install '.[browser]' && python tests/browser/report_in_chromium.py [--shots FOLDER] [PAGE...]

Not run by pytest: it needs Chromium on the PATH. Checks that nothing is fetched, nothing logged, nothing wider than the
window, every chart drawn, and what axe-core finds against WCAG 2.1 AA, contrast included.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from pages import make_reports
from playwright.sync_api import Browser, sync_playwright

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
    parser.add_argument("pages", nargs="*", help="names of pages; all unless given")
    arguments = parser.parse_args()
    shots = arguments.shots
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("There is no Chromium on the PATH.", file=sys.stderr)
        return 2
    if shots is not None:
        shots.mkdir(parents=True, exist_ok=True)
    checked, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for file in make_reports(Path(folder), arguments.pages):
            for width in WIDTHS:
                for scheme in ("light", "dark"):
                    found = faults(browser, file, width, scheme, shots)
                    checked += 1
                    wrong += bool(found)
                    for fault in dict.fromkeys(found):
                        print(f"{file.stem}, {width} px, {scheme}: {fault}", flush=True)
        browser.close()
    print(f"{checked - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
