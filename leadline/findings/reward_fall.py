"""Reward that was there and is gone: after a peak, or from the start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..facts import Evidence, Facts, Finding, Guide, Meaning, Severity
from ..questions.bars import SAID
from ..questions.fall import Fall, fall_of
from ..questions.level import steps_seen
from ..reading.reward.breaks import AccountedBreak, breaks_of
from ..reading.reward.stretch import reward_now
from ..reading.view import HEADLINE, View
from ..words.numbers import number, went

GUIDE = {
    "reward.peaked": Guide(
        "The reward peaked and has dropped since.",
        "The share of posterior curves that end clearly below their own peak.",
        "Roll back to a checkpoint near the peak. A sudden drop points to one update; a slow one to a learning rate "
        "that is too high or a KL coefficient that is too low.",
    ),
    "reward.declining": Guide(
        "The reward has declined since the start.",
        "The share of posterior curves that end clearly below their own peak.",
        "Check the sign of the reward and the advantages, then the learning rate.",
    ),
}
MEANS: dict[str, Meaning] = {"reward.peaked": "lost", "reward.declining": "lost"}


@dataclass(frozen=True, slots=True)
class RewardFall(Facts):
    """The reward has fallen, after a peak or from the start."""

    high: float
    high_step: int
    now: float
    start: float  # where it started from
    peaked: bool  # it rose before it fell
    sudden_step: int | None  # where most of the fall happened at once

    def say(self) -> str:
        drop = went(self.high, self.now)
        how = "" if self.sudden_step is None else f", mostly at step {self.sudden_step}"
        if not self.peaked:
            return f"Reward declined {drop}{how}."
        below = f": now below its start of {number(self.start)}" if self.now < self.start else ""
        return f"Reward peaked at step ~{self.high_step} and dropped {drop}{how}{below}."


def detect(view: View) -> tuple[Finding, ...]:
    """A decline of the training reward, once the paths agree on it."""
    curve, logged, breaks = reward_now(view), view.run.get(HEADLINE), breaks_of(view)
    fall = None if curve is None or logged is None else fall_of(curve, logged)
    if curve is None or fall is None or fall.p <= SAID:
        return ()
    facts = RewardFall(
        high=fall.high,
        high_step=fall.from_step,
        now=fall.now,
        start=fall.start,
        peaked=fall.peak is not None,
        sudden_step=_sudden(fall, breaks),
    )
    severity: Severity = "critical" if fall.ruined and fall.visible else "concern"
    name = "reward.peaked" if facts.peaked else "reward.declining"
    evidence = (Evidence(HEADLINE, fall.from_step, steps_seen(curve)[1]),)
    since = begun(fall, breaks)
    return (Finding(name, round(fall.p, 4), severity, since_step=since, evidence=evidence, facts=facts),)


def begun(fall: Fall, breaks: Sequence[AccountedBreak]) -> int:
    """Since when it has fallen: where most of it happened at once, if it did."""
    sudden = _sudden(fall, breaks)
    return fall.since_step if sudden is None else sudden


def _sudden(fall: Fall, breaks: Sequence[AccountedBreak]) -> int | None:
    """Where most of the fall happened at once."""
    down = next((broke for broke in breaks if broke.fell and broke.found.step >= fall.top_step), None)
    if down is None or down.unlogged or -down.found.size <= (fall.high - fall.now) / 2:
        return None
    return round(down.found.step)
