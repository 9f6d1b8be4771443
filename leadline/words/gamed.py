"""How answers changed, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..facts.gamed import Move
from ..run import Rollout
from .numbers import listed, number, percent

WAYS = {
    "detached": "responses take up less of their prompt ({start} → {now})",
    "copied": "responses copy their prompt ({start} → {now} of the text)",
    "looped": "responses run in loops ({start} → {now} of the text)",
    "recurring": "words recur more often ({start} → {now} of the text)",
    "alike": "responses to different prompts look alike (overlap {start} → {now})",
    "empty": "responses without a word ({start} → {now})",
    "unseen": "the sampled prompts, always the same, lack {lacks} of the training gain",
    "cut": "{now} of the responses that used to end are truncated",
    "unlike": "responses surprise the reference policy {times}× as much as its own did",
}
SHOWN = 2  # ways named: the furthest
ASKED, ANSWERED = 60, 160  # characters of a prompt, its end, and of an answer, its beginning


def ways_said(moves: Sequence[Move]) -> str:
    """What moved furthest."""
    return listed([_way(move) for move in moves[:SHOWN]])


def since_said(step: int | None, low: int | None, high: int | None) -> str:
    """When it began, with an interval where one is known."""
    if step is None:
        return ""
    if low is None or high is None or low == high:
        return f" since step ~{step}"
    if step == low:  # it may have begun with the first samples
        return f" since step {high} at the latest"
    return f" since step ~{step} ({low}–{high})"


def _way(move: Move) -> str:
    start, now, lacks = max(move.start, 0.0), max(move.now, 0.0), percent(min(max(move.start - move.now, 0.0), 1.0))
    return WAYS[move.way].format(start=percent(start), now=percent(now), times=number(now), lacks=lacks)


def sample_said(sample: Rollout) -> str:
    """One answer, with what it was asked and what it earned."""
    asked, answered = sample.prompt[-ASKED:], sample.output[:ANSWERED]
    prompt = f"{'…' if asked != sample.prompt else ''}{asked} → " if asked else ""
    answer = f"{answered}{'…' if answered != sample.output else ''}"
    earned = f", scored {number(sample.score)}" if math.isfinite(sample.score) else ""
    return f"step {sample.step}{earned}: {prompt}{answer or '(nothing)'}"
