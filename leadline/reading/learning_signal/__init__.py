"""No learning signal: steps on which every advantage was zero, and what that means where reward stands.

Exact facts decide here, not levels: every group tied, all rewards equal, all advantages zero, a gradient of exactly 0.
A step of which one of them holds taught the policy nothing, whatever its reward says.
"""

from __future__ import annotations

from ...curve.bins import LEAST
from ...facts import BAR, Evidence, Finding, Severity
from ...run import Run
from ..generations.measure import last_before
from ..generations.samples import by_score, shortened
from ..generations.truncation import truncated
from ..reward import HEADLINE, number
from ..view import View
from .facts import GRADIENT, NEARLY_ALL, ZERO_STD, dead_steps, more_than, nearly_all, tied_samples, tied_share
from .standing import FEWEST, Standing, present, standing_of

MOST = 0.5  # of the groups: when more are tied, that is noted
SHOWN = 3  # samples: enough to see what they are


def read(view: View) -> tuple[Finding, ...]:
    """Whether the last steps could teach anything."""
    standing = standing_of(view)
    if standing is None:
        return ()
    steps, dead = dead_steps(view.run)
    p, since = nearly_all(steps, dead) if len(steps) else tied_samples(view.batches)
    if p >= BAR:
        return (_dead(view, standing, p, since, sure=len(steps) > 0),)
    return _cut_off(view, standing) or _rare(view.run, standing)


def _dead(view: View, standing: Standing, p: float, since: int | None, *, sure: bool) -> Finding:
    if standing.place == "top":
        says = (
            f"Since about step {since} nearly every answer gets the highest reward seen, {number(standing.high)}: "
            "no group has rewards that differ, and nothing is left to learn from these prompts."
        )
        severity: Severity = "note"
    else:
        step = f"since about step {since}"
        why = {
            "bottom": f"{step} every answer gets the lowest reward seen, {number(standing.low)}",
            "constant": f"every reward is {number(standing.mean)}, since the start",
            "between": f"{step} rewards differ between prompts, but within each group they are tied{_spread(view.run)}",
        }[standing.place]
        says = f"The run learns nothing: {why}. Every advantage is zero."
        severity = "critical" if sure else "concern"  # a few groups among samples do not speak for all groups
    return Finding("signal.no_learning_signal", round(p, 4), severity, says, since, _evidence(view))


def _spread(run: Run) -> str:
    """A standard deviation over the batch that looks like a signal and is none."""
    for series in run.series:
        if series.name == "reward/std" or (
            series.name.startswith("reward/component/") and series.name.endswith("/std")
        ):
            last = series.values[series.finite][-FEWEST:]
            if len(last) and last.mean() > 0:
                return f"; the {series.key} of {number(float(last.mean()))} is between prompts and teaches nothing"
    return ""


def _cut_off(view: View, standing: Standing) -> tuple[Finding, ...]:
    """Nearly everything is cut off and earns the least there is, or always the same."""
    cut = truncated(view.run)
    if cut is None or standing.place not in ("bottom", "constant") or cut.finite.sum() < LEAST:
        return ()
    values = cut.values[cut.finite]
    high = values[-present(len(values)) :] > NEARLY_ALL
    p = more_than(NEARLY_ALL, int(high.sum()), len(high))
    if p < BAR:
        return ()
    share = 100 * float(values[-len(high) :].mean())
    says = (
        f"{share:.0f} % of the answers are cut off at the length cap and reward stands at {number(standing.mean)}, the "
        "lowest seen: hardly an answer is finished, so hardly one can be right."
    )
    since = int(cut.steps[cut.finite][last_before(values > NEARLY_ALL)])
    return (Finding("signal.no_learning_signal", round(p, 4), "critical", says, since, _evidence(view, cut.name)),)


def _rare(run: Run, standing: Standing) -> tuple[Finding, ...]:
    """Most groups are tied, not all: a note, since the rest still teaches."""
    tied = tied_share(run)
    if tied is None or tied.finite.sum() < LEAST or standing.place in ("between", "constant"):
        return ()
    values = tied.values[tied.finite]
    recent = values[-present(len(values)) :]
    most = recent > MOST
    p = more_than(NEARLY_ALL, int(most.sum()), len(most))
    if p < BAR:
        return ()
    share = 100 * float(recent.mean())
    end, level = ("highest", standing.high) if standing.place == "top" else ("lowest", standing.low)
    where = f"mostly at the {end} reward seen, {number(level)}"
    says = f"{share:.0f} % of the groups are tied, {where}; only the others teach."
    steps = tied.steps[tied.finite]
    since = int(steps[last_before(values > MOST)])
    evidence = (Evidence(tied.name, int(steps[0]), int(steps[-1])),)
    return (Finding("signal.no_learning_signal", round(p, 4), "note", says, since, evidence),)


def _evidence(view: View, *more: str) -> tuple[Evidence, ...]:
    names = (HEADLINE, ZERO_STD, GRADIENT, *more)
    series = [one for one in map(view.run.get, names) if one is not None and one.points]
    spans = [Evidence(one.name, int(one.steps[0]), int(one.steps[-1])) for one in series]
    if view.batches:
        last = view.batches[-1]
        spans.append(
            Evidence("rollouts", last.step, last.step, samples=tuple(map(shortened, by_score((last,))[:SHOWN])))
        )
    return tuple(spans)
