"""One Reading, many faces. No face computes anything. A new one is one module and one entry in RENDERERS."""

from __future__ import annotations

from typing import Protocol

from ..contract import Reading
from . import data, html, markdown, terminal

__all__ = ["RENDERERS", "Renderer"]


class Renderer(Protocol):
    """A face of a reading; a module can be one."""

    NAME: str

    def render(self, reading: Reading, *, color: bool = False, width: int = 100, verbose: bool = False) -> str:
        """The reading as text that ends with a newline. Never raises."""


RENDERERS: tuple[Renderer, ...] = (terminal, data, markdown, html)
