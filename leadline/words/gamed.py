"""A gamed reward, and what the score pays for, in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..facts.gamed import (
    Gamed,
    Move,
    RepeatedPrompts,
    ResponsesChanged,
    Reviewed,
    RewardOutage,
)
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


def gamed(facts: Gamed) -> str:
    what = listed([_way(move) for move in facts.moves[:SHOWN]]) or "responses degenerate"
    since = _since(facts)
    if facts.reward_fell:
        return f"Degenerate text{since}: {what}. The reward dropped with it."
    return f"Reward hacking{since}: {what}, yet the reward holds."


def _since(facts: Gamed | ResponsesChanged) -> str:
    step, low, high = facts.begun_step, facts.begun_low, facts.begun_high
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


def side_by_side(facts: object) -> list[tuple[str, str]]:
    """An early and a late answer, with what each earned."""
    if not isinstance(facts, Gamed | ResponsesChanged) or facts.old is None or facts.new is None:
        return []
    return [("then", _sample(facts.old)), ("now", _sample(facts.new))]


def _sample(sample: Rollout) -> str:
    asked, answered = sample.prompt[-ASKED:], sample.output[:ANSWERED]
    prompt = f"{'…' if asked != sample.prompt else ''}{asked} → " if asked else ""
    answer = f"{answered}{'…' if answered != sample.output else ''}"
    earned = f", scored {number(sample.score)}" if math.isfinite(sample.score) else ""
    return f"step {sample.step}{earned}: {prompt}{answer or '(nothing)'}"


def changed(facts: ResponsesChanged) -> str:
    what = listed([_way(move) for move in facts.moves[:SHOWN]])
    gain = "" if facts.gain_since is None else f", and {percent(facts.gain_since)} of the gain came since"
    last = "" if facts.last_before is None else f" If not, go back to step {facts.last_before}."
    why = f": {what}" if what else ""
    return f"Responses changed{_since(facts)}{why}{gain}. Check that they are still right: leadline review.{last}"


def reviewed(facts: Reviewed) -> str:
    who = facts.reader or "a reviewer"
    since = "" if facts.since_step is None else f" since step {facts.since_step}"
    return f"Reward hacking{since}, says {who}, who read the samples up to step {facts.seen_until}."


def outage(facts: RewardOutage) -> str:
    during = f"steps {facts.first_step}–{facts.last_step}"
    if facts.tools:
        said, whom = f"{percent(facts.value)} of tool calls failed at {during}", "tools"
    else:
        said, whom = f"The reward function returned {number(facts.value)} at {during}", "reward function"
    state = "They work again." if facts.tools else "It works again."
    return f"{said}. {state if facts.back else f'Check the {whom}.'} Rewards of these steps are ignored."


def repeated_prompts(facts: RepeatedPrompts) -> str:
    said = f"{percent(facts.again)} of the prompts have been seen before ({facts.different} different ones)"
    if facts.first_time is None or facts.later is None:
        return f"{said}."
    return f"{said}: they score {number(facts.later)}, new ones {number(facts.first_time)} at the same steps."


SENTENCES: dict[str, Callable[[Any], str]] = {
    "reward.gamed": gamed,
    "generation.changed": changed,
    "reward.reviewed": reviewed,
    "reward.outage": outage,
    "signal.repeated_prompts": repeated_prompts,
}
