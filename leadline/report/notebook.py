"""The reading in a notebook: a card without script, styled in place, since notebooks share one page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from ..contract import Finding, Reading
from ..digits import sure
from ..words import events_told, sentences
from ..words.report import FOLDED, head_lines, what_was_read
from ..words.verdict import headline
from . import palette
from .pictures import pictures, span
from .plain import line
from .plots import svg

CARD = (
    f"background:{palette.GROUND.light};color:{palette.INK.light};font:14px/1.45 system-ui,sans-serif;"
    "max-width:46em;padding:1em 1.2em;border:1px solid #d5d9df;border-radius:8px;overflow-wrap:anywhere"
)
QUIET = f"color:{palette.QUIET.light};font-size:13px"
LABEL = f"{QUIET};display:inline-block;min-width:5em"


def html(reading: Reading) -> str:
    """Return verdict, plots, and findings; the rest is folded."""
    return f'<div style="{CARD}">{"".join(_parts(reading))}</div>'


def _parts(reading: Reading) -> Iterator[str]:
    run, judgement = reading.run, reading.judgement
    head = head_lines(reading)
    color = palette.outcome(judgement.verdict, judgement.outcome).light
    yield f'<p style="margin:0 0 .4em"><strong style="color:{color}">{text(headline(judgement))}</strong></p>'
    if head:
        rows = (
            f'<li><span style="{LABEL}">{line.label}</span> {text(line.says)}{_tail(line.finding)}</li>'
            for line in head
        )
        yield f'<ul style="margin:0 0 .4em;padding:0;list-style:none">{"".join(rows)}</ul>'
    yield f'<p style="margin:0 0 .8em;{QUIET}">{text(" · ".join((run.path, *what_was_read(run))))}</p>'
    drawn = pictures(reading)
    for one in drawn:
        picture = svg(one, span(drawn)).replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
        yield f"<div>{picture}</div>"
    yield from _list(
        [
            f'<strong style="color:{palette.SEVERITIES[one.severity].light}">{one.severity}</strong> '
            f"{text(says)}{_tail(one)}"
            for one, says in sentences(reading.findings)
            if all(one is not line.finding for line in head)
        ]
    )
    told = {happened for finding in reading.findings for happened in events_told(finding.facts)}
    rest_of_it = [
        *(text(one.text) for one in reading.benign),
        *(text(happened.say()) for happened in run.events if happened not in told),
        *map(text, run.notes),
        *(f"missing: {text(one.name)} ({text(one.why)})" for one in run.missing),
    ]
    if rest_of_it:
        yield f'<details style="{QUIET}"><summary>{FOLDED}</summary>'
        yield from _list(rest_of_it)
        yield "</details>"


def _tail(finding: Finding | None) -> str:
    return "" if finding is None else f' <span style="{QUIET}">[{text(finding.id)}, {text(sure(finding.p))}]</span>'


def _list(items: list[str]) -> Iterator[str]:
    if items:
        yield f'<ul style="margin:.6em 0;padding-left:1.3em">{"".join(f"<li>{item}</li>" for item in items)}</ul>'


def text(says: str) -> str:
    """Text that may quote a log, as text."""
    return escape(line(says))
