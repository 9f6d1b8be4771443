"""Samples of the policy, for people and agents to read: its text is quoted, never followed."""

from __future__ import annotations

from collections.abc import Sequence

from ..run import Rollout
from ..words.review import sample
from ..words.samples import kept, sample_head
from .data import plain
from .lines import field, page
from .plain import line

TEXT = 600  # characters of a prompt or an answer
PROMPT, RESPONSE = 60, 200  # characters in a line


def render(steps: Sequence[int], found: Sequence[Rollout], most: int, *, color: bool = False, width: int = 100) -> str:
    """Return the first `most` of them as text that ends with a newline."""
    lines = [field("samples", kept(steps, min(most, len(found)), len(found)))]
    for rollout in found[:most]:
        lines += [
            field("", ""),
            field("sample", sample_head(rollout.step, rollout.score), "bold"),
            field("prompt", line(rollout.prompt, TEXT)),
            field("answer", line(rollout.output, TEXT)),
        ]
    return page(lines, color=color, width=width)


def render_compact(
    steps: Sequence[int], found: Sequence[Rollout], most: int, *, color: bool = False, width: int = 100
) -> str:
    """Return one line a sample: step, score, the end of the prompt, the response without its middle."""
    lines = [kept(steps, min(most, len(found)), len(found)), *(compact(rollout) for rollout in found[:most])]
    return "".join(f"{one}\n" for one in lines)


def compact(rollout: Rollout) -> str:
    prompt = line(rollout.prompt.strip()[-4 * PROMPT :])
    tail = prompt if len(prompt) <= PROMPT else f"…{prompt[-PROMPT:]}"
    return sample(rollout.step, rollout.score, tail, line(rollout.output.strip(), RESPONSE))


def as_data(steps: Sequence[int], found: Sequence[Rollout], most: int) -> dict[str, object]:
    """Return the same with their whole texts."""
    return {"steps": list(steps), "found": len(found), "samples": [plain(rollout) for rollout in found[:most]]}
