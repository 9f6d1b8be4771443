"""The judgement in words: short, exact, and doubt stated as doubt."""

from __future__ import annotations

import re

import numpy as np

from ..curve import Curve
from ..curve.bins import LEAST
from ..questions.paths import silence
from ..reading.reward import HEADLINE, number
from ..run import Run, Series
from .case import Case
from .checkpoints import Ranking
from .ending import BAR, EVEN
from .judgement import BestCheckpoint, Verdict
from .plateau import CLEARLY

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


def silent(series: Series) -> str:
    """The judged series was lost on the way."""
    last = silence(series)
    since = int(series.steps[-last])
    return f"Undecided: none of the last {last} values of {series.key}, since step {since}, is a finite number."


def missing_points(curve: Curve) -> int:
    return max(LEAST - curve.points, 1)


def verdict(case: Case, said: Verdict, best: BestCheckpoint, everywhere: Ranking, *, partial: bool) -> str:
    """The verdict line: what to do, why, what is still to be had, and where to go back to. `partial`: there are
    checkpoints, but none that is whole."""
    where = _best(case, said, best, everywhere, partial=partial)
    parts = [f"{CALLED[said]}. {_why(case, said)}", _prospect(case), where]
    if case.plan.assumed:
        parts.append(f"{case.plan.assumed[0].upper()}{case.plan.assumed[1:]}.")
    return " ".join(filter(None, parts))


def _why(case: Case, said: Verdict) -> str:
    over = "The plan is at its end. " if case.plan.over else ""
    return (over + _reason(case, said)).strip()


def _reason(case: Case, said: Verdict) -> str:
    return _ended_because(case) if said in ("stop", "roll_back") else _goes_on_because(case, said)


def _ended_because(case: Case) -> str:
    """The strongest reason first: who speaks against the reward, what was lost, what cannot be learned, what rests."""
    name, heard = _name(case), case.testimony
    if heard.p_proxy > EVEN:
        since = "" if heard.onset is None else f" since about step {heard.onset}"
        ids = ", ".join(dict.fromkeys(one.id for one in heard.against))
        return f"{name} no longer says what the policy is worth{since} (p {_p(heard.p_proxy)}; {ids})."
    dead = f"No learning signal is left (p {_p(heard.p_dead)})." if heard.p_dead > EVEN else ""
    p_fell = max(case.fell, heard.p_lost)
    if p_fell > (EVEN if case.plan.over else CLEARLY):
        mean = case.curve.seen.mean(axis=0)
        fell = f"{name} has fallen from {number(float(mean.max()))} to {number(float(mean[-1]))} (p {_p(p_fell)})."
        return f"{fell} {dead}".strip()
    if dead or case.plan.over:
        return dead
    if case.never_moved:
        return f"{name} has shown no trend in {100 * case.plan.elapsed:.0f} % of the plan."
    return f"{_flat(case)}."


def _goes_on_because(case: Case, said: Verdict) -> str:
    name = _name(case)
    if said == "continue":
        return f"{name} is likely to gain more."
    if case.testimony.p_dead > EVEN:
        return f"No learning signal so far (p {_p(case.testimony.p_dead)}), not yet for long enough to be sure."
    if case.never_moved:
        return f"{name} shows no trend yet."
    if case.p_pays >= EVEN:
        return f"{name} may still gain."
    if case.p_pays >= BAR:
        return f"{_flat(case)} and may still rise."
    if not case.rest.enough:
        return f"{_flat(case)}, not yet for long enough to tell."
    return f"{_flat(case)}, but until lately a rise was still likely enough to wait for."


def _flat(case: Case) -> str:
    return f"{_name(case)} has been flat since about step {round(case.rest.since)}"


def _prospect(case: Case) -> str:
    """What the rest of the plan may bring; of gains that would not count nothing is said."""
    if case.plan.over:
        return ""
    rest = "As long again" if case.plan.assumed else f"The remaining {100 * (1 - case.plan.elapsed):.0f} %"
    pays, are = (
        f"{rest} pay{'s' * bool(case.plan.assumed)} with p {_p(case.p_pays)}",
        "is" if case.plan.assumed else "are",
    )
    if case.testimony.p_against > EVEN or case.forecast.worth == 0:  # it would not count, or nothing ever moved
        return f"{pays}."
    high = float(np.quantile(case.forecast.gain, 0.9))
    if high > case.forecast.worth:
        return f"{pays} and {are} likely to buy at most {number(high)}."
    if case.p_pays >= BAR:
        return f"{pays}, by a rise that nothing announces yet."
    return f"{pays} and {are} likely to buy less than {number(case.forecast.worth)}."


def _best(case: Case, said: Verdict, best: BestCheckpoint, everywhere: Ranking, *, partial: bool) -> str:
    head = "Best" if said in ("stop", "roll_back") else "Best so far"
    also = f"; evaluate {', '.join(map(str, best.also_evaluate))} too" if best.also_evaluate else ""
    if best.path is None:
        return f"{head}: step {best.step} (no {'complete ' * partial}checkpoint on disk){also}."
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
        onset = case.testimony.onset
        text = any(one.id.startswith("generation.") for one in case.testimony.against)
        if case.testimony.p_proxy > EVEN and text and onset is not None:
            return (f"samples after step {onset} that hold up when read by a person",)
        return (rise,)
    return (f"{rise} would speak for going on", f"no such rise by step {by} would speak for stopping")


def _name(case: Case) -> str:
    return "Reward" if case.series.name == HEADLINE else f"The held-out score ({case.series.name})"


def _p(p: float) -> str:
    return "< .01" if p < 0.01 else "> .99" if p > 0.99 else f"{p:.2f}".lstrip("0")
