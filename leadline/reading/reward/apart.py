"""Held-out rewards and components of the training reward, each read by itself and never merged with it."""

from __future__ import annotations

import re

from ...curve.bins import LEAST
from ...facts.reward import OtherReward
from ...questions.bars import SPELL
from ..view import View

MOST = 4  # series of a sort: a log with a hundred evaluation sets is not read whole
SCORES = re.compile(r"reward|score|acc|pass|solve|success|correct|win|return|maj|best|f1|\bem\b")
OTHERWISE = re.compile(
    r"std|len|loss|kl|entropy|time|token|clip|count|min\b|worst|truncat|num_|epoch|none|mixed|fail|error|invalid|penalt"
)
OF_SEVERAL = re.compile(r"(?:pass|best|maj)\w*[@_/](?!1\b)(?:\d+|k\b|n\b)|\b(?:best|maj)\b|max\b")  # luck of many tries
OF_GROUPS = re.compile(r"group/|\bgroups?_|solve_all|frac\b")  # how groups fall out, not what an answer is worth
COMPONENT = re.compile(r"reward/component/(?P<name>.+)/mean")


def held_out(view: View) -> tuple[OtherReward, ...]:
    """Each held-out reward and what it does."""
    return _each(view, held_out_names(view))


def components(view: View) -> tuple[OtherReward, ...]:
    """Each component of the training reward and what it does; none where it has only one, which is itself."""
    return _each(view, tuple(component_names(view).values()))


def held_out_names(view: View, least: int = LEAST) -> tuple[str, ...]:
    """Held-out scores with enough points to be read, `least` of them: those with many before those with few, plain
    scores before what the best of several tries or whole groups got, the best logged and the least special first."""
    names = [name for name in view.names(_is_held_out) if _points(view, name) >= least]
    return tuple(sorted(names, key=lambda name: _place(view, name))[:MOST])


def _place(view: View, name: str) -> tuple[bool, int, int, int, str]:
    series, points = view.run.get(name), _points(view, name)
    meant = name if series is None else f"{name} {series.key}"  # a name that was guessed may be plainer than its key
    odd = 2 if OF_GROUPS.search(meant) else 1 if OF_SEVERAL.search(meant) else 0
    return points < SPELL, odd, -points, name.count("/"), name


def component_names(view: View) -> dict[str, str]:
    """The components by their own names; none where there is only one."""
    found = {match["name"]: name for name in view.names(_is_component) if (match := COMPONENT.fullmatch(name))}
    return dict(sorted(found.items())[:MOST]) if len(found) > 1 else {}


def _each(view: View, names: tuple[str, ...]) -> tuple[OtherReward, ...]:
    shapes = ((name, view.shape(name)) for name in names)
    return tuple(OtherReward(name, shape.word, round(shape.p, 4)) for name, shape in shapes if shape is not None)


def _is_held_out(name: str) -> bool:
    return name.startswith("eval/") and bool(SCORES.search(name)) and not OTHERWISE.search(name)


def _is_component(name: str) -> bool:
    return COMPONENT.fullmatch(name) is not None


def _points(view: View, name: str) -> int:
    series = view.run.get(name)
    return 0 if series is None else int(series.finite.sum())
