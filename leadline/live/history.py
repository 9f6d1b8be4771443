"""Past checks of a run, from the state files that know it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.text import Text

from ..digits import dated
from ..errors import NothingReadable
from ..records import dataclass
from ..report import palette
from ..report.lines import field
from .records import Alert, Look
from .store import state_files, stores

DONE = {"refused": "yellow", "failed": "red", "orphan": "bold red", "again": "yellow", "done": "green", "dry": "cyan"}
SHOWN = ("life", "step", "why", "at", "verdict", "outcome", "p_continue_pays", "best_step", "says", "digest")


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """All that is remembered of one run."""

    run: str
    state: Path
    looks: tuple[Look, ...]
    alerts: tuple[Alert, ...]
    actions: tuple[tuple[float, dict[str, object]], ...]


def past_of(path: str | None, *, state: Path | None = None, looks: bool = True) -> tuple[Past, ...]:
    """Return what is remembered of the run at `path`, of every run below it, or of all runs. Without `looks`, only
    alerts and actions: readings are large."""
    found: list[Past] = []
    for store in stores(state, path):
        for name, number in store.names().items():
            if _is_meant(name, path):
                made = store.looks(number) if looks else ()
                found.append(Past(name, store.path, made, store.alerts(number), store.actions(number)))
    if not found:
        raise NothingReadable(
            f"no history for {path or 'any run'}: no state file that can be read holds one.",
            tried=", ".join(map(str, [state] if state is not None else state_files(path)[:5]))
            or "no state file was found",
            next_step=f"leadline watch {path or 'PATH'}, or name the state file with --state.",
        )
    return tuple(found)


def _is_meant(name: str, path: str | None) -> bool:
    """Return whether a run is at a path, below it, or in the folder of the file it names."""
    if path is None:
        return True
    if "://" in path:
        return name == path
    place = Path(path).absolute()
    home = Path(name.partition("#")[0])
    return home == place or place in home.parents or name == str(place)


def as_data(past: Sequence[Past]) -> list[dict[str, object]]:
    """Return it as plain data, one object per check."""
    return [{"run": one.run} | {name: getattr(look, name) for name in SHOWN} for one in past for look in one.looks]


def actions_as_data(past: Sequence[Past]) -> list[dict[str, object]]:
    """Return what was done, would have been, or was refused: one object per entry, the oldest first."""
    found = [{"run": one.run, "at": at, **action} for one in past for at, action in one.actions]
    return sorted(found, key=lambda entry: float(str(entry["at"])))


@dataclass(frozen=True, slots=True)
class Point:
    """The state of a run at a check."""

    step: int
    verdict: str
    level: float | None  # of the judged series
    judged: str | None
    outcome: str | None = None  # None: not known


@dataclass(frozen=True, slots=True)
class Spell:
    """One verdict over consecutive checks, and what came after."""

    at: float
    says: str
    first: Point
    last: Point  # the last look of the spell
    looks: int
    then: Point | None  # the first that differed
    anew: bool = False  # the run was begun anew after it, so nothing came of it

    @property
    def end(self) -> Point:
        return self.then or self.last


def spells(past: Past, now: Point | None = None) -> tuple[Spell, ...]:
    """Return the verdicts on a run, the latest first. `now`: where it stands if rows came after the last check."""
    runs: list[list[Look]] = []
    for look in past.looks:
        if runs and (runs[-1][-1].verdict, runs[-1][-1].life) == (look.verdict, look.life):
            runs[-1].append(look)
        else:
            runs.append([look])
    found = []
    for place, looks in enumerate(runs):
        later = runs[place + 1][0] if place + 1 < len(runs) else None
        anew = later is not None and later.life != looks[0].life
        last, then = point_of(looks[-1]), None if later is None or anew else point_of(later)
        if later is None and now is not None and now.step > last.step:
            last, then = (now, None) if now.verdict == last.verdict else (last, now)
        first = looks[0]
        found.append(Spell(first.at, first.says, point_of(first), last, len(looks), then, anew))
    return tuple(reversed(found))


def point_of(look: Look) -> Point:
    told = json.loads(look.reading).get("judgement") or {}
    level = (told.get("reason") or {}).get("level")
    return Point(look.step, look.verdict, level, told.get("judged"), told.get("outcome"))


def history_lines(past: Sequence[Past]) -> Iterator[tuple[str, Text]]:
    """Yield the checks of every run, the oldest first, with alerts and actions."""
    for number, one in enumerate(past):
        if number:
            yield field("", "")
        yield field("run", one.run, "bold")
        yield field("state", str(one.state))
        yield from _looks(one)
        for alert in one.alerts:
            yield field("alert", f"step {alert.step}, {alert.about}: {alert.says}")
        for at, action in one.actions:
            yield field("action", f"{dated(at)} {action.get('says', '')}")


def action_lines(past: Sequence[Past]) -> Iterator[tuple[str, Text]]:
    """Yield what was done to runs, would have been, or was refused, each with its reason and the process tree."""
    entries = [one for one in actions_as_data(past) if one.get("state") != "begun"]
    if not entries:
        yield field("", "No actions, and none would have been taken.")
        return
    counts = Counter(str(one.get("state")) for one in entries)
    yield field("", ", ".join(f"{count} {state}" for state, count in counts.most_common()), "bold")
    for one in entries:
        head = f"{dated(float(str(one['at'])))}  step {one.get('step')}  {one.get('order')}  {one['run']}"
        yield field(str(one.get("state")), head, DONE.get(str(one.get("state")), ""))
        yield field("", str(one.get("says")))
        yield field("", f"Why: {one.get('why')}.", "dim")
        tree = one.get("tree")
        for line in tree if isinstance(tree, list) and one.get("state") in ("dry", "sent", "refused") else ():
            yield field("", f"  {line}", "dim")


def _looks(past: Past) -> Iterator[tuple[str, Text]]:
    life = 0
    for look in past.looks:
        if look.life != life:
            life = look.life
            yield field("", "the log was replaced")
        yield field("check", _look(look), palette.outcome(look.verdict, look.outcome).terminal)


def _look(look: Look) -> str:
    return f"{dated(look.at)} step {look.step} ({look.why}): {look.says}"
