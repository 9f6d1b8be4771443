"""Lines for a terminal: `leadline history`, `leadline calibration`, `leadline doctor --live`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.text import Text

from ..digits import duration
from ..facts.judgement import calls_for
from ..report.lines import field
from .calibration import INTERVALS, Calibration
from .heartbeat import Listed
from .history import Past, actions_as_data
from .ledger import is_far, sentence
from .records import Look

DONE = {"refused": "yellow", "failed": "red", "orphan": "bold red", "again": "yellow", "done": "green", "dry": "cyan"}
STYLES = {"stop": "yellow", "roll_back": "red", "continue": "green"}
BARS = " ▁▂▃▄▅▆▇█"


def history_lines(past: Sequence[Past]) -> Iterator[tuple[str, Text]]:
    """Yield the checks of every run, the oldest first, with missed forecasts, alerts and actions."""
    for number, one in enumerate(past):
        if number:
            yield field("", "")
        yield field("run", one.run, "bold")
        yield field("state", str(one.state))
        yield from _looks(one)
        for alert in one.alerts:
            yield field("alert", f"step {alert.step}, {alert.about}: {alert.says}")
        for at, action in one.actions:
            yield field("action", f"{_time(at)} {action.get('says', '')}")


def action_lines(past: Sequence[Past]) -> Iterator[tuple[str, Text]]:
    """Yield what was done to runs, would have been, or was refused, each with its reason and the process tree."""
    entries = [one for one in actions_as_data(past) if one.get("state") != "begun"]
    if not entries:
        yield field("", "No actions, and none would have been taken.")
        return
    counts = Counter(str(one.get("state")) for one in entries)
    yield field("", ", ".join(f"{count} {state}" for state, count in counts.most_common()), "bold")
    for one in entries:
        head = f"{_time(float(str(one['at'])))}  step {one.get('step')}  {one.get('order')}  {one['run']}"
        yield field(str(one.get("state")), head, DONE.get(str(one.get("state")), ""))
        yield field("", str(one.get("says")))
        yield field("", f"Why: {one.get('why')}.", "dim")
        tree = one.get("tree")
        for line in tree if isinstance(tree, list) and one.get("state") in ("dry", "sent", "refused") else ():
            yield field("", f"  {line}", "dim")


def _looks(past: Past) -> Iterator[tuple[str, Text]]:
    surprises = _surprises(past)
    life = 0
    for look in past.looks:
        if look.life != life:
            life = look.life
            yield field("", "the log was replaced")
        yield field("check", _look(look), STYLES.get(calls_for(look.verdict, look.outcome), ""))
        for says in surprises.get((look.life, look.step), ()):
            yield field("", says)


def _look(look: Look) -> str:
    return f"{_time(look.at)} step {look.step} ({look.why}): {look.says}"


def _surprises(past: Past) -> dict[tuple[int, int], list[str]]:
    """Return missed forecasts by the check that saw them."""
    found: dict[tuple[int, int], list[str]] = {}
    told: set[tuple[int, int, str]] = set()
    for one in reversed(past.scored):  # the latest prediction of each counts
        if one.score is None:
            continue
        place = (one.life, one.score.step, one.series)
        if is_far(one) and place not in told:
            found.setdefault(place[:2], []).append(sentence(one))
        told.add(place)
    return found


def _time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def watches_lines(found: Sequence[Listed], now: float) -> Iterator[tuple[str, Text]]:
    """Yield every watch that was started and has not ended cleanly."""
    if not found:
        yield field("", "No watch is running, and none has died.")
    for watch in found:
        alive = watch.alive(now)
        yield field("alive" if alive else "dead", ", ".join(watch.paths), "green" if alive else "bold red")
        heard = f"{duration(round(max(0.0, now - watch.beat_at)))} ago"
        since = f"process {watch.pid} since {_time(watch.since)}"
        yield field("", f"{since}, last heartbeat {heard}; state {watch.state}")
        if not alive:
            yield field("", f"These runs are no longer watched. Restart the watch, or delete {watch.file}.")


def calibration_lines(found: Sequence[Calibration]) -> Iterator[tuple[str, Text]]:
    """Yield how often forecasts held, one line per sort of series."""
    if not found:
        yield field("", "No forecast has come due yet.")
        return
    heads = "".join(f"{f'in {share:.0%}':>9}" for share in INTERVALS)
    yield field("", f"{'predictions':>11}{'runs':>6}{heads}   too low … too high", "dim")
    for one in found:
        hits = "".join(f"{hit:>9.0%}" for hit in one.hits)
        yield field(one.sort, f"{one.predictions:>11}{one.runs:>6}{hits}   {_bars(one.tenths)}")
    yield field("", "")
    yield field(
        "",
        "in 80%: share of values inside the 80% forecast interval; 80% is perfect. The bars count values by tenth of"
        " the forecast distribution, lowest first; level bars are perfect.",
        "dim",
    )


def _bars(counts: Sequence[int]) -> str:
    most = max(counts) or 1
    return "".join(BARS[round(count / most * (len(BARS) - 1))] for count in counts)
