"""Scores beside the trained reward: held out, of the same samples, and its components. Never merged with it.

`judged_in(view)`           the score that is judged: all that the verdict looks at beside findings
`held_out_names(view)`      held-out scores that can be read; `judges(view)`: the fittest to judge the run first
`independent(run, name)`    whether one is another measure than the trained reward, or that reward on other prompts
`problems(view, name)`      how many held-out problems stand behind it, where the log says
`grain(view, series)`       the difference that so many problems cannot tell
`second_scores(view)`       other measures of the training samples themselves: accuracy beside the reward
`missing(run)`              what a reader would look for that the run does not show
"""

from __future__ import annotations

import re

import numpy as np

from ..curve.cells import LEAST
from ..facts.finding import SAID
from ..facts.sections import Missing
from ..plan import Plan
from ..questions.direction import p_visibly_grew
from ..questions.fall import p_below_its_best, p_fallen, top_step
from ..questions.level import FEW_POINTS, SPELL, Trace
from ..records import dataclass
from ..run import REWARD, Run, Series
from ..text.numbers import calm
from ..vocabulary.names import tokens
from .view import Stretch, View, stretch_of

WHOLE = 0.1  # of a problem: right answers in percent are whole numbers of problems
SAME = 0.1  # of the reward's range: a held-out score so near is the same function
MOST = 4  # series of a sort: a log with a hundred evaluation sets is not read whole
SCORES = re.compile(r"reward|score|acc|pass|solve|success|correct|win|return|maj|best|f1|\bem\b")
OTHERWISE = re.compile(
    r"std|len|loss|kl|entropy|time|token|clip|count|min\b|worst|truncat|num_|epoch|none|mixed|fail|error|invalid|penalt"
)
OF_SEVERAL = re.compile(r"(?:pass|best|maj)\w*[@_/](?!1\b)(?:\d+|k\b|n\b)|\b(?:best|maj)\b|max\b")  # luck of many tries
OF_GROUPS = re.compile(r"group/|\bgroups?_|solve_all|frac\b")  # how groups fall out, not what an answer is worth
COMPONENT = re.compile(r"reward/component/(?P<name>.+)/mean")
ACCURACY = "reward/accuracy"
RIGHT = {"accuracy", "correct", "success", "solve", "pass", "win", "em", "f1", "task"}  # words for right answers
FORM = {"format", "json", "xml", "tag", "tags", "tool", "tools", "compile", "syntax", "length"}  # and for mere form
GOLD = {"gold", "golden", "oracle"}
REWARDED = {"reward", "score", "return"}
SIZE_WORDS = {"n", "num", "count", "size", "total", "number", "max"}
ITEMS = {
    "sample", "samples", "problem", "problems", "question", "questions", "prompt", "prompts", "example", "examples",
    "actions", "episode", "task", "tasks", "items", "instances",
}  # fmt: skip
ROUNDED = 1e-3  # of a range: what printing may have rounded off


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The score over the stretch that counts, and what is known about it."""

    run: Run
    plan: Plan
    score: Trace
    stretch: Stretch
    training: Trace | None  # the training reward, if a held-out score is judged
    scores: tuple[float, ...]  # of single responses
    grain: float  # what the problems behind a held-out score cannot tell from luck


def judged_in(view: View) -> Judged | None:
    """Return what is judged: the held-out score that is logged best, one that measures something else than the reward
    before the reward on other prompts; else the training reward, or the right answers among the training samples if
    these rose as it fell. None if there is no score."""
    for name in (*judges(view), *_rises_instead(view), REWARD):
        score = view.of(name)
        if view.plan is None or score is None:
            continue
        if name == REWARD or score.curve.decidable:
            return Judged(
                view.run,
                view.plan,
                score,
                stretch_of(view.whole, name),
                None if name == REWARD else view.of(REWARD),
                tuple(sample.score for batch in view.whole.batches for sample in batch.samples),
                grain(view, score.series),
            )
    return None


def held_out_names(view: View) -> tuple[str, ...]:
    """Return held-out scores with enough points to be read: those with many before those with few,
    plain scores before what the best of several tries or whole groups got, the best logged and the least special
    first, and among equals the one that gained most; else the one that lost most."""
    names = [name for name in view.names(_is_held_out) if _points(view, name) >= LEAST]
    return tuple(sorted(names, key=lambda name: (*_place(view, name), *_moved(view, name, len(names)), name))[:MOST])


def judges(view: View) -> tuple[str, ...]:
    """Return held-out scores in the order in which they are fit to judge the run: the trained reward on other prompts
    comes last if there is an independent one."""
    names = held_out_names(view)
    if not any(independent(view.run, name) for name in names):
        return names
    return tuple(sorted(names, key=_is_the_reward))


def _rises_instead(view: View) -> tuple[str, ...]:
    """Return measures of right answers that rose as the reward fell: then its other parts made it fall, or their
    weights."""
    reward = view.of(REWARD)
    if reward is None or p_below_its_best(reward.curve) <= 0.5:
        return ()
    return tuple(name for name in second_scores(view) if _rose_since(view.of(name), reward))


def gains_elsewhere(view: View) -> bool:
    """Return whether an independent score, held out or of the training samples, rose as the reward fell."""
    reward = view.of(REWARD)
    names = (*(name for name in judges(view) if independent(view.run, name)), *second_scores(view))
    return reward is not None and any(_rose_since(view.of(name), reward) for name in names)


def _rose_since(score: Trace | None, reward: Trace) -> bool:
    """Return whether a score stands visibly above its start, and above where it stood when the reward stood highest."""
    if score is None or p_visibly_grew(score.curve) <= 0.5 or p_fallen(score.curve) >= 0.5:
        return False
    return score.now - score.at(top_step(reward)) > score.curve.noise


def _is_the_reward(name: str) -> bool:
    said = {*tokens(name)}
    return bool(said & REWARDED) and not said & GOLD


def second_scores(view: View) -> tuple[str, ...]:
    """Return other measures of the samples that were trained on: the share of right answers, then components of the
    reward that measure right answers, the best logged first. What only repeats the reward is none."""
    parts = ((name, {*tokens(name)}) for name in view.names(COMPONENT.fullmatch))
    names = (ACCURACY, *(name for name, said in parts if said & RIGHT and not said & FORM))
    found = [name for name in names if _points(view, name) >= LEAST and not _is_copy(view.run, name, REWARD)]
    return tuple(sorted(found, key=lambda name: (name != ACCURACY, -_points(view, name), name))[:MOST])


def missing(run: Run, planned: int | None) -> tuple[Missing, ...]:
    """Return what was looked for in `run` and not found. `planned`: its last step, by itself or by --budget."""
    names = {series.name for series in run.series}
    shown = {
        "reward": REWARD in names,
        "held-out reward": any(name.startswith("eval/") for name in names),
        "reference KL": any(name.startswith(("kl/ref", "kl/unidentified")) for name in names),
        "rollouts": bool(run.rollouts),
        "checkpoints": bool(run.checkpoints),
        "planned steps": planned is not None,
        "telemetry": bool(run.telemetry),
    }
    if shown["held-out reward"]:
        scores = [name for name in names if _is_held_out(name)]
        shown["independent score"] = not scores or any(independent(run, name) for name in scores)
    return tuple(Missing(what, run.framework) for what, there in shown.items() if not there)


def independent(run: Run, name: str) -> bool:
    """Return whether a held-out score measures something else than the trained reward: gold, accuracy, exact match, win
    rate. The trained reward on other prompts, also in another unit or counted by groups, cannot see what the reward
    does not see."""
    series = run.get(name)
    if series is None:
        return False
    said = {*tokens(name), *tokens(series.key)}
    if said & GOLD:
        return True
    if said & {*REWARDED, "group"} or "reward" in tokens(series.kind) or _keeps_to_reward(run, series):
        return False
    rewards = [one.name for one in run.series if _is_held_out(one.name) and {*tokens(one.name)} & REWARDED]
    return not any(_is_copy(run, name, other) for other in rewards)


def problems(view: View, name: str) -> int | None:
    """Return how many held-out problems a score is the mean of, as the log or the settings say; None if they do not."""
    series = view.run.get(name)
    if series is None:
        return None
    sizes = [one for one in (*view.run.series, *view.run.unread) if _is_size(one.key) and one.finite.any()]
    sizes.sort(key=lambda one: -len({*tokens(one.key)} & {*tokens(series.key)}))
    counts = [float(np.median(one.numbers)) for one in sizes]
    set_to = [value for key, value in view.run.config.raw.items() if _is_size(key)]
    counts += [float(value) for value in set_to if isinstance(value, (int, float))]
    return next((int(count) for count in counts if count >= 1 and count == int(count)), None)


def grain(view: View, series: Series) -> float:
    """Return the difference between two steps of a held-out score that its problems cannot tell from luck: the standard
    error of as many right-or-wrong answers, in its own unit. Two steps share their problems, and with them half of
    their variance, so this is that of a difference, too. 0 if the number of problems or the unit is not known."""
    values = series.numbers
    count = problems(view, series.name) if _is_held_out(series.name) and len(values) else None
    if count is None or float(values.min()) < 0:
        return 0.0
    most = 1.0
    if float(values.max()) > 1:  # right answers in percent are whole numbers of problems
        most = 100.0
        solved = values * count / most
        if float(values.max()) > most or float(np.abs(solved - np.round(solved)).max()) > WHOLE:
            return 0.0
    return float(np.sqrt(np.mean(values * (most - values)) / count))


def _is_size(key: str) -> bool:
    said = {*tokens(key)}
    return "eval" in said and bool(said & SIZE_WORDS) and bool(said & ITEMS)


def _is_copy(run: Run, name: str, of: str) -> bool:
    """Return whether two series are one at the steps that both hold, in its unit or another."""
    one, other = run.get(name), run.get(of)
    if one is None or other is None:
        return False
    left, right = one.beside(other)
    if len(left) <= FEW_POINTS or np.ptp(left) == 0 or np.ptp(right) == 0:
        return False
    slope = float(np.cov(left, right)[0, 1] / np.var(left, ddof=1))
    away = right - right.mean() - slope * (left - left.mean())
    return slope > 0 and float(np.abs(away).max()) < ROUNDED * float(np.ptp(right))


def _keeps_to_reward(run: Run, series: Series) -> bool:
    """Return whether a held-out score stays at the training reward all along: the same function on other prompts."""
    reward = run.get(REWARD)
    if reward is None or reward.finite.sum() < 2 or series.finite.sum() < FEW_POINTS:
        return False
    values = calm(reward.numbers)
    beside = np.interp(series.steps[series.finite], reward.steps[reward.finite], values)
    away = float(np.median(np.abs(series.numbers - beside)))
    return away < SAME * float(np.ptp(values))


def _moved(view: View, name: str, count: int) -> tuple[int, float]:
    """Return whether a score gained, fell, or neither, and how far, in units of its noise: less than 0, the further the
    lower. The best or worst of so many moved by chance more often."""
    score, sure = view.readable(name), 1 - (1 - SAID) / count
    if score is None or not score.curve.noise > 0:
        return 2, 0.0
    way = 0 if p_visibly_grew(score.curve) > sure else 1 if p_fallen(score.curve) > sure else 2
    return way, 0.0 if way == 2 else -abs(score.now - score.start) / score.curve.noise


def _place(view: View, name: str) -> tuple[bool, int, int, int]:
    series, points = view.run.get(name), _points(view, name)
    meant = name if series is None else f"{name} {series.key}"  # a name that was guessed may be plainer than its key
    odd = 2 if OF_GROUPS.search(meant) else 1 if OF_SEVERAL.search(meant) else 0
    return points < SPELL, odd, -points, name.count("/")


def component_names(view: View) -> dict[str, str]:
    """Return the components by their own names; none where there is only one."""
    found = {match["name"]: name for name in view.names(COMPONENT.fullmatch) if (match := COMPONENT.fullmatch(name))}
    return dict(sorted(found.items())[:MOST]) if len(found) > 1 else {}


def _is_held_out(name: str) -> bool:
    return name.startswith("eval/") and bool(SCORES.search(name)) and not OTHERWISE.search(name)


def _points(view: View, name: str) -> int:
    series = view.run.get(name)
    return 0 if series is None else int(series.finite.sum())
