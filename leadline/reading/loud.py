"""What nobody could overlook in the raw log: single values that are enormous, and series that end on one number."""

from __future__ import annotations

from dataclasses import replace

from ..facts import Evidence, Finding, Severity
from ..facts.stability import LoudValue, Spikes, StuckSeries, StuckValue
from ..questions.bars import HABIT, SAID, SPELL
from ..questions.shift import would_show
from ..questions.spike import Spike, spike_in
from ..questions.stuck import stuck_at
from ..run import Series
from .kl_and_reward.distance import UNIDENTIFIED
from .learning_signal import no_entropy
from .shifts import near, shifts_at
from .view import HEADLINE, View

REFERENCE = ("kl/ref", "kl/ref_seq_sum", UNIDENTIFIED)  # a KL of whatever kind can spike and stick
SPIKING = ("grad_norm", *REFERENCE, "kl/update", "mismatch/kl", "loss/policy", "loss/total", "entropy")
STICKING = (HEADLINE, "entropy", *REFERENCE)  # a gradient norm of 0 is told as no learning signal


def read(view: View) -> tuple[Finding, ...]:
    """Spikes and stuck series."""
    return (*_spikes(view), *_stuck(view))


def _spikes(view: View) -> tuple[Finding, ...]:
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
    """Whether the reward fell at one of these steps; None where that could not be seen."""
    reward = view.run.get(HEADLINE)
    seen = [step for step in steps if reward is not None and would_show(reward, step, near(view.run))]
    if any(shift.size < 0 for step in seen for shift in shifts_at(view, step, (HEADLINE,))):
        return True
    return False if len(seen) == len(steps) else None


def _settled(series: Series) -> Spike | None:
    """The loudest values that are not the run's first points. Where those are louder than all that follow, what
    follows is asked by itself, from where the start is surely over."""
    spike = spike_in(series)
    if spike is None:
        return None
    settled = int(series.steps[min(HABIT, series.points - 1)])
    if spike.step < settled:
        spike = spike_in(_from(series, SPELL))
    return None if spike is None else replace(spike, steps=tuple(step for step in spike.steps if step >= settled))


def _from(series: Series, place: int) -> Series:
    return replace(series, steps=series.steps[place:], values=series.values[place:], walls=None)


def _stuck(view: View) -> tuple[Finding, ...]:
    told = ("entropy",) if no_entropy(view.run) else ()  # the same twice
    logged = [series for name in STICKING if name not in told and (series := view.run.get(name)) is not None]
    found = [(series, stuck) for series in logged if (stuck := stuck_at(series)) is not None]
    if not found:
        return ()
    values = (StuckValue(series.name, stuck.value, stuck.since_step, stuck.points) for series, stuck in found)
    facts = StuckSeries(tuple(values))
    first = min(stuck.since_step for _, stuck in found)
    bad = any(_worthless(series, stuck.value) for series, stuck in found)
    evidence = tuple(Evidence(series.name, stuck.since_step, int(series.steps[-1])) for series, stuck in found)
    severity: Severity = "concern" if bad else "note"
    return (Finding("stability.stuck", 1.0, severity, since_step=first, evidence=evidence, facts=facts),)


def _worthless(series: Series, value: float) -> bool:
    """A policy that tries nothing any more, or a reward that pays every answer the same and has paid more."""
    values = series.values[series.finite]
    if series.name == HEADLINE:
        return value < float(values.max())
    return series.name == "entropy" and value <= float(values.min())
