"""The page's own style and script, from the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from ..report.html.page import colours

KINDS = {"app.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8"}


@cache
def asset(name: str) -> bytes | None:
    """Return the file of that name; None for any other."""
    if name not in KINDS:
        return None
    text = files(__package__).joinpath(f"static/{name}").read_text(encoding="utf-8")
    return (f"{colours()}\n{text}" if name.endswith(".css") else text).encode()
