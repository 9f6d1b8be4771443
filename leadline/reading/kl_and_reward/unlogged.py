"""No KL to the reference: drift is read from other series, and that is said."""

from __future__ import annotations

from ...facts.kl import Drift, KlReward
from ...questions.level import level_now, start_of
from ...questions.way import way_of
from ..view import View
from .distance import LENGTH, MEAN, SUM

INSTEAD = ("entropy", LENGTH)


def without_kl(view: View) -> KlReward:
    """What can be said of drift without KL."""
    logged = any(series.finite.any() for name in (MEAN, SUM) if (series := view.run.get(name)) is not None)
    names = (*INSTEAD, *view.names(lambda name: name.startswith("mismatch/"))[:1])
    drift = tuple(found for name in names if (found := _drift(view, name)) is not None)
    return KlReward("no_kl", state="always_zero" if logged else "not_logged", drift=drift)


def _drift(view: View, name: str) -> Drift | None:
    curve, series = view.curve(name), view.run.get(name)
    if curve is None or series is None or not curve.decidable:
        return None
    return Drift(name, way_of(curve), start_of(curve, series), level_now(curve, series))
