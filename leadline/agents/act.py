"""The one thing an agent may ask to be done, where a person allowed it at the start: end the run that was named, in the
way that was named, and only where `leadline watch --act` would do it (docs/live.md)."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import BadOrder, LeadlineError
from ..live import acting
from ..live.places import state_file
from ..live.store import Store
from ..report.data import as_data
from ..sources import find_runs
from ..words.tools import NOTHING_DONE, SETTLED
from .library import Library
from .roots import Roots
from .tools import Tool

ORDER = re.compile(r"(?P<path>.+)=(?P<order>(?:sigterm|sigint|sigkill|file):.+)")
BACK = (0.25, 0.2, 0.15, 0.1, 0.05, 0.0)  # shares of the plan before now at which the run is looked at again


@dataclass(frozen=True, slots=True)
class Stopped:
    """What was done, or why nothing was."""

    acted: bool
    says: str
    why: str


@dataclass(frozen=True, slots=True)
class Permission:
    """A run, and what may be done to it."""

    place: Path
    order: acting.Order
    state: Path
    dry: bool

    @classmethod
    def of(cls, told: str, roots: Roots, *, dry: bool) -> Permission:
        """As the user says it, RUN=ORDER. A process is identified now: later its number may be another's."""
        found = ORDER.fullmatch(told)
        if found is None:
            raise BadOrder(
                f"--allow-act {told} cannot be followed.",
                tried="to read it as RUN=ORDER",
                next_step="name the run and what may be done, such as run7=sigterm:4711 or run7=file:/tmp/stop",
            )
        place, text = roots.find(found["path"]), found["order"]
        state = state_file([str(place)])
        state.parent.mkdir(parents=True, exist_ok=True)
        with Store(state) as store:
            order = acting.parse(text, store.order(text))
            store.remember_order(text, order.as_data(), time.time())
        return cls(place, order, state, dry)

    def tool(self) -> Tool:
        return Tool("stop_run", {"path": {"type": "string"}}, Stopped, partial(_stop, self), read_only=False)


def _stop(permission: Permission, library: Library, asked: Mapping[str, Any]) -> Stopped:
    place = library.roots.find(asked["path"])
    if place != permission.place:
        raise LeadlineError(
            "Nobody allowed that this run be stopped.",
            tried=library.roots.shown(str(place)),
            next_step="tell the person what you found; stopping is theirs",
        )
    decision = acting.may_act(_looks(library, asked["path"]))
    if not decision.act:
        return Stopped(False, NOTHING_DONE, decision.why)
    logs = tuple(carrier.path for run in find_runs(place).runs for carrier in run.carriers)
    with Store(permission.state) as store:  # refused where a watch holds it: that one acts by itself
        actor = acting.Actor(store, permission.order, dry=permission.dry)
        try:
            life = acting.Life(store.run(str(place), time.time()), str(place))
            done = actor.consider(life, decision, acting.RunFiles(logs))
        finally:
            actor.close()
    if done is None:
        return Stopped(False, SETTLED, decision.why)
    return Stopped(done.state in ("sent", "done"), done.says, done.why)


def _looks(library: Library, path: str) -> list[acting.Said]:
    """What a watch would have said lately: the run as it stood, read afresh."""
    now = library.reading(path).run
    if now.last_step is None or now.first_step is None:
        return []
    plan = max(now.planned_steps or 0, now.last_step) - now.first_step
    steps = [round(now.last_step - share * plan) for share in BACK]
    readings = [library.reading(path, until=step) for step in steps if step >= now.first_step]
    return [said for reading in readings if (said := acting.said(as_data(reading))) is not None]
