"""A watch as it stands, as figures for the metrics port."""

from __future__ import annotations

import json
import time
from collections import Counter

from . import heartbeat
from .metrics import Figures, RunFigures
from .watch import Watch
from .watched import Watched


def figures_of(watch: Watch) -> Figures:
    """What is served at every scrape."""
    runs = tuple(_figures(one) for one in list(watch.runs.values()))
    actions = Counter(
        str(action["state"]) for one in list(watch.runs.values()) for _, action in watch.store.actions(one.number)
    )
    now = time.time()
    watches = {str(listed.state): listed.alive(now) for listed in heartbeat.listed()}
    age = time.monotonic() - watch.went_round
    return Figures(runs, watch.store.delivery_counts(), actions, watches, now - age, len(watch.hanging))


def _figures(one: Watched) -> RunFigures:
    grown_at = one.cursor.grown_at
    last = one.last  # another thread may take it away
    if last is None:
        return RunFigures(one.identity, grown_at=grown_at)
    reading = json.loads(last.reading)
    return RunFigures(
        one.identity,
        step=last.step,
        verdict=last.verdict,
        outcome=last.outcome,
        p_continue_pays=last.p_continue_pays,
        p_worse=(reading["judgement"]["risk"] or {}).get("p_worse"),
        findings={(found["id"], found["severity"]): found["p"] for found in reading["findings"]},
        grown_at=grown_at,
        looked_at=last.at,
    )
