"""The reading as one HTML file that needs nothing else: no network, no folder beside it."""

from __future__ import annotations

from ...contract import Reading
from .page import assemble
from .payload import payload

NAME = "html"

__all__ = ["NAME", "render"]


def render(reading: Reading, *, color: bool = False, width: int = 100, verbose: bool = False) -> str:
    """The whole page. The same reading gives the same bytes."""
    return assemble(payload(reading), title=reading.run.path)
