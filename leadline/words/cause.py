"""The likely cause of a sudden change, in a sentence or two."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.cause import Cause
from . import event
from .numbers import listed
from .series import all_called, called, sentence_case

NAMED = 5  # series: more is a list


def cause_of(cause: Cause, *, rose: bool = False) -> str:
    """What may have caused it; `rose` where the change was for the better."""
    if cause.kind == "unlogged":
        return "Cause unknown: the log has a gap there."
    if cause.kind == "event" and cause.event is not None:
        return f"Likely cause: {event.sentence(cause.event)}.{_beside(cause)}"
    if cause.kind == "prompts" and cause.prompts is not None:
        return f"Likely cause: prompts changed between steps {cause.prompts.before} and {cause.prompts.after}."
    if cause.kind == "settings":
        return f"Likely cause: learning rate changed there.{_beside(cause)}"
    if cause.kind == "outside":
        return _outside(cause, rose=rose)
    if cause.shifted:
        return shifted_with(cause.shifted)
    return "No cause found: no other metric shifts there."


def _outside(cause: Cause, *, rose: bool) -> str:
    # A sudden gain in skill may show in none of them, so a rise leaves more doubt than a drop.
    suspect = "prompts or reward function may have changed" if rose else "suspect prompts or reward function"
    held = sentence_case(all_called(cause.still))
    return f"{held} didn't move: {suspect}, not the policy.{_beside(cause)}"


def shifted_with(names: Sequence[str]) -> str:
    """Series that shifted together with something else; a long list is cut."""
    more = len(names) - NAMED
    named = list(dict.fromkeys(map(called, names[:NAMED])))
    return f"{sentence_case(listed([*named, f'{more} more'] if more > 0 else named))} shifted too."


def _beside(cause: Cause) -> str:
    return f" {shifted_with(cause.shifted)}" if cause.shifted else ""
