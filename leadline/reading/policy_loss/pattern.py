"""What an informative policy loss does, and what happened where it suddenly changed."""

from __future__ import annotations

import numpy as np

from ...curve import Curve
from ...curve.curve import PACE
from ...curve.magnitude import changes_of_magnitude
from ...facts import BAR, Evidence, Finding, Severity
from ...questions.classes import FELL, declining, rising
from ...questions.paths import share
from ...questions.zero import has_changed_sign, oscillates_about_zero
from ...run import Series
from ..reward import HEADLINE, number
from ..shifts import events_at, shifts_at
from ..view import View
from .reading import PolicyLoss

TWICE = 2.0  # "suddenly doubled or halved": less is within what a batch of other prompts does
SETTLING = 0.2  # of the run: in its first part a loss finds its size; a change there is the start, not an event
CAUSES = ("learning_rate", "resume", "reference_reset")
WITNESSES = ("lr", "grad_norm", HEADLINE, "kl/ref", "entropy", "len/response_mean", "len/prompt_mean", "reward/std")


def pattern_of(view: View, series: Series) -> PolicyLoss:
    """The pattern of a loss that carries evidence."""
    curve = view.fit(series)
    if not curve.decidable:
        points = f"{curve.points} point{'s are' if curve.points != 1 else ' is'}"
        return PolicyLoss(informative=True, why=f"{points} too few to read its pattern")
    jump = _jump(view, series, curve)
    if jump is not None:
        return PolicyLoss(True, "jumped", jump.says, (jump,))
    turned = has_changed_sign(curve)
    if turned.probability > BAR and not _started_at_once(curve):
        return _reversed(curve, turned.probability, turned.value or float(curve.grid[curve.now]))
    return _direction(curve)


def _jump(view: View, series: Series, curve: Curve) -> Finding | None:
    """The largest sudden change of level or size, with its cause where one is found."""
    settled = float(curve.grid[0]) + SETTLING * float(curve.grid[curve.now] - curve.grid[0])
    changes = [
        (one.probability, one.step, one.interval, _level(curve, one.step, one.size))
        for one in curve.breaks
        if one.step > settled and abs(one.size) > TWICE * curve.noise
    ]
    changes += [
        (one.probability, one.step, one.interval, _size(one.factor))
        for one in changes_of_magnitude(series)
        if one.step > settled and max(one.factor, 1 / one.factor) >= TWICE
    ]
    if not changes:
        return None
    p, step, interval, what = max(changes, key=lambda change: change[0])
    cause, severity = _cause(view, step, interval)
    low, high = (round(edge) for edge in interval)
    evidence = (Evidence(series.name, low, high),)
    return Finding(
        "policy_loss.jump", round(p, 4), severity, f"The policy loss {what} at step {round(step)}. {cause}",
        round(step), evidence,
    )  # fmt: skip


def _level(curve: Curve, step: float, size: float) -> str:
    after = float(curve.at(min(step + 1, float(curve.grid[curve.now]))).mean())
    return f"jumped from {number(after - size)} to {number(after)}"


def _size(factor: float) -> str:
    if factor >= 1:
        return f"suddenly swings {number(factor)} times as wide"
    return f"suddenly swings only {number(factor)} times as wide"


def _cause(view: View, step: float, interval: tuple[float, float]) -> tuple[str, Severity]:
    """What happened there, and how serious that makes it."""
    shifted = shifts_at(view, step, WITNESSES)
    fell = any(shift.name == HEADLINE and shift.size < 0 for shift in shifted)
    severity: Severity = "concern" if fell else "note"
    with_it = ", ".join(shift.name for shift in shifted if shift.name != "lr")
    beside = f" With it shifted: {with_it}." if with_it else ""
    known = events_at(view.run, step, CAUSES, interval=interval)
    if known:
        return f"Likely cause: {known[0].says}.{beside}", severity
    if any(shift.name == "lr" for shift in shifted):
        return f"Likely cause: the learning rate changed there.{beside}", severity
    if with_it:
        return f"No change of settings was found there; {with_it} shifted at the same step.", severity
    return "No cause was found: no event there, and no other series shifts at that step.", severity


def _started_at_once(curve: Curve) -> bool:
    """The crossing lies in the first stretch, where every loss finds its level."""
    mean = curve.seen.mean(axis=0)
    crossed = np.flatnonzero(np.diff(np.sign(mean)) != 0)
    return bool(len(crossed) and crossed[0] < SETTLING * curve.now)


def _reversed(curve: Curve, p: float, step: float) -> PolicyLoss:
    before, now = (float(curve.seen[:, place].mean()) for place in (0, -1))
    way = "negative" if now < 0 else "positive"
    says = (
        f"The policy loss went from {number(before)} to {number(now)}: it turned {way} around step {round(step)}. "
        "Its sign alone is no fault; look at what reward and clipping do since."
    )
    evidence = (Evidence(curve.metric, round(float(curve.grid[0])), round(float(curve.grid[curve.now]))),)
    finding = Finding("policy_loss.reversed", round(p, 4), "note", says, round(step), evidence)
    return PolicyLoss(True, "reversed", says, (finding,))


def _direction(curve: Curve) -> PolicyLoss:
    start, now = (number(float(curve.seen[:, place].mean())) for place in (0, -1))
    down, up = share(declining(curve) | _came_down(curve)), share(rising(curve))
    near_zero = max(oscillates_about_zero(curve).probability, _rests_at_zero(curve))
    if near_zero > BAR:
        why = f"it swings about 0 by {number(curve.noise)} with no direction: what centred advantages look like"
        return PolicyLoss(True, "oscillating", why)
    if down > BAR:
        return PolicyLoss(True, "declining", f"it falls, from {start} to {now}")
    if up > BAR:
        return PolicyLoss(True, "undecided", f"it rises, from {start} to {now}, which alone means nothing here")
    if 1 - down - up > BAR:
        return PolicyLoss(True, "stable", f"it has come to rest at {now}, one point scatters by {number(curve.noise)}")
    return PolicyLoss(True, "undecided", f"which way it goes cannot be told yet; it stands at {now}")


def _came_down(curve: Curve) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Paths that move down now, whatever they did before."""
    return np.asarray(~curve.trendless & (curve.speed < -FELL))


def _rests_at_zero(curve: Curve) -> float:
    """Paths that keep within the scatter of one point of zero over the last window, and do not move."""
    recent = curve.seen[:, -1 - round(PACE * curve.now) :]
    near = (np.abs(recent) < curve.noise).all(axis=1)
    return share(near & ~rising(curve) & ~_came_down(curve))
