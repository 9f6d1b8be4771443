"""The page of all runs, in words."""

from __future__ import annotations

import time

from .fleet import ENDED_DO, NEED_CALLED, NEED_DO, NOTHING_TO_KEEP
from .numbers import counted, number, sure

TITLE = "Leadline"
GROUPS = {
    "person": "Needs a person now",
    "training": "Training",
    "finished": "Finished",
    "silent": "Silent",
    "unreadable": "Unreadable",
    "gone": "No longer found",
}
STILL_RUNNING = "Running, or broken off"
ENDED_LATELY = "Ended in the last days"
CHOICES = {**GROUPS, **NEED_CALLED, "roll_back": "roll back", "p": "chance that going on pays", "last": "last row"}
CHOICES |= {"hours": "hours so far", "left": "GPU-hours to go"}
NOTHING_NEEDED = "No run needs a person now."
NOTHING_KEPT = "No run was scanned yet: leadline scan ROOT, or start this page with ROOT."
NOTHING_FOUND = "No run matches."
READ_ONLY = "This page was started read-only; start it with --allow-act to acknowledge, mute and note."
FILES_GONE = "The files of this run cannot be read from here; this is what was kept when it was last scanned."
NOT_SIGNED_IN = "Open the address that `leadline serve` printed: it holds the token of this page."
NO_SUCH_RUN = "There is no such run on the shelf."
OUTSIDE = "The path of this run leads out of the folder that was scanned, so it is not opened."
COMPARE_TWO = "Choose two runs or more to compare."


def need_and_why(need: str, why: str) -> str:
    """
    >>> need_and_why("Reward fell", "Reward has fallen by a third."), need_and_why("", "Reward is rising.")
    ('Reward fell: Reward has fallen by a third.', 'Reward is rising.')
    """
    return f"{need}: {why}" if need else why


def agents_at(address: str) -> str:
    return f"agents: {address} (Model Context Protocol)"


COLUMNS = {
    "name": "Run",
    "spark": "Reward",
    "verdict": "Verdict",
    "why": "Why",
    "steps": "Steps",
    "p": "Going on pays",
    "best": "Best checkpoint",
    "last": "Last row",
    "hours": "Hours",
    "left": "GPU-hours to go",
    "framework": "Framework",
    "project": "Project",
}
SAID = {
    "acknowledge": "Acknowledged",
    "mute": "Muted",
    "unmute": "Told again",
    "note": "Note",
    "hand_over": "Handed over",
}


def need_called(need: str) -> str:
    return NEED_CALLED.get(need, need)


def need_do(need: str, *, ended: bool = False, kept: bool = True) -> str:
    """What to do about it. `kept`: there is a checkpoint, or at least a step, that is worth going back to."""
    if need == "hacked" and not kept:
        return NOTHING_TO_KEEP
    return (ENDED_DO.get(need) if ended else None) or NEED_DO.get(need, "")


def steps(last: int | None, planned: int | None) -> str:
    """
    >>> steps(400, 1000), steps(400, None), steps(None, None)
    ('400 of 1000', '400', '')
    """
    if last is None:
        return ""
    return f"{last} of {planned}" if planned else str(last)


def ago(at: float | None, now: float) -> str:
    """
    >>> ago(0.0, 600.0), ago(None, 600.0), ago(0.0, 9000.0), ago(0.0, 1e6)
    ('10 min ago', '', '2 h ago', '12 days ago')
    """
    if at is None:
        return ""
    past = max(0.0, now - at)
    for least, seconds, unit in ((48 * 3600, 86400, "days"), (90 * 60, 3600, "h"), (90, 60, "min")):
        if past >= least:
            return f"{round(past / seconds)} {unit} ago"
    return f"{round(past)} s ago"


def moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def pays(p: float | None) -> str:
    return "" if p is None else sure(p)


def amount(value: float | None) -> str:
    return "" if value is None else number(value)


def all_of(count: int) -> str:
    return f"All {count}"


def found(shown: int, total: int) -> str:
    return f"{shown} of {total} runs" if shown != total else f"{total} runs"


def spread(lowest: float | None, mean: float | None, highest: float | None) -> str:
    """
    >>> spread(0.1, 0.2, 0.3), spread(None, None, None)
    ('0.2 (0.1 to 0.3)', '')
    """
    if lowest is None or mean is None or highest is None:
        return ""
    return f"{number(mean)} ({number(lowest)} to {number(highest)})"


def came_of(
    *,
    looks: int,
    last_step: int,
    then: tuple[str, int] | None,
    anew: bool,
    levels: tuple[float, float] | None,
    due: int,
    kept: int,
) -> str:
    """What came of a verdict: how long it stood, what the judged series did since, and whether it went as expected.

    >>> came_of(looks=3, last_step=90, then=("roll_back", 120), anew=False, levels=(0.6, 0.2), due=0, kept=0)
    'Said until step 90; roll back from step 120 on. The judged series went from 0.6 to 0.2.'
    >>> came_of(looks=1, last_step=90, then=None, anew=False, levels=None, due=4, kept=3)
    'Stands at step 90. 3 of 4 expected values came within their range.'
    """
    stood = f"Said until step {last_step}" if looks > 1 else "Said once"
    if anew:
        parts = [f"{stood}; then the run was begun anew."]
    elif then is not None:
        parts = [f"{stood}; {then[0].replace('_', ' ')} from step {then[1]} on."]
    else:
        parts = [f"Stands at step {last_step}."]
    if levels is not None:
        parts.append(f"The judged series went from {number(levels[0])} to {number(levels[1])}.")
    if due:
        parts.append(f"{kept} of {counted(due, 'expected value')} came within {'its' if due == 1 else 'their'} range.")
    return " ".join(parts)


def drawn(name: str, verdict: str | None) -> str:
    """What a sparkline shows, for those who do not see it."""
    return f"Reward of {name}" + (f", verdict {verdict.replace('_', ' ')}" if verdict else "")
