"""No KL to the reference: drift is read from other witnesses, in words that say so."""

from __future__ import annotations

from ...curve import Curve
from ...facts import BAR
from ...questions.paths import climbed, level_logged, moved, sank, share
from ...run import Series
from ..reward import number
from ..view import View
from .distance import LENGTH, MEAN, SUM
from .reading import KlReward

WITNESSES = {"entropy": "entropy", LENGTH: "response length"}


def without_kl(view: View) -> KlReward:
    """What can be said of drift without KL."""
    logged = any(view.run.get(name) is not None for name in (MEAN, SUM))
    absent = (
        "KL to the reference is 0 at every point: it was not computed, or the policy never moved."
        if logged
        else "No KL to the reference was logged."
    )
    names = dict.fromkeys([*WITNESSES, *view.names(lambda name: name.startswith("mismatch/"))[:1]])
    curves = {name: curve for name in names if (curve := view.curve(name)) is not None and curve.decidable}
    if not curves:
        return KlReward("no_kl", says=f"{absent} Nothing else was logged that would show drift.")
    said = [
        _says(WITNESSES.get(name, name), curve, series)
        for name, curve in curves.items()
        if (series := view.run.get(name)) is not None
    ]
    return KlReward("no_kl", says=f"{absent} Drift has to be read from other series: {'; '.join(said)}.")


def _says(name: str, curve: Curve, series: Series) -> str:
    start, now = (number(level_logged(curve, place, series)) for place in (0, -1))
    if share(climbed(curve)) > BAR:
        return f"{name} rose from {start} to {now}"
    if share(sank(curve)) > BAR:
        return f"{name} fell from {start} to {now}"
    if share(moved(curve)) > BAR:
        return f"{name} moved and stands at {now}"
    return f"{name} shows no clear trend about {now}"
