"""One Reading, many report formats. None computes anything: each lays out what the contract holds in the words of
`words/`. A new one is one module and one entry in RENDERERS."""

from __future__ import annotations

from typing import Protocol

from ..contract import Reading
from . import data, html, markdown, terminal

__all__ = ["RENDERERS", "Renderer"]


class Renderer(Protocol):
    """A report format; a module can be one."""

    NAME: str

    def render(self, reading: Reading, *, color: bool = False, width: int = 100, verbose: bool = False) -> str:
        """The reading as text that ends with a newline. Never raises."""


RENDERERS: tuple[Renderer, ...] = (terminal, data, markdown, html)
