"""The judgement in words: short, exact, and doubt stated as doubt."""

from __future__ import annotations

import re

import numpy as np

from ..curve import Curve
from ..curve.bins import LEAST
from ..reading.reward import HEADLINE, number
from ..run import Run
from .case import Case
from .checkpoints import Ranking
from .judgement import BestCheckpoint, Verdict

LIKE_A_REWARD = re.compile(r"reward|score|return|acc|success|pass|win", re.IGNORECASE)
NAMED = 3  # candidates: a longer list helps nobody
CALLED = {"continue": "Continue", "stop": "Stop", "roll_back": "Roll back", "undecided": "Undecided"}


def nothing_to_judge(run: Run) -> str:
    """Why there is no verdict, and what could be the reward."""
    logged = run.get(HEADLINE)
    if logged is not None:
        return f"No verdict: none of the {logged.points} values of {logged.key} is a finite number."
    names = [one.key for one in (*run.unread, *run.series) if LIKE_A_REWARD.search(one.key) and one.finite.any()]
    if not names:
        return "No verdict: no reward series was found."
    near = ", ".join(dict.fromkeys(names[:NAMED]))
    return f"No verdict: no training reward was found. Nearest: {near}; say which with --map reward/mean=KEY."


def too_few(curve: Curve) -> str:
    """How many more points are needed."""
    more = missing_points(curve)
    return (
        f"Undecided: {curve.points} point{'s' * (curve.points != 1)} of {curve.metric} so far, "
        f"{more} more {'are' if more != 1 else 'is'} needed before anything can be told."
    )


def missing_points(curve: Curve) -> int:
    return max(LEAST - curve.points, 1)


def verdict(case: Case, said: Verdict, best: BestCheckpoint, everywhere: Ranking, *, chosen: bool) -> str:
    """The verdict line: what to do, why, what is still to be had, and where to go back to."""
    parts = [f"{CALLED[said]}. {_why(case, said)}", _prospect(case), _best(case, said, best, everywhere, chosen=chosen)]
    if case.plan.assumed:
        parts.append(f"{case.plan.assumed[0].upper()}{case.plan.assumed[1:]}.")
    return " ".join(filter(None, parts))


def _why(case: Case, said: Verdict) -> str:
    over = "The plan is at its end. " if case.plan.over else ""
    return (over + _reason(case, said)).strip()


def _reason(case: Case, said: Verdict) -> str:
    name, testimony = _name(case), case.testimony
    ended = said in ("stop", "roll_back")
    if ended and testimony.p_proxy > max(testimony.p_dead, 0.5):
        since = "" if testimony.onset is None else f" since about step {testimony.onset}"
        ids = ", ".join(dict.fromkeys(one.id for one in testimony.heard))
        return f"{name} no longer says what the policy is worth{since} (p {_p(testimony.p_proxy)}; {ids})."
    if ended and testimony.p_dead > 0.5:
        return f"No learning signal is left (p {_p(testimony.p_dead)})."
    now, top = (float(level) for level in (case.curve.seen.mean(axis=0)[-1], case.curve.seen.mean(axis=0).max()))
    if ended and case.fell > 0.5:
        return f"{name} has fallen from {number(top)} to {number(now)} (p {_p(case.fell)})."
    if ended and case.curve.trendless.mean() > 0.5:
        return f"{name} has shown no trend in {100 * case.plan.elapsed:.0f} % of the plan."
    if case.plan.over:
        return ""
    flat = f"{name} has been flat since about step {round(case.rest.since)}"
    if ended:
        return f"{flat}."
    if said == "continue":
        return f"{name} is likely to gain more."
    if case.curve.trendless.mean() > 0.5:
        return f"{name} shows no trend yet."
    return f"{flat}, not yet for long enough to tell." if case.p_pays < 0.5 else f"{name} may still gain."


def _prospect(case: Case) -> str:
    if case.plan.over:
        return ""
    pays = f"The remaining {100 * (1 - case.plan.elapsed):.0f} % pay with p {_p(case.p_pays)}"
    if case.testimony.p_against > 0.5:  # what the paths may still gain would not count
        return f"{pays}."
    high = float(np.quantile(np.maximum(case.forecast.gain, 0.0), 0.9))
    return f"{pays} and are likely to buy at most {number(high)}."


def _best(case: Case, said: Verdict, best: BestCheckpoint, everywhere: Ranking, *, chosen: bool) -> str:
    head = "Best" if said in ("stop", "roll_back") else "Best so far"
    also = f"; evaluate {', '.join(map(str, best.also_evaluate))} too" if best.also_evaluate else ""
    if not chosen:
        return f"{head}: step {best.step} (no checkpoint on disk){also}."
    whole = "complete" if best.complete else "on disk, not known to be complete"
    wanted, place = int(everywhere.steps[everywhere.best]), int(np.argmin(np.abs(everywhere.steps - best.step)))
    cost = float(everywhere.means[everywhere.best] - everywhere.means[place])
    dear = f"; step {wanted} would be better by {number(cost)} but was not kept" if cost > case.forecast.worth else ""
    return f"{head}: {best.path}, step {best.step}, {whole}{dear}{also}."


def would_change(case: Case, said: Verdict, next_look: int | None) -> tuple[str, ...]:
    """What one would have to see to say something else."""
    if case.plan.over:
        return ()
    top = float(case.curve.seen.mean(axis=0).max())
    bar, name = number(top + case.forecast.worth), case.series.name
    by = case.plan.end if next_look is None else next_look
    rise = f"{name} above {bar} by step {by}"
    if said in ("stop", "roll_back"):
        against = [one for one in case.testimony.heard if one.id.startswith("generation.")]
        read = ("samples after the onset that hold up when read by a person",) if against else ()
        return (*read, rise) if case.testimony.p_against < 0.5 or not read else read
    return (f"{rise} would speak for going on", f"no such rise by step {by} would speak for stopping")


def _name(case: Case) -> str:
    return "Reward" if case.series.name == HEADLINE else f"The held-out score ({case.series.name})"


def _p(p: float) -> str:
    return "< .01" if p < 0.01 else "> .99" if p > 0.99 else f"{p:.2f}".lstrip("0")
