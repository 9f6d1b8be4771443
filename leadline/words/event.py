"""What happened to a run or its log: one clause each, which a finding may quote as a cause."""

from __future__ import annotations

from ..event import Because, Damaged, Ended, Evaluated, Event, NewReference, RateStep, Resumed, WarmUpEnd
from ..facts import Mentioned
from .numbers import counted, number, several, went

SHOWN = 5  # files named in one clause
ENDINGS: dict[Because, str] = {
    "completed": "trainer reported completion",
    "cancelled": "scheduler canceled the job",
    "time_limit": "job hit its time limit",
    "preempted": "scheduler preempted the job",
    "out_of_memory": "job ran out of memory and was killed",
}
NAMES = {"learning_rate": "learning-rate change"}


def sentence(event: Event) -> str:
    """Return an event with its step; one that was told before is only named."""
    facts, step = event.facts, event.step
    if isinstance(event, Mentioned):
        return f"the {_name(event)} at step {step}"
    match facts:
        case str():
            return facts  # the words of another program
        case WarmUpEnd(rate):
            return f"learning-rate warmup ended at step {step} ({number(rate)})"
        case RateStep(before, after):
            verb = "jumped" if after > before else "dropped"
            return f"learning rate {verb} {went(before, after)} at step {step}"
        case NewReference():
            return _new_reference(facts, step)
        case Evaluated(every):
            return f"evals {'at every step' if every == 1 else f'every {every} steps'} since step {step}"
        case Resumed(later_log):
            return f"a later log continues at step {step}" if later_log else f"run resumed at step {step}"
        case Damaged():
            return _damaged(facts, step)
        case Ended(because):
            return f"{ENDINGS[because]} after step {step}"
    return f"{_name(event)} at step {step}"


def on_a_timeline(event: Event) -> str:
    """The event by its name and step, with its numbers unless it was told before."""
    detail = ""
    match event.facts:
        case str() if not isinstance(event, Mentioned):
            detail = f"; {event.facts}"
        case RateStep(before, after) if not isinstance(event, Mentioned):
            detail = f"; {went(before, after)}"
        case WarmUpEnd(rate) if not isinstance(event, Mentioned):
            detail = f"; end of warmup, {number(rate)}"
        case NewReference(every) if every is not None and not isinstance(event, Mentioned):
            detail = f"; every {every} steps"
        case NewReference(by_kl=True) if not isinstance(event, Mentioned):
            detail = "; seen in KL"
        case Resumed(True) if not isinstance(event, Mentioned):
            detail = "; a later log"
    return f"{event.kind.replace('_', ' ')} ({event.step}{detail})"


def _name(event: Event) -> str:
    return NAMES.get(event.kind, event.kind.replace("_", " "))


def _new_reference(facts: NewReference, step: int) -> str:
    if facts.every is not None:
        return f"reference policy reset every {facts.every} steps since step {step}"
    if facts.by_kl:
        return f"reference policy reset at step {step} (KL dropped to nearly zero)"
    return f"reference policy reset at step {step}"


def _damaged(facts: Damaged, step: int) -> str:
    if facts.because == "too_large":
        files = counted(len(facts.files), "remote file")
        return f"{files} not fetched (too large): {several(facts.files, SHOWN)}"
    if facts.files:
        return f"skipped {counted(len(facts.files), 'truncated file')}: {several(facts.files, SHOWN)}"
    if facts.line is not None:
        return f"line {facts.line} is unreadable and was skipped"
    return f"log is truncated after step {step}; complete rows before it were read"
