"""What was found at the step of a sudden change, in a sentence or two."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.cause import Cause
from . import event
from .series import all_called, called, sentence_case

NAMED = 5  # series: more is a list


def cause_of(cause: Cause, *, rose: bool = False) -> str:
    """What may have caused it; `rose` where the change was for the better."""
    if cause.kind == "unlogged":
        return "Nobody saw what happened there."
    if cause.kind == "event" and cause.event is not None:
        return f"Likely cause: {event.sentence(cause.event)}.{_beside(cause)}"
    if cause.kind == "prompts" and cause.prompts is not None:
        return f"Likely cause: the prompts changed between steps {cause.prompts.before} and {cause.prompts.after}."
    if cause.kind == "settings":
        return f"Likely cause: the learning rate changed there.{_beside(cause)}"
    if cause.kind == "outside":
        return _outside(cause, rose=rose)
    if cause.shifted:
        return shifted_with(cause.shifted)
    return "No cause was found: nothing else in the log shifts at that step."


def _outside(cause: Cause, *, rose: bool) -> str:
    # What was learned at once may show in none of them, so a rise leaves more doubt than a fall.
    changed = "may have changed" if rose else "probably changed"
    held = sentence_case(all_called(cause.still))
    return f"{held} did not move, so the prompts or the reward function {changed}, not the policy.{_beside(cause)}"


def shifted_with(names: Sequence[str]) -> str:
    """Series that shifted together with something else; a long list is cut."""
    more = len(names) - NAMED
    named = sentence_case(all_called(names[:NAMED]) if more <= 0 else f"{', '.join(map(called, names[:NAMED]))}")
    return f"{named} and {more} more shifted at the same step." if more > 0 else f"{named} shifted at the same step."


def _beside(cause: Cause) -> str:
    return f" {shifted_with(cause.shifted)}" if cause.shifted else ""
