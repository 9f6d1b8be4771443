"""Sentences about gradient norm, entropy, clipping, sampler mismatch, and values that are no numbers."""

from __future__ import annotations

from collections.abc import Callable

from ..facts.stability import (
    BadValues,
    Degrading,
    EntropyMoved,
    GradientNorm,
    LoudValue,
    NotNumbers,
    SamplerMismatch,
    Spikes,
    StuckSeries,
    StuckValue,
)
from .numbers import listed, number
from .series import called, sentence_case


def gradient_norm(facts: GradientNorm) -> str:
    start, now = number(facts.start), number(facts.now)
    if facts.change == "jumped":
        return f"The gradient norm jumped {number(facts.factor or 1.0)}-fold at step {facts.step}, and reward was lost."
    if facts.change == "shrank":
        return f"Reward was lost and the gradient norm shrank from {start} to {now}: too little to recover with."
    risen = "while the reward rose" if facts.reward_rose else "without the reward rising"
    company = "while reward was lost" if facts.reward_lost else risen
    return f"The gradient norm grew from {start} to {now} {company}."


def entropy(facts: EntropyMoved) -> str:
    start, now = number(facts.start), number(facts.now)
    if facts.rose:
        return f"Entropy rose from {start} to {now} while reward was lost: the policy has become incoherent."
    return f"Entropy fell from {start} to {now} while reward was lost: the policy has collapsed onto something worse."


def mismatch(facts: SamplerMismatch) -> str:
    others = f" {facts.of_series} series show it." if facts.of_series > 1 else ""
    start, now = number(facts.start), number(facts.now)
    return f"Trainer and sampler drift apart: {facts.series} went from {start} to {now}.{others}"


def not_numbers(facts: NotNumbers) -> str:
    which = ", ".join(f"{called(values.series)} ({values.bad} of {values.points} values)" for values in facts.series)
    ended = [values for values in facts.series if values.trailing]
    return f"NaN, infinite or too large to be read since step {facts.first_step}: {which}. {_ended(ended)}"


def _ended(ended: list[BadValues]) -> str:
    if not ended:
        return "All came back to numbers; the bad values were left out."
    said = ", ".join(f"{called(values.series)} is no number any more ({_last(values.trailing)})" for values in ended)
    return f"{sentence_case(said)}."


def _last(count: int) -> str:
    return "its last value" if count == 1 else f"its last {count} values"


def spikes(facts: Spikes) -> str:
    said = sentence_case("; ".join(map(_loud, facts.series)))
    after = {True: " The reward fell there.", False: " The reward did not fall there.", None: ""}[facts.reward_fell]
    return f"{said}.{after}"


def _loud(loud: LoudValue) -> str:
    more = f", the largest of {loud.count} such values" if loud.count > 1 else ""
    return (
        f"{called(loud.series)} spiked to {number(loud.value)} at step {loud.step} (usually {number(loud.usual)}){more}"
    )


def stuck(facts: StuckSeries) -> str:
    return f"{sentence_case('; '.join(map(_stuck, facts.series)))}."


def _stuck(stuck: StuckValue) -> str:
    said = f"{called(stuck.series)} has been exactly {number(stuck.value)} since step {stuck.since_step}"
    if stuck.series == "entropy" and stuck.value == 0:
        return f"{said} ({stuck.points} points): the policy is deterministic and explores nothing"
    return f"{said} ({stuck.points} points)"


def degrading(facts: Degrading) -> str:
    moved = listed([f"{called(one.series)} {number(one.best)} → {number(one.now)}" for one in facts.measures])
    return f"Quality degrades since step ~{facts.since_step} while reward is flat: {moved}."


SENTENCES: dict[str, Callable[..., str]] = {
    "stability.grad_norm": gradient_norm,
    "stability.entropy": entropy,
    "signal.sampler_mismatch": mismatch,
    "signal.nan": not_numbers,
    "stability.spike": spikes,
    "stability.stuck": stuck,
    "stability.degrading": degrading,
}
