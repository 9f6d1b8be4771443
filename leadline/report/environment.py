"""The environment as a text for people: `leadline doctor`."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from ..environment import Environment
from ..words.report import NOT_READY, READY
from .lines import field, page

MARGIN = 11


def render(environment: Environment, *, color: bool = False, width: int = 100) -> str:
    """Versions, what is there and what is not, and what to do about it."""
    return page(_lines(environment), color=color, width=width, margin=MARGIN)


def _lines(environment: Environment) -> Iterator[tuple[str, Text]]:
    yield field("leadline", environment.leadline)
    yield field("python", f"{environment.python} on {environment.platform}")
    for one in environment.core:
        yield field(one.name, one.says, "" if one.there else "bold red")
    for one in environment.extras:
        yield field(one.name, f"{'there' if one.there else 'not installed'}; {one.says}", "" if one.there else "yellow")
    for one in (environment.gpu, environment.cache):
        yield field(one.name, one.says, "" if one.there else "yellow")
    ready = READY if environment.sound else NOT_READY
    yield field("", ready, "bold")
