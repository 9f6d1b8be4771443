"""Which stretch of the run counts.

It is the one since the training reward last stepped to another level without the policy having a part in it. Levels
before such a step are of another task, another reward function or another log; nothing is lost against them, and
nothing is won by going back to them.
"""

from __future__ import annotations

from ..facts.finding import Cause
from ..questions.fall import p_fallen
from ..records import dataclass
from ..run import HEADLINE, Series
from .breaks import breaks_of
from .whole import Whole


@dataclass(frozen=True, slots=True)
class Stretch:
    """The part of the run whose levels can be compared with that of now."""

    first: float | None = None  # its first step; None: all of the run
    why: Cause | None = None  # what began it

    def of(self, series: Series) -> Series:
        """Return the part of a series that counts."""
        return series if self.first is None else series.since(self.first)


ALL = Stretch()


def current(whole: Whole) -> Stretch:
    """Return the stretch that counts now."""
    return whole.once("stretch", lambda: _current(whole))


def stretch_of(whole: Whole, name: str) -> Stretch:
    """Return the stretch that counts of a series. A held-out score has prompts of its own: it counts whole, unless it
    stepped where the training reward did."""
    stretch = current(whole)
    if stretch.first is None or not name.startswith("eval/"):
        return stretch
    score = whole.of(name)
    found = () if score is None else score.curve.breaks
    return stretch if any(one.interval[0] <= stretch.first <= one.interval[1] for one in found) else ALL


def _current(whole: Whole) -> Stretch:
    outside = [
        Stretch(broke.found.step, broke.cause) for broke in breaks_of(whole) if broke.from_outside and not broke.slight
    ]
    return max((*outside, *_slid(whole)), key=lambda stretch: stretch.first or 0.0, default=ALL)


def _slid(whole: Whole) -> tuple[Stretch, ...]:
    """Return where a reward fell after its prompts changed, at once or by and by: more than half of the fall came
    after."""
    reward = whole.of(HEADLINE)
    if reward is None or p_fallen(reward.curve) <= 0.5:
        return ()
    fall = reward.fall
    if fall is None:
        return ()
    half = (fall.high + fall.now) / 2
    changes = [change.prompts for change in whole.prompt_changes if change.prompts.after >= fall.top_step]
    return tuple(
        Stretch(float(change.after), Cause("prompts", prompts=change))
        for change in changes
        if reward.at(change.before) > half
    )
