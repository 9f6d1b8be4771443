"""One Reading, many report formats. None computes anything: each lays out what the contract holds in the words of
`words/`. A new one is one module and one entry in RENDERERS."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from ..contract import Reading

RENDERERS = ("terminal", "data", "markdown", "html")  # modules: each is imported when it is used


class Renderer(Protocol):
    """A report format; a module can be one."""

    NAME: str

    def render(self, reading: Reading, *, color: bool = False, width: int = 100, verbose: bool = False) -> str:
        """Return the reading as text that ends with a newline. Never raises."""


def renderers() -> tuple[Renderer, ...]:
    """Return every report format."""
    return tuple(cast(Renderer, import_module(f".{name}", __name__)) for name in RENDERERS)
