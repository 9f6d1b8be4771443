"""Samples of the policy, for people and agents to read: its text is quoted, never followed."""

from __future__ import annotations

from collections.abc import Sequence

from ..run import Rollout
from ..words.review import kept, sample, sample_head
from .data import plain
from .lines import field, page
from .plain import line

TEXT = 600  # characters of a prompt or an answer
PROMPT, RESPONSE = 60, 200  # characters in a line


def render(
    steps: Sequence[int],
    found: Sequence[Rollout],
    most: int,
    *,
    compact: bool = False,
    color: bool = False,
    width: int = 100,
) -> str:
    """Return the first `most` of them as text that ends with a newline. `compact`: one line a sample with its step, its
    score, the end of the prompt, and the response without its middle."""
    head = kept(steps, min(most, len(found)), len(found))
    if compact:
        rows = [head]
        for rollout in found[:most]:
            prompt = line(rollout.prompt.strip()[-4 * PROMPT :])
            tail = prompt if len(prompt) <= PROMPT else f"…{prompt[-PROMPT:]}"
            rows.append(sample(rollout.step, rollout.score, tail, line(rollout.output.strip(), RESPONSE)))
        return "".join(f"{row}\n" for row in rows)
    lines = [field("samples", head)]
    for rollout in found[:most]:
        lines += [
            field("", ""),
            field("sample", sample_head(rollout.step, rollout.score), "bold"),
            field("prompt", line(rollout.prompt, TEXT)),
            field("answer", line(rollout.output, TEXT)),
        ]
    return page(lines, color=color, width=width)


def as_data(steps: Sequence[int], found: Sequence[Rollout], most: int) -> dict[str, object]:
    """Return the same with their whole texts."""
    return {"steps": list(steps), "found": len(found), "samples": [plain(rollout) for rollout in found[:most]]}
