"""Which series runs are compared by, and which runs can take part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ..curve.bins import LEAST
from ..errors import LeadlineError
from ..facts.comparison import LeftOut, NoClock, TooFewPoints, Unit
from ..reading.reward import HEADLINE
from ..reading.reward.apart import OTHERWISE, SCORES, held_out_names
from ..reading.view import View
from ..run import Run, Series
from ..words import compare as words
from ..words.numbers import several
from .clocks import clock_of
from .gather import Gathered
from .groups import Group, Grouping, Member


def series_of(run: Run, name: str) -> Series | None:
    """A series by its canonical name or its key, with at least one number in it."""
    found = run.get(name) or next((series for series in (*run.series, *run.unread) if series.key == name), None)
    return found if found is not None and found.finite.any() else None


def key_of(run: Run, name: str) -> str:
    found = series_of(run, name)
    return "" if found is None else found.key


def held_out(grouping: Grouping, views: Mapping[str, View]) -> tuple[str, ...]:
    """Held-out scores that every run logs, in the order of the first run."""
    logged = [held_out_names(views[member.name]) for group in grouping.groups for member in group.members]
    return tuple(name for name in logged[0] if all(name in others for others in logged))


def judged_by(grouping: Grouping, views: Mapping[str, View]) -> str:
    """The held-out score where all runs log one, else the reward, else an error that names what is there."""
    scores = held_out(grouping, views)
    if scores:
        return scores[0]
    runs = [views[member.name].run for group in grouping.groups for member in group.members]
    if sum(series_of(run, HEADLINE) is not None for run in runs) >= 2:
        return HEADLINE
    names = [{series.name for series in (*run.series, *run.unread)} for run in runs]
    common = sorted(set.intersection(*names)) if names else []
    there = f"all of them log {several(common)}" if common else "and no series is common to all of them"
    raise LeadlineError(
        f"Fewer than two of the {len(runs)} runs log a reward, {there}.",
        tried=", ".join(run.path for run in runs),
        next_step="name the series to compare with --by NAME, or say which key is the reward with --map reward=KEY",
    )


def on_clock(gathered: Gathered, unit: Unit) -> tuple[Grouping, tuple[LeftOut, ...]]:
    """Without the runs that do not keep this clock."""
    return _kept(
        gathered.grouping,
        gathered.left_out,
        lambda member: NoClock(unit) if clock_of(member.run, unit) is None else None,
        f"--clock {unit} needs two runs that log it; --clock step always works",
    )


def logging(grouping: Grouping, name: str) -> tuple[Grouping, tuple[LeftOut, ...]]:
    """Without the runs that do not log the series by which runs are judged."""
    return _kept(
        grouping,
        (),
        lambda member: _too_few(member.run, name),
        "name a series that the runs have in common with --by; `leadline sources PATH` lists them",
    )


def _too_few(run: Run, name: str) -> TooFewPoints | None:
    series = series_of(run, name)
    points = 0 if series is None else int(series.finite.sum())
    return None if points >= LEAST else TooFewPoints(name, points)


def more_is_better(name: str) -> bool:
    """Whether a series is a reward or a score, by its name: of others nobody can say which way is good."""
    return bool(SCORES.search(name)) and not OTHERWISE.search(name)


def _kept(
    grouping: Grouping,
    left_out: tuple[LeftOut, ...],
    why_not: Callable[[Member], NoClock | TooFewPoints | None],
    next_step: str,
) -> tuple[Grouping, tuple[LeftOut, ...]]:
    left, groups = list(left_out), []
    for group in grouping.groups:
        fit = []
        for member in group.members:
            why = why_not(member)
            if why is None:
                fit.append(member)
            else:
                left.append(LeftOut(member.name, why))
        if fit:
            groups.append(Group(group.name, tuple(fit)))
    if sum(map(len, groups)) < 2:
        reasons = "; ".join(f"{run.name}: {words.left_out(run)}" for run in left)
        raise LeadlineError(
            f"Fewer than two runs can be compared ({reasons}).",
            tried=", ".join(member.name for group in grouping.groups for member in group.members),
            next_step=next_step,
        )
    return replace(grouping, groups=tuple(groups)), tuple(left)
