"""How responses changed, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..facts.gamed import Move
from ..run import Rollout
from .numbers import listed, number, percent

WAYS = {
    "detached": "responses use less of the prompt ({start} → {now})",
    "copied": "responses copy the prompt ({start} → {now} of text)",
    "looped": "responses loop ({start} → {now} of text)",
    "recurring": "words recur more often ({start} → {now} of text)",
    "alike": "responses look alike across prompts (overlap {start} → {now})",
    "empty": "responses contain no words ({start} → {now} of them)",
    "unseen": "fixed sample prompts miss {lacks} of training gain",
    "cut": "{now} of previously finishing responses are truncated",
    "unlike": "responses surprise the reference policy {times}× as much as its own",
}
SUBJECT = "responses "
SHOWN = 2  # ways named: the furthest
ASKED, ANSWERED = 60, 160  # characters of a prompt, its end, and of a response, its beginning


def ways_said(moves: Sequence[Move]) -> str:
    """Return the changes that went furthest, under one subject if they share it."""
    said = [_way(move) for move in moves[:SHOWN]]
    shared = said[:1] and said[0].startswith(SUBJECT)
    return listed([way.removeprefix(SUBJECT) if place and shared else way for place, way in enumerate(said)])


def since_said(step: int | None, low: int | None, high: int | None) -> str:
    """Return the onset, with its interval if one is known."""
    if step is None:
        return ", onset unknown"
    if low is None or high is None or low == high:
        return f" since step ~{step}"
    if step == low:  # it may have begun with the first samples
        return f" since step {high} at the latest"
    return f" since step ~{step} ({low}–{high})"


def _way(move: Move) -> str:
    start, now, lacks = max(move.start, 0.0), max(move.now, 0.0), percent(min(max(move.start - move.now, 0.0), 1.0))
    return WAYS[move.way].format(start=percent(start), now=percent(now), times=number(now), lacks=lacks)


def sample_said(sample: Rollout) -> str:
    """Return one response with its prompt and reward."""
    asked, answered = sample.prompt[-ASKED:], sample.output[:ANSWERED]
    prompt = f"{'…' if asked != sample.prompt else ''}{asked} → " if asked else ""
    answer = f"{answered}{'…' if answered != sample.output else ''}"
    earned = f", scored {number(sample.score)}" if math.isfinite(sample.score) else ""
    return f"step {sample.step}{earned}: {prompt}{answer or '(nothing)'}"
