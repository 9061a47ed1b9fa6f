"""A page of sections: one file, nothing fetched, light and dark."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files

from cutplane.report.markup import Markup, element, text

_NOTHING = Markup("")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report under its own heading; `name` is its anchor."""

    name: str
    title: str
    body: Markup

    def render(self) -> Markup:
        """The section as an element that its heading names."""
        heading = element("h2", text(self.title), id=f"{self.name}-title")
        return element("section", heading, self.body, id=self.name, aria_labelledby=f"{self.name}-title")


def render_page(
    title: str,
    subtitle: str,
    top: Markup,
    sections: list[Section],
    footer: str,
    *,
    script: str | None = None,
    controls: Markup = _NOTHING,
) -> str:
    """The whole file.

    `top` stands above the sections, beside no heading of its own; `controls` stand in the header. A `script` may ask
    for nothing but the page itself.
    """
    style = (files("cutplane.report") / "page.css").read_text(encoding="utf-8")
    links = [element("li", element("a", text(each.title), href=f"#{each.name}")) for each in sections]
    head = element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        # No script, no network: what the page may do is said to the browser too.
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">'),
        element("title", text(title)),
        Markup(f"<style>{style}</style>"),
    )
    body = element(
        "body",
        element("a", text("Skip to the results"), class_="skip", href="#results"),
        element(
            "header",
            element("h1", text(title)),
            element("p", text(subtitle), class_="soft"),
            controls,
            element("nav", element("ul", *links), aria_label="Sections") if links else Markup(""),
        ),
        element("main", top, *(each.render() for each in sections), id="results"),
        element("footer", element("p", text(footer))),
        Markup("" if script is None else f"<script>{script}</script>"),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _policy(script: str | None) -> str:
    allowed = "default-src 'none'; style-src 'unsafe-inline'"
    if script is None:
        return allowed
    digest = b64encode(sha256(script.encode("utf-8")).digest()).decode()
    return f"{allowed}; script-src 'sha256-{digest}'; connect-src 'self'"
