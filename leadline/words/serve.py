"""The dashboard, in words."""

from __future__ import annotations

from ..digits import duration, interval, number, went
from ..facts.judgement import calls_for
from .fleet import ENDED_DO, NEED_CALLED, NEED_DO, NOTHING_TO_KEEP

TITLE = "Leadline"
GROUPS = {
    "person": "Needs attention",
    "training": "Training",
    "finished": "Finished",
    "silent": "Silent",
    "unreadable": "Unreadable",
    "gone": "Not found anymore",
}
STILL_RUNNING = "Running or interrupted"
ENDED_LATELY = "Ended in the last 3 days"
CHOICES = {**GROUPS, **NEED_CALLED, "roll_back": "roll back", "p": "chance of gain", "last": "last log row"}
CHOICES |= {"hours": "hours so far", "left": "GPU-hours left", "no_signal": "no signal", "no_trend": "no trend"}
CHOICES |= {"too_early": "too early", "no_reward": "no reward"}
NOTHING_NEEDED = "No run needs attention."
NOTHING_KEPT = "No runs scanned yet: run leadline scan ROOT, or start the dashboard with ROOT."
NOTHING_FOUND = "No runs match."
READ_ONLY = "Read-only: start with --allow-act to acknowledge, mute, and add notes."
FILES_GONE = "This run's files can't be read from here; showing what the last scan stored."
NOT_SIGNED_IN = "Open the address that `leadline serve` printed: it contains the access token."
OTHER_NAMES = "For other host names, such as behind a proxy, add --allowed-host NAME."
OTHER_PAGE = "Refused: another page asked for this."
UNKNOWN_PAGE = "Refused: unknown which page asked for this."
NO_SUCH_RUN = "No such run."
OUTSIDE = "This run's path leads outside the scanned folder, so it is not opened."
COMPARE, COMPARE_SELECTED = "compare", "Compare selected"
ACKNOWLEDGE_ALL, ALL_OF = "Acknowledge all {}", "All {}"
AGENTS_AT = "agents: {} (Model Context Protocol)"
COMPARE_TWO = "Select two or more runs to compare."


def not_called_so(host: str) -> str:
    """
    >>> not_called_so("runs.example.org")
    "Unknown host name 'runs.example.org'. If it is yours, start the server with --allowed-host runs.example.org."
    """
    shown = "".join(letter for letter in host[:200] if letter.isprintable())
    return f"Unknown host name {shown!r}. If it is yours, start the server with --allowed-host {shown or 'NAME'}."


COLUMNS = {
    "name": "Run",
    "spark": "Reward",
    "why": "Headline",
    "steps": "Steps",
    "last": "Last row",
    "left": "GPU-h left",
}
SAID = {
    "acknowledge": "Acknowledged",
    "mute": "Muted",
    "unmute": "Unmuted",
    "note": "Note",
    "hand_over": "Assigned",
}


BUTTONS = {
    "acknowledge": "Acknowledge",
    "mute": "Mute for a day",
    "unmute": "Unmute",
    "note": "Add note",
    "hand_over": "Assign",
}
ACKNOWLEDGE = "Acknowledge"
ACKNOWLEDGE_SELECTED = "Acknowledge selected"
MUTE_SELECTED = "Mute selected for a day"
NOT_IN_HEADLINE = ("silent", "seeds", "changed", "finished_rising", "unclear")  # needs that a row has to name itself
MARK_SEEN = "Mark as seen"
NOTHING_SELECTED = "No run selected."


def new_since(since: float | None, now: float) -> str:
    """
    >>> new_since(0.0, 9000.0)
    'New since your last visit, 2.5 h ago'
    """
    return f"New since your last visit, {ago(since, now)}"


def need_called(need: str) -> str:
    return NEED_CALLED.get(need, need)


def need_do(need: str, *, ended: bool = False, kept: bool = True) -> str:
    """Return what to do about it. `kept`: there is a checkpoint, or at least a step, worth going back to."""
    if need == "hacked" and not kept:
        return NOTHING_TO_KEEP
    return (ENDED_DO.get(need) if ended else None) or NEED_DO.get(need, "")


def steps(last: int | None, planned: int | None) -> str:
    """
    >>> steps(400, 1000), steps(400, None), steps(None, None)
    ('400/1000', '400', '')
    """
    if last is None:
        return ""
    return f"{last}/{planned}" if planned else str(last)


def ago(at: float | None, now: float) -> str:
    """
    >>> ago(0.0, 600.0), ago(None, 600.0)
    ('10 min ago', '')
    """
    return "" if at is None else f"{duration(round(max(0.0, now - at)))} ago"


def amount(value: float | None) -> str:
    return "" if value is None else number(value)


def found(shown: int, total: int) -> str:
    return f"{shown} of {total} runs" if shown != total else f"{total} runs"


def spread(lowest: float | None, mean: float | None, highest: float | None) -> str:
    """
    >>> spread(0.1, 0.2, 0.3), spread(None, None, None)
    ('0.200 (0.100–0.300)', '')
    """
    if lowest is None or mean is None or highest is None:
        return ""
    return interval(mean, lowest, highest)


def came_of(
    *,
    looks: int,
    last_step: int,
    then: tuple[str, int] | None,
    anew: bool,
    levels: tuple[float, float] | None,
) -> str:
    """Say what came of a verdict: how long it held and what the primary metric did since.

    >>> came_of(looks=3, last_step=90, then=("roll_back", 120), anew=False, levels=(0.6, 0.2))
    'Held until step 90; roll back from step 120. The primary metric went 0.600 → 0.200.'
    >>> came_of(looks=1, last_step=90, then=None, anew=False, levels=None)
    'Still the verdict at step 90.'
    """
    stood = f"Held until step {last_step}" if looks > 1 else "One check"
    if anew:
        parts = [f"{stood}; then the run restarted."]
    elif then is not None:
        parts = [f"{stood}; {then[0].replace('_', ' ')} from step {then[1]}."]
    else:
        parts = [f"Still the verdict at step {last_step}."]
    if levels is not None:
        parts.append(f"The primary metric went {went(*levels)}.")
    return " ".join(parts)


def verdict_called(verdict: str, outcome: str | None) -> str:
    """
    >>> verdict_called("finished", "collapsed"), verdict_called("roll_back", "hacked"), verdict_called("stop", None)
    ('finished, collapsed', 'roll back', 'stop')
    """
    bad = calls_for(verdict, outcome) != verdict
    return (f"{verdict}, {outcome}" if bad else verdict).replace("_", " ")


def drawn(name: str, verdict: str | None, outcome: str | None = None) -> str:
    """Describe a sparkline for screen readers."""
    return f"Reward of {name}" + (f", verdict {verdict_called(verdict, outcome)}" if verdict else "")
