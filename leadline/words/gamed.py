"""A gamed reward, and what the score pays for, in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..facts.gamed import (
    ChangedInKind,
    Gamed,
    Move,
    MovedKnob,
    NoisyLabels,
    RepeatedPrompts,
    RewardOutage,
    ScoreLevels,
)
from ..run import Rollout
from .numbers import apart, counted, listed, number, percent
from .series import called

WAYS = {
    "detached": "answers take up less of their prompt ({start} of it, now {now})",
    "copied": "answers are copied from the prompt ({now} of the text, {start} at first)",
    "looped": "answers repeat themselves ({now} of the text, {start} at first)",
    "alike": "answers to different prompts look alike (overlap {now}, {start} at first)",
    "unseen": "the samples, always of the same prompts, lack {lacks} of what the training reward gained",
    "cut": "{now} of the answers that used to end are cut off at the length cap",
    "unlike": "answers surprise the model that training began with {times} times as much as its own did",
}
SHOWN = 2  # ways named: the furthest
ASKED, ANSWERED = 60, 160  # characters of a prompt, its end, and of an answer, its beginning


def gamed(facts: Gamed) -> str:
    what = listed([_way(move) for move in facts.moves[:SHOWN]]) or "the answers decay"
    since = _since(facts)
    if facts.reward_fell:
        return f"The text decays{since}: {what}. The reward fell with it."
    return f"The reward is probably being gamed{since}: {what}, and the score does not mind."


def _since(facts: Gamed) -> str:
    step, low, high = facts.begun_step, facts.begun_low, facts.begun_high
    if step is None:
        return ""
    if low is None or high is None or low == high:
        return f" from about step {step} on"
    if step == low:  # it may have begun with the first samples
        return f" from early on, by step {high} at the latest"
    if step == high:  # the samples do not tell where between
        return f" since some step between {low} and {high}"
    return f" from about step {step} on (between {low} and {high})"


def _way(move: Move) -> str:
    start, now, lacks = max(move.start, 0.0), max(move.now, 0.0), percent(min(max(move.start - move.now, 0.0), 1.0))
    return WAYS[move.way].format(start=percent(start), now=percent(now), times=number(now), lacks=lacks)


def side_by_side(facts: object) -> list[tuple[str, str]]:
    """An early and a late answer, with what each earned."""
    if not isinstance(facts, Gamed | ChangedInKind) or facts.old is None or facts.new is None:
        return []
    return [("then", _sample(facts.old)), ("now", _sample(facts.new))]


def _sample(sample: Rollout) -> str:
    asked, answered = sample.prompt[-ASKED:], sample.output[:ANSWERED]
    prompt = f"{'…' if asked != sample.prompt else ''}{asked} → " if asked else ""
    answer = f"{answered}{'…' if answered != sample.output else ''}"
    earned = f", scored {number(sample.score)}" if math.isfinite(sample.score) else ""
    return f"step {sample.step}{earned}: {prompt}{answer or '(nothing)'}"


def changed_in_kind(facts: ChangedInKind) -> str:
    since = "" if facts.begun_step is None else f"From about step {facts.begun_step} on "
    share = f"{percent(facts.share_start)} to {percent(facts.share_now)} of the samples"
    explains = "" if facts.explains is None else f", and {percent(facts.explains)} of the rise in reward is that change"
    last = facts.last_before
    before = "look at the samples" if last is None else f"the last state before it is step {last}"
    changed = f"{since}the answers changed in kind ({share}){explains}."
    return f"{changed[0].upper()}{changed[1:]} If that is what you want, continue; if not, {before}."


def outage(facts: RewardOutage) -> str:
    during = f"from step {facts.first_step} to {facts.last_step}"
    said = f"The reward function returned {number(facts.value)} for {counted(facts.steps, 'step')} ({during})"
    if facts.back:
        return f"{said} and is back. These steps were left out."
    return f"{said} and has not come back: look at the scorer. These steps were left out."


def levels(facts: ScoreLevels) -> str:
    shares = [
        f"{number(level.value)} ({percent(level.early)} of the early samples, {percent(level.late)} of the late ones)"
        for level in facts.levels
    ]
    return f"The score takes {len(facts.levels)} values: {listed(shares)}."


def noisy_labels(facts: NoisyLabels) -> str:
    return (
        f"Equal answers are scored differently: about {percent(facts.rate)} of the scores are wrong "
        f"({counted(facts.pairs, 'pair')} compared). A perfect policy would earn about {number(facts.ceiling)}."
    )


def repeated_prompts(facts: RepeatedPrompts) -> str:
    said = f"{percent(facts.again)} of the prompts have been seen before ({facts.different} different ones)"
    if facts.first_time is None or facts.later is None:
        return f"{said}."
    return f"{said}: they score {number(facts.later)}, new ones {number(facts.first_time)} at the same steps."


def knob_moved(facts: MovedKnob) -> str:
    name = called(facts.name)
    start, now = apart(facts.start, facts.now)
    moved = f"{name[0].upper()}{name[1:]} changed from {start} to {now} on the way"
    return f"{moved}, and the reward has fallen since." if facts.reward_fell else f"{moved}."


SENTENCES: dict[str, Callable[[Any], str]] = {
    "reward.gamed": gamed,
    "generation.changed_in_kind": changed_in_kind,
    "reward.outage": outage,
    "reward.levels": levels,
    "reward.noisy_labels": noisy_labels,
    "signal.repeated_prompts": repeated_prompts,
    "signal.knob_moved": knob_moved,
}
