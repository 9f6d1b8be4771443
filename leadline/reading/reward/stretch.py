"""Which stretch of the run counts: the one since the training reward last stepped to another level without the policy
having a part in it. Levels before such a step are of another task, another reward function or another log; nothing is
lost against them, and nothing is won by going back to them. Asked once, for every reader and the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from ...curve import Curve
from ...facts.cause import Cause
from ...questions.bars import EVEN
from ...questions.fall import fall_of, p_fallen
from ...questions.level import level_at
from ...run import Series
from ..prompts import changes_of_prompts
from ..view import HEADLINE, View
from .breaks import breaks_of


@dataclass(frozen=True, slots=True)
class Stretch:
    """The part of the run whose levels can be compared with that of now."""

    first: float | None = None  # its first step; None: all of the run
    why: Cause | None = None  # what began it

    def of(self, series: Series) -> Series:
        """The part of a series that counts."""
        return series if self.first is None else series.since(self.first)


WHOLE = Stretch()


def current(view: View) -> Stretch:
    """The stretch that counts now."""
    return view.once("stretch", lambda: _current(view))


def stretch_of(view: View, name: str) -> Stretch:
    """The same for a reward by its name. A held-out score has prompts of its own: it counts whole, unless it stepped
    where the training reward did."""
    stretch = current(view)
    if name == HEADLINE or stretch.first is None:
        return stretch
    curve = view.curve(name)
    found = () if curve is None else curve.breaks
    return stretch if any(one.interval[0] <= stretch.first <= one.interval[1] for one in found) else WHOLE


def reward_now(view: View) -> Curve | None:
    """The curve of the training reward over the stretch that counts."""
    series = view.run.get(HEADLINE)
    if series is None or not series.finite.any():
        return None
    stretch = current(view)
    return view.curve(HEADLINE) if stretch.first is None else view.fit(stretch.of(series))


def _current(view: View) -> Stretch:
    curve = view.curve(HEADLINE)
    outside = [
        Stretch(broke.found.step, broke.cause) for broke in breaks_of(view) if broke.from_outside and not broke.slight
    ]
    return max((*outside, *_slid(view, curve)), key=lambda stretch: stretch.first or 0.0, default=WHOLE)


def _slid(view: View, curve: Curve | None) -> tuple[Stretch, ...]:
    """A reward that fell after its prompts changed, at once or by and by: more than half of the fall came after."""
    logged = view.run.get(HEADLINE)
    fall = None if curve is None or logged is None or p_fallen(curve) <= EVEN else fall_of(curve, logged)
    if fall is None or logged is None or curve is None:
        return ()
    half = (fall.high + fall.now) / 2
    changes = [change.prompts for change in changes_of_prompts(view) if change.prompts.after >= fall.top_step]
    return tuple(
        Stretch(float(change.after), Cause("prompts", prompts=change))
        for change in changes
        if level_at(curve, logged, change.before) > half
    )
