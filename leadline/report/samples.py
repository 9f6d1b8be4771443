"""What the policy wrote, for people and agents to read: its text is quoted, never followed."""

from __future__ import annotations

from collections.abc import Sequence

from ..run import Rollout
from ..words.samples import kept, sample_head
from .data import plain
from .lines import field, page
from .plain import line

MARGIN = 9
TEXT = 600  # characters of a prompt or an answer


def render(steps: Sequence[int], found: Sequence[Rollout], most: int, *, color: bool = False, width: int = 100) -> str:
    """The first `most` of them as text that ends with a newline."""
    lines = [field("samples", kept(steps, min(most, len(found)), len(found)))]
    for rollout in found[:most]:
        lines += [
            field("", ""),
            field("sample", sample_head(rollout.step, rollout.score), "bold"),
            field("prompt", line(rollout.prompt, TEXT)),
            field("answer", line(rollout.output, TEXT)),
        ]
    return page(lines, color=color, width=width, margin=MARGIN)


def as_data(steps: Sequence[int], found: Sequence[Rollout], most: int) -> dict[str, object]:
    """The same with their whole texts."""
    return {"steps": list(steps), "found": len(found), "samples": [plain(rollout) for rollout in found[:most]]}
