"""What was found at the step of a sudden change, in a sentence or two."""

from __future__ import annotations

from ..facts.cause import Cause
from ..run import Event
from .series import all_called, sentence_case


def cause_of(cause: Cause, *, rose: bool = False) -> str:
    """What may have caused it; `rose` where the change was for the better."""
    if cause.kind == "unlogged":
        return "Nobody saw what happened there."
    if cause.kind == "event" and cause.event is not None:
        return f"Likely cause: {happened(cause.event)}.{_beside(cause)}"
    if cause.kind == "prompts" and cause.prompts is not None:
        return f"Likely cause: the prompts changed between steps {cause.prompts.before} and {cause.prompts.after}."
    if cause.kind == "settings":
        return f"Likely cause: the learning rate changed there.{_beside(cause)}"
    if cause.kind == "policy":
        return f"{sentence_case(all_called(cause.shifted))} shifted at the same step."
    if cause.kind == "outside":
        return _outside(cause, rose=rose)
    if cause.shifted:
        return f"{sentence_case(all_called(cause.shifted))} shifted at the same step."
    return "No cause was found: nothing else in the log shifts at that step."


def happened(event: Event) -> str:
    """An event as a clause."""
    return event.says  # TRANSITION: words.event.sentence


def _outside(cause: Cause, *, rose: bool) -> str:
    # What was learned at once may show in none of them, so a rise leaves more doubt than a fall.
    changed = "may have changed" if rose else "probably changed"
    held = sentence_case(all_called(cause.still))
    return f"{held} did not move, so the prompts or the reward function {changed}, not the policy.{_beside(cause)}"


def _beside(cause: Cause) -> str:
    return f" {sentence_case(all_called(cause.shifted))} shifted at the same step." if cause.shifted else ""
