"""Many runs in words: what a scan did, why a run needs attention, and what to do about it."""

from __future__ import annotations

from ..digits import counted

NEED_CALLED = {
    "hacked": "Reward hacking",
    "falling": "Reward dropped",
    "changed": "Responses changed",
    "broken": "No gradient signal",
    "silent": "Silent",
    "wasting": "Plateau",
    "finished_rising": "Finished, still rising",
    "seeds": "Seeds disagree",
    "unclear": "No reward metric",
}
NEED_DO = {
    "hacked": "Read samples, then stop it and roll back to the best checkpoint.",
    "falling": "Stop it and resume from the best checkpoint.",
    "changed": "Compare samples from before and after (leadline review); stop it if the change is unwanted.",
    "broken": "Check the reward function and the advantages: it is not learning.",
    "silent": "Check that the process is alive and its disk is writable.",
    "wasting": "Stop it and keep the best checkpoint; the rest of the plan gains little.",
    "finished_rising": "Extend it if the budget allows: reward was still rising.",
    "seeds": "Compare the seeds: some are worth continuing, others should stop.",
    "unclear": "Map the reward: leadline read PATH --map reward=KEY.",
}

ENDED_DO = {  # of a run that has ended anyway
    "hacked": "Read samples, and resume from the best checkpoint, not the last.",
    "falling": "Resume from the best checkpoint, not the last.",
    "changed": "Compare samples from before and after (leadline review), and decide which to keep.",
    "broken": "Check the reward function and the advantages before restarting it.",
}
NOTHING_TO_KEEP = "Read samples; by this reward, no checkpoint is better than the start."


def ended_the_reader(times: int) -> str:
    return f"Reading it killed the reader {counted(times, 'time')} (out of memory or time); skipped until it changes."


def reading_failed(error: Exception) -> str:
    """Say that reading failed: a defect of ours, so that it can be reported."""
    said = next(iter(str(error).splitlines()), "")[:200]
    return f"Reading it failed: {type(error).__name__}{f': {said}' if said else ''}. Please report this."


def scanned(*, units: int, read: int, rows: int, unreadable: int, vanished: int, lost: int, stopped: bool) -> str:
    """
    >>> scanned(units=3, read=2, rows=2, unreadable=1, vanished=0, lost=0, stopped=False)
    '3 places found, 2 read (2 rows, 1 unreadable), 1 unchanged'
    >>> scanned(units=3, read=2, rows=2, unreadable=1, vanished=0, lost=0, stopped=True)
    '3 places found, 2 read (2 rows, 1 unreadable), 1 unchanged or left; stopped early, scan again to resume'
    """
    parts = [
        f"{counted(units, 'place')} found, {read} read ({counted(rows, 'row')}, {unreadable} unreadable), "
        f"{max(0, units - read)} unchanged{' or left' if stopped else ''}"
    ]
    if vanished:
        parts.append(f"{counted(vanished, 'run')} vanished")
    if lost:
        parts.append(f"{counted(lost, 'reader')} lost and replaced")
    if stopped:
        parts.append("stopped early, scan again to resume")
    return "; ".join(parts)
