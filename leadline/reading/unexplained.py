"""What fits no known story: contradictions, breaks without a cause, keys nobody understood.

Trust the observation: what is seen is said in plain words instead of being forced under a label.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..curve import Break, Curve
from ..facts import BAR, Evidence, Finding
from ..run import Series
from .onset import anchor_of
from .shifts import events_at, near, shift_at, unlogged
from .view import View

GRADUAL = ("reward.declining", "reward.peaked")
WITNESSES = ("kl/ref", "kl/ref_seq_sum", "len/response_mean", "entropy", "grad_norm")
ENOUGH = 2  # witnesses that held: one may be blind, two are unlikely to be
WATCHED = ("kl/ref", "entropy", "len/response_mean", "grad_norm")  # whose breaks are looked into
EVENTS = ("learning_rate", "resume", "reference_reset", "checkpoint")
POINTS = 20  # points: a key with fewer shows no shift
MOST_KEYS = 200  # keys that are tried, in the order of the log: keeps a log of thousands of keys quick
NAMED = 3  # keys that are named: more is a list


def read(view: View, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What was seen and no finding accounts for."""
    return (*_contradictions(view, findings), *_breaks(view, findings), *_keys(view, findings))


def _contradictions(view: View, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Reward fell, and nothing that usually goes with it moved."""
    fall = next((one for one in findings if one.id in GRADUAL and one.since_step is not None), None)
    if fall is None or fall.since_step is None:
        return ()
    read_ = (curve for name in WITNESSES if (curve := view.curve(name)) is not None and curve.decidable)
    curves = [curve for curve in read_ if curve.grid[curve.now] > fall.since_step]  # the others saw nothing of it
    held = [_held(curve, fall.since_step) for curve in curves]
    if len(curves) < ENOUGH or min(held) <= BAR:
        return ()
    names = [curve.metric for curve in curves]
    says = (
        f"Reward fell from step {fall.since_step} on while {', '.join(names[:-1])} and {names[-1]} held: none of the "
        "usual stories fits. Look at what lies outside the policy: the prompts, the scorer, the reward function."
    )
    last = view.run.last_step or fall.since_step
    evidence = tuple(Evidence(name, fall.since_step, last) for name in ("reward/mean", *names))
    return (
        Finding("unexplained.contradiction", round(fall.p * min(held), 4), "note", says, fall.since_step, evidence),
    )


def _held(curve: Curve, since: float) -> float:
    """Share of paths that have not moved since a step by as much as one logged point scatters."""
    change = np.abs(curve.seen[:, -1] - curve.at(min(max(since, curve.grid[0]), curve.grid[curve.now])))
    return float(np.mean(change < max(curve.noise, curve.last.noise.max())))


def _breaks(view: View, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Sudden changes at a step at which nothing is known to have happened and of which no finding speaks."""
    reach = near(view.run)
    told = [one.since_step for one in findings if one.since_step is not None]
    told += [span.first_step for one in findings if one.id == "kl.reset" for span in one.evidence]
    # After a collapse everything jumps about; that needs no explanation of its own.
    over = min((one.since_step for one in findings if one.severity == "critical" and one.since_step), default=np.inf)
    found: list[tuple[Break, str]] = []
    for name in WATCHED:
        series = view.run.get(name)
        for one in view.breaks(series) if series is not None and series.finite.any() else ():
            explained = events_at(view.run, one.step, EVENTS) or any(abs(step - one.step) <= reach for step in told)
            seen = series is not None and not unlogged(series, one.interval)  # in a gap of the log nothing was
            if not explained and seen and one.step < over:
                found.append((one, name))
    together: list[list[tuple[Break, str]]] = []
    for one, name in sorted(found, key=lambda item: item[0].step):
        if together and one.step - together[-1][0][0].step <= reach:
            together[-1].append((one, name))
        else:
            together.append([(one, name)])
    return tuple(_broke(group) for group in together)


def _broke(group: list[tuple[Break, str]]) -> Finding:
    ways = [f"{name} {'rose' if one.size > 0 else 'fell'}" for one, name in group]
    step = round(min(one.step for one, _ in group))
    says = (
        f"{', '.join(ways)} suddenly at step {step}, and nothing else is known to have happened there: "
        "no change of the learning rate, no resume, no reset of the reference."
    )
    evidence = tuple(Evidence(name, round(one.interval[0]), round(one.interval[1])) for one, name in group)
    p = min(one.probability for one, _ in group)
    return Finding("unexplained.break", round(p, 4), "note", says, step, evidence)


def _in_its_own_unit(series: Series) -> Series:
    """Nobody knows how large the numbers of an unknown key may be."""
    largest = float(np.abs(series.values[series.finite]).max()) or 1.0
    return replace(series, values=series.values / largest)


def _keys(view: View, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Keys whose meaning is not known that shifted when something else did."""
    anchor = anchor_of(findings)
    if anchor is None or anchor.since_step is None:
        return ()
    reach = near(view.run)
    tried = [one for one in view.run.unread[:MOST_KEYS] if one.finite.sum() >= POINTS]
    moved = [one for one in tried if shift_at(_in_its_own_unit(one), anchor.since_step, reach) is not None]
    if not moved:
        return ()
    names = ", ".join(f"`{one.key}`" for one in moved[:NAMED])
    more = f" and {len(moved) - NAMED} more" if len(moved) > NAMED else ""
    says = (
        f"{names}{more} shifted near step {anchor.since_step}, where {anchor.id} begins. Leadline does not know what "
        f"{'it means' if len(moved) == 1 else 'they mean'}; you may."
    )
    low, high = round(anchor.since_step - reach), round(anchor.since_step + reach)
    evidence = tuple(Evidence(one.name, low, high) for one in moved[:NAMED])
    return (Finding("unexplained.unread_key", round(anchor.p, 4), "note", says, anchor.since_step, evidence),)
