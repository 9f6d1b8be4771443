"""Make one check: read the run as it stood at a step, and collect all that is written down about it.

The reading knows nothing of earlier checks. They come in afterwards: to find what is new.
"""

from __future__ import annotations

import hashlib

from ..contract import ChartData
from ..pipeline import read_run
from ..records import replace
from ..report.data import as_data, dump
from ..words.verdict import headline
from .entries import WatchEntry
from .follow import Sighting
from .onsets import new_alerts
from .records import Look, Made
from .schedule import Due
from .store import Store


def make_look(
    store: Store,
    number: int,
    sighting: Sighting,
    life: int,
    due: Due,
    wanted: WatchEntry,
    *,
    at: float,
) -> Made:
    """Read the run as it stood at the step that is due."""
    seen = sighting.run.until(due.step)
    reading = read_run(seen, budget=wanted.budget, price=wanted.price, charts="main")
    told, alerts = new_alerts(store.told(number), reading, run=sighting.identity, life=life)
    judgement = reading.judgement
    body = dump(as_data(replace(reading, chart_data=ChartData()))).encode()  # what was said; the log can be drawn again
    look = Look(
        run=sighting.identity,
        life=life,
        step=due.step,
        points=due.points,
        why=due.why,
        at=at,
        verdict=judgement.verdict,
        p_continue_pays=judgement.p_continue_pays,
        best_step=None if judgement.best_checkpoint is None else judgement.best_checkpoint.step,
        says=headline(judgement),
        digest=hashlib.sha256(body).hexdigest(),
        reading=body,
        attempt=sighting.attempt,
    )
    return Made(look, reading, alerts, told)
