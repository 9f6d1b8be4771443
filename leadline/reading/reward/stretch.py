"""Which stretch of the run counts: the one since the training reward last stepped to another level without the policy
having a part in it. Levels before such a step are of another task, another reward function or another log; nothing is
lost against them, and nothing is won by going back to them. Asked once, for every reader and the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from ...curve import Curve
from ...facts.cause import Cause
from ...run import Series
from ..view import HEADLINE, View
from .breaks import account_for


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
    found = () if curve is None else (account_for(view, one) for one in curve.breaks)
    outside = [broke for broke in found if broke.from_outside and not broke.slight]
    if not outside:
        return WHOLE
    last = max(outside, key=lambda broke: broke.found.step)
    return Stretch(last.found.step, last.cause)
