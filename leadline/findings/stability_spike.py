"""Single values so large that they stand out in the raw log."""

from __future__ import annotations

from typing import ClassVar

from ..digits import number
from ..facts.finding import SAID, Evidence, Facts, Finding, Guide, Severity, Suspect, called, sentence_case
from ..questions.changes import Spike, spike_in, would_show
from ..questions.fall import p_fallen
from ..questions.level import SETTLED, SPELL
from ..reading.breaks import near, reward_fell_at
from ..reading.kl import ANY_KL
from ..reading.view import View
from ..records import dataclass, replace
from ..run import REWARD, Series

GUIDE = {
    "stability.spike": Guide(
        "A metric spiked: a few single values are far outside its usual range.",
        "Values twice as far from their neighborhood as any other and 10× the typical size.",
        "Check the batch of that step; clip gradients if the gradient norm spiked.",
    ),
}

SPIKING = ("grad_norm", *ANY_KL, "kl/update", "mismatch/kl", "loss/policy", "loss/total", "entropy")


@dataclass(frozen=True, slots=True)
class LoudValue:
    """Values of one series that are enormous by its own measure."""

    series: str
    step: int  # of the largest
    value: float
    usual: float  # the level around it
    count: int


@dataclass(frozen=True, slots=True)
class Spikes(Facts):
    """Series with enormous single values."""

    SUSPECT: ClassVar[Suspect | None] = ("learning_rate", "lower", "reward dropped where updates spiked")

    series: tuple[LoudValue, ...]
    reward_fell: bool | None  # at the step of one of them; None if too little was logged there to tell

    def say(self) -> str:
        said = sentence_case("; ".join(map(_loud, self.series)))
        after = {True: " Reward dropped there.", False: " Reward did not drop there.", None: ""}[self.reward_fell]
        return f"{said}.{after}"


def _loud(loud: LoudValue) -> str:
    more = f", largest of {loud.count} spikes" if loud.count > 1 else ""
    typical = f"typical {number(loud.usual)}{more}"
    return f"{called(loud.series)} spiked to {number(loud.value)} at step {loud.step} ({typical})"


def detect(view: View) -> tuple[Finding, ...]:
    """Report spikes of all series as one finding; a concern where the reward fell at one of them."""
    total = "loss/total" if view.run.get("loss/policy") is not None else None  # the same spike twice
    logged = [series for name in SPIKING if name != total and (series := view.run.get(name)) is not None]
    found = [(series, spike) for series in logged if (spike := _settled(series)) is not None]
    if not found:
        return ()
    first = min(spike.steps[0] for _, spike in found)
    p = max(spike.p for _, spike in found)
    if p <= SAID:
        return ()
    fell = _reward_fell(view, sorted({step for _, spike in found for step in (spike.steps[0], spike.step)}))
    values = (LoudValue(series.name, spike.step, spike.value, spike.usual, len(spike.steps)) for series, spike in found)
    facts = Spikes(tuple(values), fell)
    reach = round(near(view.run))
    evidence = tuple(Evidence(series.name, spike.steps[0] - reach, spike.steps[-1] + reach) for series, spike in found)
    severity: Severity = "concern" if fell else "note"
    return (Finding("stability.spike", round(p, 4), severity, since_step=first, evidence=evidence, facts=facts),)


def _reward_fell(view: View, steps: list[int]) -> bool | None:
    """Return whether the reward fell at one of these steps; None if that could not be seen, or it fell by and by."""
    logged, reward = view.run.get(REWARD), view.of(REWARD)
    seen = [step for step in steps if logged is not None and would_show(logged, step, near(view.run))]
    if any(reward_fell_at(view.whole, step) for step in seen):
        return True
    return False if reward is not None and len(seen) == len(steps) and p_fallen(reward.curve) <= 0.5 else None


def _settled(series: Series) -> Spike | None:
    """Return the loudest values that are not the run's first points. Where those are louder than all that follow, what
    follows is asked by itself, from where the start is surely over."""
    spike = spike_in(series)
    if spike is None:
        return None
    settled = int(series.steps[min(SETTLED, series.points - 1)])
    if spike.step < settled:
        later = slice(SPELL, None)
        spike = spike_in(replace(series, steps=series.steps[later], values=series.values[later], walls=None))
    return None if spike is None else replace(spike, steps=tuple(step for step in spike.steps if step >= settled))
