"""One look: the run as it stood at a step, read afresh, and all that is written down about it.

The reading knows nothing of earlier looks, so it cannot lean on them. They come in only afterwards: to score what they
expected, and to tell what is new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..contract import ChartData, Reading
from ..pipeline import read_view, view_of
from ..report.data import as_data, dump
from ..run import Run
from ..words.verdict import headline
from . import ledger
from .alert import Alert
from .entries import WatchEntry
from .onsets import Notice, new_alerts
from .records import Look, Prediction, Promise, Score
from .schedule import Due


@dataclass(frozen=True, slots=True)
class Remembered:
    """What earlier looks at the run left behind."""

    life: int
    predictions: Sequence[Prediction]
    told: Mapping[str, object] | None


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A look and all it brings."""

    look: Look
    reading: Reading
    scores: tuple[Score, ...]
    promises: tuple[Promise, ...]
    surprise: Notice | None
    alerts: tuple[Alert, ...]
    told: dict[str, object]


def make_look(
    identity: str,
    run: Run,
    due: Due,
    remembered: Remembered,
    wanted: WatchEntry,
    *,
    attempt: int,
    at: float,
    cost: str | None,
) -> Made:
    """Read the run as it stood at the step that is due. `cost`: what going on costs, for alerts about ending it."""
    seen = run.until(due.step)
    view = view_of(seen, budget=wanted.budget)
    reading = read_view(view, price=wanted.price, charts="main")
    outcomes = ledger.score(remembered.predictions, seen)
    surprise = ledger.surprise(outcomes)
    also = () if surprise is None else (surprise,)
    told, alerts = new_alerts(remembered.told or {}, reading, run=identity, life=remembered.life, also=also)
    if cost is not None:
        alerts = tuple(
            replace(alert, evidence=(*alert.evidence, cost)) if alert.about.startswith("verdict.") else alert
            for alert in alerts
        )
    judgement = reading.judgement
    body = dump(as_data(replace(reading, chart_data=ChartData()))).encode()  # what was said; the log can be drawn again
    look = Look(
        run=identity,
        life=remembered.life,
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
        attempt=attempt,
    )
    promised = ledger.promises(view, due.points)
    return Made(look, reading, tuple(one.score for one in outcomes), promised, surprise, alerts, told)
