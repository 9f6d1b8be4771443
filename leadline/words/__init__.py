"""Sentences that are made from more than one fact; a fact makes its own. Nothing parses a sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ..event import Event, Mentioned
from ..facts.finding import Facts, Finding


def sentence(finding: Finding, told: Collection[Event] = ()) -> str:
    """Return a finding's sentence; events already in `told` are named, not repeated."""
    facts: Facts = _named_again(finding.facts, told) if told else finding.facts
    return facts.say()


def sentences(findings: Collection[Finding]) -> Iterator[tuple[Finding, str]]:
    """Yield findings and their sentences in order: each event is described once, then named."""
    told: set[Event] = set()
    for finding in findings:
        yield finding, sentence(finding, told)
        told.update(events_told(finding.facts))


def events_told(facts: object) -> Iterator[Event]:
    """Yield the events among a finding's facts."""
    if isinstance(facts, Event):
        yield facts
    elif isinstance(facts, tuple):
        for item in facts:
            yield from events_told(item)
    elif is_dataclass(facts) and not isinstance(facts, type):
        for field in fields(facts):
            yield from events_told(getattr(facts, field.name))


def _named_again(value: Any, told: Collection[Event]) -> Any:
    """Return the same facts with every event in `told` as a mention of it."""
    if isinstance(value, Event):
        return (
            Mentioned(**{field.name: getattr(value, field.name) for field in fields(value)}) if value in told else value
        )
    if isinstance(value, tuple):
        return tuple(_named_again(item, told) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _named_again(getattr(value, field.name), told) for field in fields(value)})
    return value
