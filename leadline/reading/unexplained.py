"""What fits no known story: breaks without a cause, keys nobody understood.

Trust the observation: what is seen is said in plain words instead of being forced under a label.
"""

from __future__ import annotations

import numpy as np

from ..curve import Break
from ..facts import Evidence, Finding
from ..facts.onset import Move, UnexplainedBreak, UnreadKeys
from ..questions.shift import unlogged
from .onset import anchor_of
from .shifts import events_at, everything_at, near
from .view import View

WATCHED = ("kl/ref", "entropy", "len/response_mean", "grad_norm")  # whose breaks are looked into
EVENTS = ("learning_rate", "resume", "reference_reset", "checkpoint")
NAMED = 3  # keys that are named: more is a list


def read(view: View, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What was seen and no finding accounts for."""
    return (*_breaks(view, findings), *_keys(view, findings))


def _breaks(view: View, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Sudden changes at a step at which nothing is known to have happened and of which no finding speaks."""
    reach = near(view.run)
    told = [known.since_step for known in findings if known.since_step is not None]
    told += [step for known in findings if known.id == "kl.reset" for step in getattr(known.facts, "steps", ())]
    # After a collapse everything jumps about; that needs no explanation of its own.
    ruins = (known.since_step for known in findings if known.severity == "critical" and known.since_step)
    over = min(ruins, default=np.inf)
    found: list[tuple[Break, str]] = []
    for name in WATCHED:
        series = view.run.get(name)
        for new in view.breaks(series) if series is not None and series.finite.any() else ():
            explained = events_at(view.run, new.step, EVENTS) or any(abs(step - new.step) <= reach for step in told)
            seen = series is not None and not unlogged(series, new.interval)  # in a gap of the log nothing was
            if not explained and seen and new.step < over:
                found.append((new, name))
    together: list[list[tuple[Break, str]]] = []
    for new, name in sorted(found, key=lambda item: item[0].step):
        if together and new.step - together[-1][0][0].step <= reach:
            together[-1].append((new, name))
        else:
            together.append([(new, name)])
    return tuple(_broke(view, group) for group in together)


def _broke(view: View, group: list[tuple[Break, str]]) -> Finding:
    step = round(min(found.step for found, _ in group))
    shifted = everything_at(view, step, besides=[name for _, name in group])
    facts = UnexplainedBreak(step, tuple(Move(name, found.size > 0) for found, name in group), shifted)
    evidence = tuple(Evidence(name, round(found.interval[0]), round(found.interval[1])) for found, name in group)
    p = min(found.probability for found, _ in group)
    return Finding("unexplained.break", round(p, 4), "note", since_step=step, evidence=evidence, facts=facts)


def _keys(view: View, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Keys whose meaning is not known that shifted when something else did."""
    anchor = anchor_of(findings)
    if anchor is None or anchor.since_step is None:
        return ()
    reach = near(view.run)
    shifted = set(everything_at(view, anchor.since_step, besides=[series.name for series in view.run.series]))
    moved = [series for series in view.run.unread if series.key in shifted]
    if not moved:
        return ()
    low, high = round(anchor.since_step - reach), round(anchor.since_step + reach)
    named = moved[:NAMED]
    facts = UnreadKeys(
        anchor.id, anchor.since_step, tuple(series.key for series in named), more=len(moved) - len(named)
    )
    evidence = tuple(Evidence(series.name, low, high) for series in named)
    return (
        Finding(
            "unexplained.unread_key", round(anchor.p, 4), "note",
            since_step=anchor.since_step, evidence=evidence, facts=facts,
        ),
    )  # fmt: skip
