"""Where the reward broke, and whose doing it was: the policy's, or a change of the task, the log or the reference."""

from __future__ import annotations

from dataclasses import dataclass

from ...curve import Break
from ...facts import Evidence, Finding, Severity
from ..prompts import change_of_prompts
from ..shifts import POLICY, TASK, Shift, events_at, near, shifts_at, unlogged, would_show
from ..view import View
from .apart import component_names
from .reading import HEADLINE
from .words import number

OUTSIDE = ("resume", "reference_reset")  # events after which a level may be set anew without the policy changing
KNOWN = "Likely cause:"
ENOUGH_TO_ACQUIT = 2  # witnesses of the policy that held still: one may be blind, two are unlikely to be


@dataclass(frozen=True, slots=True)
class Accounted:
    """A break of the reward with what was found at its step."""

    step: float
    interval: tuple[float, float]
    size: float
    p: float
    from_outside: bool  # the task, the log or the reference changed: not the policy getting worse
    because: str  # one sentence
    unlogged: bool = False  # it lies in a gap of the log: nobody saw whether it was sudden


def account_for(view: View, one: Break) -> Accounted:
    """Look at the step of a break for what may have caused it."""
    from_outside, because = _cause(view, one)
    series = view.run.get(HEADLINE)
    gap = series is not None and unlogged(series, one.interval)
    if gap and not because.startswith(KNOWN):
        because = "What happened there is not known."
    return Accounted(one.step, one.interval, one.size, one.probability, from_outside, because, gap)


def _cause(view: View, one: Break) -> tuple[bool, str]:
    rate = events_at(view.run, one.step, ("learning_rate",), interval=one.interval)
    if rate:
        return False, f"{KNOWN} {rate[0].says}."
    prompts = change_of_prompts(view)
    if prompts is not None and prompts.before - near(view.run) <= one.step <= prompts.after + near(view.run):
        return True, f"{KNOWN} the prompts changed between steps {prompts.before} and {prompts.after}."
    policy = shifts_at(view, one.step, POLICY)
    known = events_at(view.run, one.step, OUTSIDE, interval=one.interval)
    if known:
        return not policy, f"{KNOWN} {known[0].says}."
    if policy:
        return False, f"With it shifted: {_listed(policy)}."
    return _unmoved(view, one)


def _unmoved(view: View, one: Break) -> tuple[bool, str]:
    """No sign that the policy changed. Where enough was logged that would show it, the change came from outside."""
    spread = tuple(f"reward/component/{name}/std" for name in component_names(view))
    task = shifts_at(view, one.step, (*TASK, *spread, "len/response_mean"))
    beside = f"With it shifted: {_listed(task)}." if task else "Nothing else that was logged shifts at that step."
    reach = near(view.run)
    still = [name for name in POLICY if (seen := view.run.get(name)) is not None and would_show(seen, one.step, reach)]
    if len(still) < ENOUGH_TO_ACQUIT:
        return False, beside
    held = f"{', '.join(still[:-1])} and {still[-1]}"
    if one.size > 0:  # what was learned at once may show in none of them
        return True, f"{held} held still: perhaps the prompts or the reward changed, not the policy. {beside}"
    return True, f"{held} held still, so the prompts or the reward changed rather than the policy. {beside}"


def _listed(shifts: tuple[Shift, ...]) -> str:
    return ", ".join(shift.name for shift in shifts)


def broke(one: Accounted) -> Finding:
    """The finding for a break."""
    way = "rose" if one.size > 0 else "fell"
    low, high = (round(step) for step in one.interval)
    severity: Severity = "note" if one.size > 0 or one.from_outside else "concern"
    when = (
        f"in a gap of the log, between steps {low} and {high}"
        if one.unlogged
        else f"suddenly at step {round(one.step)} (between {low} and {high})"
    )
    says = f"Reward {way} {when}, by {number(abs(one.size))}. {one.because}"
    return Finding("reward.break", round(one.p, 4), severity, says, round(one.step), (Evidence(HEADLINE, low, high),))
