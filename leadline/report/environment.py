"""The environment as a text for people: `leadline doctor`."""

from __future__ import annotations

from ..environment import Environment
from ..words.report import NOT_READY, READY
from .lines import field, page


def render(environment: Environment, *, color: bool = False, width: int = 100) -> str:
    """Return versions, what is there and what is not, and what to do about it."""
    lines = [field("leadline", environment.leadline)]
    lines.append(field("python", f"{environment.python} on {environment.platform}"))
    lines += [field(one.name, one.says, "bold red" * (not one.there)) for one in environment.core]
    for one in environment.extras:
        lines.append(
            field(one.name, f"{'there' if one.there else 'not installed'}; {one.says}", "yellow" * (not one.there))
        )
    lines += [field(one.name, one.says, "yellow" * (not one.there)) for one in (environment.gpu, environment.cache)]
    lines.append(field("", READY if environment.sound else NOT_READY, "bold"))
    return page(lines, color=color, width=width)
