"""Many runs in words: what a scan did, why a run needs a person, and what to do about it."""

from __future__ import annotations

from .numbers import counted

NEED_CALLED = {
    "hacked": "Reward gamed",
    "falling": "Reward fell",
    "changed": "Responses changed",
    "broken": "No signal",
    "silent": "Silent",
    "wasting": "Plateau",
    "finished_rising": "Finished, still rising",
    "seeds": "Seeds disagree",
    "unclear": "Reward unknown",
}
NEED_DO = {
    "hacked": "Read some samples, then end it and go back to the best checkpoint.",
    "falling": "End it and go on from the best checkpoint.",
    "changed": "Read samples of before and after (leadline review); end it if the change is not wanted.",
    "broken": "Look at the reward function and the advantages; it learns nothing as it is.",
    "silent": "See whether the process still runs and its disk still takes what it writes.",
    "wasting": "End it and keep the best checkpoint; the rest of the plan buys little.",
    "finished_rising": "Extend it if the budget allows; it was still rising when it ended.",
    "seeds": "Compare the seeds: some are worth going on with, others are to be ended.",
    "unclear": "Say which key is the reward: leadline read PATH --map reward=KEY.",
}

ENDED_DO = {  # of a run that has ended anyway
    "hacked": "Read some samples, and go on from the best checkpoint, not from the last.",
    "falling": "Go on from the best checkpoint, not from the last.",
    "changed": "Read samples of before and after (leadline review), and decide which of the two to keep.",
    "broken": "Look at the reward function and the advantages before it is started again.",
}
NOTHING_TO_KEEP = "Read some samples; by this reward none of its checkpoints is worth more than the start."


def ended_the_reader(times: int) -> str:
    return (
        f"Reading it ended the reading process {counted(times, 'time')}, for want of memory or time; "
        "it is not tried again until it changes."
    )


def reading_failed(error: Exception) -> str:
    """A defect of ours, so that it can be reported."""
    said = next(iter(str(error).splitlines()), "")[:200]
    return f"Reading it failed: {type(error).__name__}{f': {said}' if said else ''}. Please report this."


def scanned(*, units: int, read: int, rows: int, unreadable: int, vanished: int, lost: int, seconds: float) -> str:
    """
    >>> scanned(units=3, read=2, rows=2, unreadable=1, vanished=0, lost=0, seconds=1.2)
    '3 places found, 2 read (2 rows, 1 unreadable), 1 unchanged; 1.2 s'
    """
    parts = [
        f"{counted(units, 'place')} found, {read} read ({counted(rows, 'row')}, {unreadable} unreadable), "
        f"{max(0, units - read)} unchanged"
    ]
    if vanished:
        parts.append(f"{counted(vanished, 'run')} vanished")
    if lost:
        parts.append(f"{counted(lost, 'reader')} lost and replaced")
    return "; ".join([*parts, f"{seconds:.1f} s"])
