"""No learning signal: steps on which every advantage was zero, and what that means where reward stands.

Exact facts decide here, not levels: every group tied, all rewards equal, all advantages zero, a gradient of exactly 0.
A step of which one of them holds taught the policy nothing, whatever its reward says.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..curve.cells import LEAST
from ..digits import number, percent
from ..facts.finding import SAID, Beside, Evidence, Facts, Finding, Guide, Meaning, Severity, Suspect
from ..questions.changes import more_than
from ..questions.direction import NEARLY_ALL
from ..questions.level import SPELL, last_before, spell_at_the_end
from ..reading.signal import ZERO_STD, Standing, present, standing_of, tied_share
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD, Flags, Run
from ..text.numbers import truncated
from ..text.sampler import Batch
from ..text.shown import by_score, shortened

GUIDE = {
    "signal.no_learning_signal": Guide(
        "No or almost no gradient signal: all or nearly all groups have zero reward variance.",
        "Zero-variance groups in the log or in the samples, and the reward level.",
        "At the minimum reward: easier prompts, partial credit. At the top reward: harder prompts, or stop.",
    ),
    "signal.zero_variance_groups": Guide(
        "Most groups have zero reward variance; the rest still produce gradient.",
        "The share of zero-variance groups in the log.",
        "Nothing by itself. To learn faster: prompts that are sometimes solved, or resampling of such groups.",
    ),
}
SHOWN = 3  # samples: enough to see what they are
GRADIENT = "grad_norm"
Said = tuple[NDArray[np.int64], Flags]  # steps, and on which of them it holds


@dataclass(frozen=True, slots=True)
class AllTied(Facts):
    """Nearly every step has nothing but tied groups."""

    MEANS: ClassVar[Meaning | None] = "no_signal"

    reward_at: Literal["top", "bottom", "between", "constant"]  # of the rewards any sample got
    reward: float  # where it stands
    since_step: int | None

    def say(self) -> str:
        since, reward = "" if self.since_step is None else f" since step ~{self.since_step}", number(self.reward)
        if self.reward_at == "top":
            solved = f"Prompts solved{since}" if since else "Prompts are solved"
            return f"{solved}: nearly every response gets the top reward ({reward}), leaving no gradient."
        if self.reward_at == "constant":
            since = " since the start"
        why = {
            "bottom": f"nearly every response gets the minimum reward ({reward})",
            "constant": f"every reward has been {reward}",
            "between": "rewards don't differ within groups",
        }[self.reward_at]
        return f"No gradient signal{since}: {why}, so advantages are zero."

    def suspect(self, beside: Beside) -> Suspect | None:
        if self.reward_at == "constant":
            return "reward_function", "check", "it scores every response the same"
        return None if beside.lost else ("data", "check", "rewards no longer differ within groups")


@dataclass(frozen=True, slots=True)
class AllTruncated(Facts):
    """Nearly every answer is cut off, and reward is the lowest there is."""

    MEANS: ClassVar[Meaning | None] = "no_signal"
    SUSPECT: ClassVar[Suspect | None] = ("length_cap", "check", "almost no response finishes")

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
        if self.share == 1:
            return f"All groups have zero reward variance{where}: no gradient."
        return f"{percent(self.share)} of groups have zero reward variance{where}: only the rest produce gradient."


def detect(view: View) -> tuple[Finding, ...]:
    """Report whether the last steps could teach anything."""
    standing = standing_of(view.whole)
    if standing is None:
        return ()
    steps, dead = _dead_steps(view.run)
    p, since = _nearly_all(steps, dead) if len(steps) else _tied_samples(view.whole.batches)
    # A few groups among samples do not speak for all groups.
    severity: Severity = "note" if standing.place == "top" else "critical" if len(steps) else "concern"
    if p < SAID:
        (p, since), severity = _lately(steps, dead), "note"  # an outage passes, and is no reason to stop
    if p < SAID:
        return _cut_off(view, standing) or _rare(view, standing)
    facts = AllTied(standing.place, _stands(view, standing), since)
    return (_finding(p, severity, facts, since, _evidence(view)),)


def _stands(view: View, standing: Standing) -> float:
    """Return the end that the reward has reached, or its level now, as every other sentence tells it."""
    if standing.place in ("top", "bottom"):
        return standing.high if standing.place == "top" else standing.low
    reward = view.readable(REWARD)
    return standing.mean if reward is None else reward.now


def _cut_off(view: View, standing: Standing) -> tuple[Finding, ...]:
    """Report that nearly everything is cut off and earns the least there is, or always the same."""
    part = view.of(truncated(view.run))
    if part is None or standing.place not in ("bottom", "constant") or part.series.finite.sum() < LEAST:
        return ()
    cut = part.series
    values = cut.numbers
    high = values[-present(len(values)) :] > NEARLY_ALL
    p = more_than(NEARLY_ALL, int(high.sum()), len(high))
    if p < SAID:
        return ()
    share = part.now if part.curve.decidable else float(values[-len(high) :].mean())
    facts = AllTruncated(share, standing.mean)
    since = _mostly_since(cut.steps[cut.finite], values > NEARLY_ALL)
    return (_finding(p, "critical", facts, since, _evidence(view, cut.name)),)


def _rare(view: View, standing: Standing) -> tuple[Finding, ...]:
    """Report that most groups are tied, not all: a note, since the rest still teaches. Wherever the reward stands: at
    its ends it comes and goes from look to look, the ties do not."""
    tied = tied_share(view.run)
    if tied is None or tied.finite.sum() < LEAST or standing.place == "constant":
        return ()
    values = tied.numbers
    steps, most = tied.steps[tied.finite], values > 0.5
    (p, since), last = _nearly_all(steps, most), present(len(values))
    if p < SAID:
        (p, since), last = _lately(steps, most), spell_at_the_end(most)
    if p < SAID:
        return ()
    facts = MostlyTied(float(values[-last:].mean()), standing.place, _stands(view, standing))
    spans = (Evidence(tied.name, int(steps[0]), int(steps[-1])),)
    return (Finding("signal.zero_variance_groups", round(p, 4), "note", facts, since, spans),)


def _finding(p: float, severity: Severity, facts: Facts, since: int | None, evidence: tuple[Evidence, ...]) -> Finding:
    return Finding("signal.no_learning_signal", round(p, 4), severity, facts=facts, since_step=since, evidence=evidence)


def _evidence(view: View, *more: str) -> tuple[Evidence, ...]:
    names = (REWARD, ZERO_STD, GRADIENT, *more)
    series = [series for series in map(view.run.get, names) if series is not None and series.points]
    spans = [Evidence(logged.name, int(logged.steps[0]), int(logged.steps[-1])) for logged in series]
    if view.whole.batches:
        last = view.whole.batches[-1]
        spans.append(
            Evidence("rollouts", last.step, last.step, samples=tuple(map(shortened, by_score((last,))[:SHOWN])))
        )
    return tuple(spans)


def _dead_steps(run: Run) -> tuple[NDArray[np.int64], Flags]:
    """Return the steps, and on which of them something says that there was nothing to learn from."""
    tied, norm = tied_share(run), run.get(GRADIENT)
    all_tied = None if tied is None else (tied.steps[tied.finite], tied.numbers >= 1.0)
    counted = [told for told in (all_tied, _equal(run, "reward"), _equal(run, "adv"), _constant(run)) if told]
    said = [_unless_denied(run, told) for told in counted]
    # A norm that was never anything but 0 is not logged, not zero: some backends write it so.
    if norm is not None and (norm.numbers > 0).any():
        said.append((norm.steps[norm.finite], norm.numbers == 0))
    dead: dict[int, bool] = {}
    for steps, flags in said:
        for step, flag in zip(steps.tolist(), flags.tolist(), strict=True):
            dead[step] = dead.get(step, False) or flag
    ordered = sorted(dead)
    return np.asarray(ordered, dtype=np.int64), np.asarray([dead[step] for step in ordered], dtype=bool)


def _unless_denied(run: Run, said: Said) -> Said:
    """Return what was said of some steps, unless their gradients deny it: without a KL penalty advantages of zero leave
    none, and these are as large as those of the steps that had something to learn from."""
    norm, steps, dead = run.get(GRADIENT), *said
    if norm is None or run.config.kl_coefficient or run.get("kl/coef") is not None:
        return said
    _, ours, theirs = np.intersect1d(steps, norm.steps[norm.finite], return_indices=True)
    sizes, flags = norm.numbers[theirs], dead[ours]
    if min(int(flags.sum()), int((~flags).sum())) < LEAST:
        return said
    denied = np.median(sizes[flags]) > np.median(sizes[~flags]) / 2 > 0
    return (steps, np.zeros_like(dead)) if denied else said


def _equal(run: Run, what: str) -> Said | None:
    """Tell where the lowest and the highest are one and the same; whitening leaves equal advantages equal."""
    low, high = run.get(f"{what}/min"), run.get(f"{what}/max")
    if low is None or high is None:
        return None
    steps, ours, theirs = np.intersect1d(low.steps, high.steps, return_indices=True)
    return steps, low.values[ours] == high.values[theirs]  # NaN equals nothing


def _constant(run: Run) -> Said | None:
    """Return whether the mean reward of every step is one number: no two groups, and so hardly two samples, ever
    differed."""
    series = run.get(REWARD)
    if series is None or series.points < LEAST:
        return None
    values = series.numbers
    if len(values) < LEAST or np.ptp(values) > 0:
        return None
    return series.steps[series.finite], np.ones(len(values), dtype=bool)


def _nearly_all(steps: NDArray[np.int64], dead: Flags) -> tuple[float, int | None]:
    """Return the probability that nearly all present steps are dead, and the last step before it was so."""
    if len(dead) < LEAST:
        return 0.0, None
    recent = dead[-present(len(dead)) :]
    hits, count = int(recent.sum()), len(recent)
    p = more_than(NEARLY_ALL, hits, count)
    return p, _mostly_since(steps, dead)


def _lately(steps: NDArray[np.int64], dead: Flags) -> tuple[float, int | None]:
    """Return the same of the last steps alone, if they are dead one after the other for longer than ever before: told
    before they are a good part of a long run, and not yet known to last."""
    spell = spell_at_the_end(dead)
    # What held so many times in a row holds the next time (Laplace).
    return ((spell + 1) / (spell + 2), int(steps[max(len(dead) - spell - 1, 0)])) if spell else (0.0, None)


def _mostly_since(steps: NDArray[np.int64], flags: Flags) -> int:
    """Return the last step before it was mostly so, over a spell of steps: one step sets no date."""
    width = min(SPELL, len(flags))
    mostly = np.convolve(flags, np.ones(width), mode="full")[: len(flags)] > width / 2
    return int(steps[max(last_before(mostly) - width // 2, 0)])


def _tied_samples(batches: tuple[Batch, ...]) -> tuple[float, int | None]:
    """Return the same from groups among the samples, where the log itself does not say."""
    recent = batches[-present(len(batches)) :] if batches else ()
    tied, all_ = sum(batch.tied for batch in recent), sum(batch.tied + batch.mixed for batch in recent)
    if all_ < SPELL or any(batch.mixed for batch in recent):
        return 0.0, None
    quiet = np.asarray([batch.mixed == 0 for batch in batches], dtype=np.bool_)
    p = more_than(NEARLY_ALL, tied, all_)
    return p, batches[last_before(quiet)].step
