"""What happened to a run or its log: one clause each, which a finding may quote as a cause."""

from __future__ import annotations

from ..event import Because, Damaged, Ended, Evaluated, Event, NewReference, RateStep, Resumed, WarmUpEnd
from ..facts import Mentioned
from .numbers import counted, several

SHOWN = 5  # files named in one clause
ENDINGS: dict[Because, str] = {
    "completed": "the trainer reports the end of training",
    "cancelled": "the scheduler cancelled the job",
    "time_limit": "the job hit its time limit",
    "preempted": "the scheduler preempted the job",
    "out_of_memory": "the job was killed: out of memory",
}


def sentence(event: Event) -> str:
    """The event in words, with its step; of one that was told before only what it was."""
    facts, step = event.facts, event.step
    if isinstance(event, Mentioned):
        return f"the {event.kind.replace('_', ' ')} at step {step}"
    match facts:
        case str():
            return facts  # the words of another program
        case WarmUpEnd(rate):
            return f"learning-rate warm-up ends at step {step}, at {rate:.3g}"
        case RateStep(before, after):
            verb = "jumps" if after > before else "drops"
            return f"the learning rate {verb} from {before:.3g} to {after:.3g} at step {step}"
        case NewReference():
            return _new_reference(facts, step)
        case Evaluated(every):
            return f"evaluated {'at every step' if every == 1 else f'every {every} steps'} from step {step} on"
        case Resumed(later_log):
            return f"a later log continues at step {step}" if later_log else f"the run resumes at step {step}"
        case Damaged():
            return _damaged(facts, step)
        case Ended(because):
            return f"{ENDINGS[because]} after step {step}"
    return f"{event.kind.replace('_', ' ')} at step {step}"


def _new_reference(facts: NewReference, step: int) -> str:
    if facts.every is not None:
        return f"from step {step} on the reference model is reset every {facts.every} steps"
    if facts.by_kl:
        return f"KL drops to nearly zero at step {step}: the reference model was reset"
    return f"the reference model is reset at step {step}"


def _damaged(facts: Damaged, step: int) -> str:
    if facts.because == "too_large":
        files = counted(len(facts.files), "remote file")
        return f"{files} not fetched, too large: {several(facts.files, SHOWN)}"
    if facts.files:
        return f"{several(facts.files, SHOWN)} breaks off and was passed over"
    if facts.line is not None:
        return f"line {facts.line} could not be read and was skipped"
    return f"the log breaks off after step {step}; complete rows before it were read"
