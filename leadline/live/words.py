"""What is remembered, in words for a terminal: `leadline history` and `leadline calibration`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.text import Text

from ..facts.judgement import calls_for
from ..report.lines import field
from ..words.live import age
from .calibration import INTERVALS, Calibration
from .heartbeat import Listed
from .history import Past, actions_as_data
from .ledger import ScoredPrediction, sentence
from .records import Look

DONE = {"refused": "yellow", "failed": "red", "orphan": "bold red", "again": "yellow", "done": "green", "dry": "cyan"}
STYLES = {"stop": "yellow", "roll_back": "red", "continue": "green"}
BARS = " ▁▂▃▄▅▆▇█"


def history_lines(past: Sequence[Past]) -> Iterator[tuple[str, Text]]:
    """For every run its looks, the oldest first, with what came otherwise than expected and what was told."""
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
    """A table of what was done to runs, would have been, or was refused; below each what it rests on and the processes
    as they stood."""
    entries = [one for one in actions_as_data(past) if one.get("state") != "begun"]
    if not entries:
        yield field("", "Nothing was done, and nothing would have been.")
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
            yield field("", "the log began anew")
        yield field("look", _look(look), STYLES.get(calls_for(look.verdict, look.outcome), ""))
        for says in surprises.get((look.life, look.step), ()):
            yield field("", says)


def _look(look: Look) -> str:
    return f"{_time(look.at)} step {look.step} ({look.why}): {look.says}"


def _surprises(past: Past) -> dict[tuple[int, int], list[str]]:
    """What came far from what the look before expected, by the look that saw it."""
    found: dict[tuple[int, int], list[str]] = {}
    told: set[tuple[int, int, str]] = set()
    for one in reversed(past.scored):  # the latest expectation of each is the one that counts
        if one.score is None:
            continue
        outcome = ScoredPrediction(one, one.score)
        place = (one.life, one.score.step, one.series)
        if outcome.is_far and place not in told:
            found.setdefault(place[:2], []).append(sentence(outcome))
        told.add(place)
    return found


def _time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def watches_lines(found: Sequence[Listed], now: float) -> Iterator[tuple[str, Text]]:
    """Every watch that was begun and has not ended in order."""
    if not found:
        yield field("", "No watch of this user goes on, and none has died.")
    for watch in found:
        alive = watch.alive(now)
        yield field("alive" if alive else "dead", ", ".join(watch.paths), "green" if alive else "bold red")
        heard = "never" if watch.beat_at is None else f"{age(max(0.0, now - watch.beat_at))} ago"
        since = f"process {watch.pid} since {_time(watch.since)}"
        yield field("", f"{since}, last sign of life {heard}; state {watch.state}")
        if not alive:
            yield field("", f"Nobody watches these runs any more. Start it again, or delete {watch.file}.")


def calibration_lines(found: Sequence[Calibration]) -> Iterator[tuple[str, Text]]:
    """How often what was expected came: one line a sort of series."""
    if not found:
        yield field("", "No prediction has come due yet.")
        return
    heads = "".join(f"{f'in {share:.0%}':>9}" for share in INTERVALS)
    yield field("", f"{'predictions':>11}{'runs':>6}{heads}   too low … too high", "dim")
    for one in found:
        hits = "".join(f"{hit:>9.0%}" for hit in one.hits)
        yield field(one.sort, f"{one.predictions:>11}{one.runs:>6}{hits}   {_bars(one.tenths)}")
    yield field("", "")
    yield field(
        "",
        "in 80%: how many came inside the middle 80 % of what was expected; 80 % would be perfect. The bars count where"
        " in the distribution they came, lowest tenth first; level bars would be perfect.",
        "dim",
    )


def _bars(counts: Sequence[int]) -> str:
    most = max(counts) or 1
    return "".join(BARS[round(count / most * (len(BARS) - 1))] for count in counts)
