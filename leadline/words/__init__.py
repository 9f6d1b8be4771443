"""Every sentence of the product that is no finding's own. A finding's sentence is made by its facts
(`leadline/findings/`); nothing parses a sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ..facts import Facts, Finding, Mentioned
from ..run import Event


def sentence(finding: Finding, told: Collection[Event] = ()) -> str:
    """What a finding says. The events in `told` were told before, and are only named."""
    facts: Facts = _named_again(finding.facts, told) if told else finding.facts
    return facts.say()


def sentences(findings: Collection[Finding]) -> Iterator[tuple[Finding, str]]:
    """Findings and what they say, in their order: each event in full where it comes up first."""
    told: set[Event] = set()
    for finding in findings:
        yield finding, sentence(finding, told)
        told.update(events_told(finding))


def events_told(finding: Finding) -> Iterator[Event]:
    """The events that a finding tells: those among its facts."""
    yield from _events(finding.facts)


def _events(value: object) -> Iterator[Event]:
    if isinstance(value, Event):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _events(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _events(getattr(value, field.name))


def _named_again(value: Any, told: Collection[Event]) -> Any:
    """The same facts with every event that was told before as a mention of it."""
    if isinstance(value, Event):
        return (
            Mentioned(**{field.name: getattr(value, field.name) for field in fields(value)}) if value in told else value
        )
    if isinstance(value, tuple):
        return tuple(_named_again(item, told) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _named_again(getattr(value, field.name), told) for field in fields(value)})
    return value
