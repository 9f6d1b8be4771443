"""Where the reward broke, and whose doing it was: the policy's, or a change of the task, the log or the reference."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...curve import Break
from ...facts.cause import Cause
from ...questions.bars import TWO
from ...questions.shift import unlogged
from ..prompts import changes_of_prompts
from ..shifts import POLICY, company_at, events_at, everything_at, near
from ..view import HEADLINE, View

OUTSIDE = ("resume", "reference_reset")  # events after which a level may be set anew without the policy changing


@dataclass(frozen=True, slots=True)
class AccountedBreak:
    """A break of the reward with what was found at its step."""

    found: Break
    cause: Cause
    from_outside: bool  # the task, the log or the reference changed: not the policy getting worse
    unlogged: bool  # it lies in a gap of the log: nobody saw whether it was sudden
    slight: bool  # less than single points do: sure after many of them, and no breakdown

    @property
    def fell(self) -> bool:
        return self.found.size < 0


def breaks_of(view: View) -> tuple[AccountedBreak, ...]:
    """All breaks of the reward, each with what may have caused it."""
    curve = view.curve(HEADLINE)
    found = () if curve is None else curve.breaks
    return view.once("breaks", lambda: tuple(account_for(view, one) for one in found))


def account_for(view: View, found: Break) -> AccountedBreak:
    """Look at the step of a break for what may have caused it."""
    from_outside, cause = _cause(view, found)
    series = view.run.get(HEADLINE)
    gap = series is not None and unlogged(series, found.interval)
    if gap and cause.kind not in ("event", "prompts"):
        cause = replace(cause, kind="unlogged")
    curve = view.curve(HEADLINE)
    return AccountedBreak(found, cause, from_outside, gap, curve is not None and abs(found.size) < curve.noise)


def _cause(view: View, found: Break) -> tuple[bool, Cause]:
    reach = near(view.run)
    for change in changes_of_prompts(view):
        if change.prompts.before - reach <= found.step <= change.prompts.after + reach:
            return True, Cause("prompts", prompts=change.prompts)
    rate = events_at(view.run, found.step, ("learning_rate",), interval=found.interval)
    if rate:
        return False, Cause("event", event=rate[0])
    policy = company_at(view, found.step, POLICY)
    known = events_at(view.run, found.step, OUTSIDE, interval=found.interval)
    if known:
        return not policy.moved, Cause("event", event=known[0])
    shifted = everything_at(view, found.step, besides=(HEADLINE, *policy.moved))
    if policy.moved:
        return False, Cause("policy", shifted=(*policy.moved, *shifted))
    # No sign that the policy changed. Where enough was logged that would show it, the change came from outside.
    if len(policy.still) < TWO:
        return False, Cause("none", shifted=shifted)
    return True, Cause("outside", shifted=shifted, still=policy.still)
