"""One file from its parts: the frame, the style, the charting library, our scripts and the data."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from functools import cache
from importlib.resources import files

from ... import __version__
from .. import palette
from ..plain import line
from .text import embedded

MARK = re.compile(r"\{\{(\w+)\}\}")
FRAME = "static/outside.html"
INSIDE = "static/page.html"
STYLES = ("vendor/uPlot.min.css", "static/style.css")
SCRIPTS = (
    "static/base.js",
    "static/clock.js",
    "static/charts.js",
    "static/panels.js",
    "static/strip.js",
    "static/path.js",
    "static/machine.js",
    "static/story.js",
    "static/samples.js",
    "static/frame.js",
    "static/page.js",
)  # in this order: each uses those before it


def assemble(data: object, *, title: str, inside: str = INSIDE, scripts: tuple[str, ...] = SCRIPTS) -> str:
    """Return the page around its data. The browser is told to run and to load nothing but what is written here."""
    style, library = "\n".join([colours(), *map(_part, STYLES)]), _part("vendor/uPlot.iife.min.js")
    script = "(() => {\n" + "\n".join(map(_part, scripts)) + "})();\n"
    rules = (
        f"default-src 'none'; script-src {_hash(library)} {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "rules": rules,
        "title": html.escape(line(title, 200)),
        "version": html.escape(__version__),
        "style": style,
        "library": library,
        "script": script,
        "data": embedded(data),
    }
    frame = _part(FRAME).replace("{{inside}}", _part(inside))
    return MARK.sub(lambda mark: parts[mark[1]], frame)  # in one pass: a log may hold marks too


@cache
def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def colours() -> str:
    """Return the palette as custom properties: light, dark if the system asks for it, either if the reader does."""
    named = {
        "ground": palette.GROUND,
        "ink": palette.INK,
        "quiet": palette.QUIET,
        **{f"role-{name}": shade for name, shade in palette.ROLES.items()},
        **{f"regime-{name.replace('/', '-')}": shade for name, shade in palette.REGIMES.items()},
        **{f"severity-{name}": shade for name, shade in palette.SEVERITIES.items()},
        **{f"verdict-{name}": shade for name, shade in palette.VERDICTS.items()},
        **{f"phase-{place}": shade for place, shade in enumerate(palette.PHASES)},
    }
    light, dark = ("".join(f"--{name}: {shade[ground]};" for name, shade in named.items()) for ground in range(2))
    return (
        f":root {{ color-scheme: light; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ color-scheme: dark; {dark} }} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {dark} }}\n"
        f"@media print {{ :root:root:root {{ color-scheme: light; {light} }} }}"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
