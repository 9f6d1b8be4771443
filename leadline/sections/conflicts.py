"""Every process that came and went beside the training, and what its running did."""

from __future__ import annotations

from ..facts.conflict import Conflict, ProcessEffect
from ..questions.bars import NOTICEABLE, SAID
from ..reading.conflicts.guests import Guest, guests_of
from ..reading.view import View


def read(view: View) -> tuple[Conflict, ...]:
    """One row for each stretch of time in which a process was there."""
    return tuple(
        Conflict(guest.process, round(max(guest.p_time, guest.p_memory), 4), _effect(guest), *interval)
        for guest in guests_of(view)
        for interval in guest.intervals
    )


def _effect(guest: Guest) -> ProcessEffect:
    if guest.p_time > SAID:
        return ProcessEffect("slower", guest.ratio, guest.held)
    harmless = guest.highest < 1 + NOTICEABLE and guest.ratio > 1 - NOTICEABLE
    return ProcessEffect("harmless" if harmless else "unclear", guest.ratio, guest.held)
