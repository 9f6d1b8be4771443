"""No learning signal: steps on which every advantage was zero, and what that means where reward stands.

Exact facts decide here, not levels: every group tied, all rewards equal, all advantages zero, a gradient of exactly 0.
A step of which one of them holds taught the policy nothing, whatever its reward says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ..curve.bins import LEAST
from ..evidence.numbers import truncated
from ..facts import Evidence, Facts, Finding, Guide, Meaning, Severity
from ..facts.judgement import Beside, Suspect
from ..questions.bars import CLEARLY, EVEN, SAID, SPELL
from ..questions.level import level_now
from ..questions.share import more_than
from ..questions.stuck import spell_at_the_end
from ..reading.generations.samples import by_score, shortened
from ..reading.generations.truncation import truncated_now
from ..reading.learning_signal.dead_steps import (
    GRADIENT,
    ZERO_STD,
    dead_steps,
    lately,
    mostly_since,
    nearly_all,
    nearly_all_averaged,
    tied_samples,
    tied_share,
)
from ..reading.learning_signal.standing import Standing, present, standing_of
from ..reading.view import HEADLINE, View
from ..run import Run
from ..words.numbers import number, percent

GUIDE = {
    "signal.no_learning_signal": Guide(
        "No or almost no gradient signal: all, nearly all, or most groups have zero reward variance.",
        "Zero-variance groups in the log or in the samples, and the reward level.",
        "At the minimum reward: easier prompts, partial credit. At the top reward: harder prompts, or stop.",
    ),
}
MEANS: dict[str, Meaning] = {"signal.no_learning_signal": "no_signal"}
SHOWN = 3  # samples: enough to see what they are


@dataclass(frozen=True, slots=True)
class BatchSpread:
    """A standard deviation over the batch that looks like a signal and is none."""

    key: str  # as the log calls it
    level: float


@dataclass(frozen=True, slots=True)
class AllTied(Facts):
    """Nearly every step has nothing but tied groups."""

    reward_at: Literal["top", "bottom", "between", "constant"]  # of the rewards any sample got
    reward: float  # where it stands
    since_step: int | None
    between_prompts: BatchSpread | None = None
    share: float | None = None  # of the groups that are tied, where rows of several steps hold a few that are not

    def say(self) -> str:
        since, reward = "" if self.since_step is None else f" since step ~{self.since_step}", number(self.reward)
        if self.reward_at == "top":
            solved = f"Prompts solved{since}" if since else "Prompts are solved"
            return f"{solved}: nearly every response gets the top reward ({reward}), leaving no gradient."
        if self.reward_at == "constant":
            since = " since the start"
        why, briefly = {
            "bottom": (f"every response gets the minimum reward ({reward})", f"at the minimum reward, {reward}"),
            "constant": (f"every reward has been {reward}", f"at a reward of {reward}"),
            "between": ("rewards differ across prompts but not within groups", "rewards differ only across prompts"),
        }[self.reward_at]
        if self.share is None:
            return f"No gradient signal{since}: {why}, so all advantages are zero.{self._between()}"
        flat = f"{percent(self.share)} of groups have zero reward variance ({briefly})"
        return f"Almost no gradient signal{since}: {flat}, so nearly all advantages are zero.{self._between()}"

    def _between(self) -> str:
        spread = self.between_prompts
        if spread is None or self.reward_at != "between":
            return ""
        return f" `{spread.key}` ({number(spread.level)}) is variance across prompts and adds no gradient."


@dataclass(frozen=True, slots=True)
class AllTruncated(Facts):
    """Nearly every answer is cut off, and reward is the lowest there is."""

    share: float
    reward: float

    def say(self) -> str:
        return (
            f"{percent(self.share)} of responses are truncated and reward is at its minimum ({number(self.reward)}): "
            "almost none finish, so almost none can be right."
        )


@dataclass(frozen=True, slots=True)
class MostlyTied(Facts):
    """Most groups are tied, not all."""

    share: float
    reward_at: Literal["top", "bottom", "between"]
    reward: float | None  # the end it stands at, or else its mean

    def say(self) -> str:
        reward = "" if self.reward is None else f" ({number(self.reward)})"
        where = {
            "top": f", mostly at the top reward{reward}",
            "bottom": f", mostly at the minimum reward{reward}",
            "between": f" (mean reward {number(self.reward or 0.0)})",
        }[self.reward_at]
        return f"{percent(self.share)} of groups have zero reward variance{where}: only the rest produce gradient."


def detect(view: View) -> tuple[Finding, ...]:
    """Whether the last steps could teach anything."""
    return view.once("signal.no_learning_signal", lambda: _detected(view))


def _detected(view: View) -> tuple[Finding, ...]:
    standing = standing_of(view)
    if standing is None:
        return ()
    steps, dead = dead_steps(view.run)
    p, since = nearly_all(steps, dead) if len(steps) else tied_samples(view.batches)
    if p >= SAID:
        return (_dead(view, standing, p, since, sure=len(steps) > 0),)
    p, since, share = nearly_all_averaged(view.run)
    if p >= SAID:
        return (_dead(view, standing, p, since, sure=False, share=share),)
    p, since = lately(steps, dead)
    if p >= SAID:  # a note: an outage passes, and is no reason to stop
        return (replace(_dead(view, standing, p, since, sure=False), severity="note"),)
    return _cut_off(view, standing) or _rare(view, standing)


def _dead(
    view: View, standing: Standing, p: float, since: int | None, *, sure: bool, share: float | None = None
) -> Finding:
    # A few groups among samples do not speak for all groups.
    severity: Severity = "note" if standing.place == "top" else "critical" if sure else "concern"
    reward = _stands(view, standing)
    between = _spread(view.run) if standing.place == "between" and share is None else None
    return _finding(p, severity, AllTied(standing.place, reward, since, between, share), since, _evidence(view))


def _stands(view: View, standing: Standing) -> float:
    """The end that the reward has reached, or its level now, as every other sentence tells it."""
    if standing.place in ("top", "bottom"):
        return standing.high if standing.place == "top" else standing.low
    curve, logged = view.curve(HEADLINE), view.run.get(HEADLINE)
    return standing.mean if curve is None or logged is None or not curve.decidable else level_now(curve, logged)


def _spread(run: Run) -> BatchSpread | None:
    """A standard deviation over the batch that looks like a signal and is none."""
    for series in run.series:
        if series.name == "reward/std" or (
            series.name.startswith("reward/component/") and series.name.endswith("/std")
        ):
            last = series.values[series.finite][-SPELL:]
            if len(last) and last.mean() > 0:
                return BatchSpread(series.key, float(last.mean()))
    return None


def _cut_off(view: View, standing: Standing) -> tuple[Finding, ...]:
    """Nearly everything is cut off and earns the least there is, or always the same."""
    cut = truncated(view.run)
    if cut is None or standing.place not in ("bottom", "constant") or cut.finite.sum() < LEAST:
        return ()
    values = cut.values[cut.finite]
    high = values[-present(len(values)) :] > CLEARLY
    p = more_than(CLEARLY, int(high.sum()), len(high))
    if p < SAID:
        return ()
    share = truncated_now(view, cut)
    facts = AllTruncated(float(values[-len(high) :].mean()) if share is None else share, standing.mean)
    since = mostly_since(cut.steps[cut.finite], values > CLEARLY)
    return (_finding(p, "critical", facts, since, _evidence(view, cut.name)),)


def _rare(view: View, standing: Standing) -> tuple[Finding, ...]:
    """Most groups are tied, not all: a note, since the rest still teaches. Wherever the reward stands: at its ends it
    comes and goes from look to look, the ties do not."""
    tied = tied_share(view.run)
    if tied is None or tied.finite.sum() < LEAST or standing.place == "constant":
        return ()
    values = tied.values[tied.finite]
    steps, most = tied.steps[tied.finite], values > EVEN
    p, since = nearly_all(steps, most)
    recent = values[-present(len(values)) :]
    if p < SAID:
        p, since = lately(steps, most)
        recent = values[-spell_at_the_end(most) :]
    if p < SAID:
        return ()
    facts = MostlyTied(float(recent.mean()), standing.place, _stands(view, standing))
    return (_finding(p, "note", facts, since, (Evidence(tied.name, int(steps[0]), int(steps[-1])),)),)


def _finding(p: float, severity: Severity, facts: Facts, since: int | None, evidence: tuple[Evidence, ...]) -> Finding:
    return Finding("signal.no_learning_signal", round(p, 4), severity, facts=facts, since_step=since, evidence=evidence)


def _evidence(view: View, *more: str) -> tuple[Evidence, ...]:
    names = (HEADLINE, ZERO_STD, GRADIENT, *more)
    series = [series for series in map(view.run.get, names) if series is not None and series.points]
    spans = [Evidence(logged.name, int(logged.steps[0]), int(logged.steps[-1])) for logged in series]
    if view.batches:
        last = view.batches[-1]
        spans.append(
            Evidence("rollouts", last.step, last.step, samples=tuple(map(shortened, by_score((last,))[:SHOWN])))
        )
    return tuple(spans)


def suspect(found: Finding, beside: Beside) -> Suspect | None:
    facts = found.facts
    if isinstance(facts, AllTruncated):
        return "length_cap", "check"
    if isinstance(facts, AllTied) and facts.reward_at == "constant":
        return "reward_function", "check"
    return None if beside.lost else ("data", "check")
