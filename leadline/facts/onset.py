"""The order in which series moved, and what fits no known story."""

from __future__ import annotations

from dataclasses import dataclass

from ..run import Event
from .finding import Facts


@dataclass(frozen=True, slots=True)
class Tier:
    """Series and events whose dates cannot be told apart."""

    names: tuple[str, ...]  # series; empty where it is one event
    first_step: int
    last_step: int
    event: Event | None = None


@dataclass(frozen=True, slots=True)
class OnsetOrder(Facts):
    """What moved first, second, third around the most serious finding."""

    anchor: str  # id of that finding
    anchor_step: int
    before: bool  # all of them moved before it
    tiers: tuple[Tier, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """A series that changed its level."""

    series: str
    rose: bool


@dataclass(frozen=True, slots=True)
class UnexplainedBreak(Facts):
    """Sudden changes at a step at which nothing is known to have happened."""

    step: int
    moves: tuple[Move, ...]
    shifted: tuple[str, ...]  # what else in the log shifts at that step


@dataclass(frozen=True, slots=True)
class UnreadKeys(Facts):
    """Keys whose meaning is not known shifted where the most serious finding begins."""

    anchor: str  # id of that finding
    anchor_step: int
    keys: tuple[str, ...]  # as the log writes them
    more: int  # further ones
