"""KL up, reward down: the updates destroy what was learned."""

from __future__ import annotations

import numpy as np

from ...curve import Curve
from ...facts import BAR, Evidence, Finding, Severity
from ...questions.fall import has_fallen
from ...questions.level import within
from ...questions.paths import cells_at, level_at, level_logged, share
from ..reward import HEADLINE, number
from ..reward.breaks import account_for
from ..reward.fall import RUINED, onset_of_fall, peak_told
from ..reward.words import level, level_at_peak
from ..view import View
from .distance import distance_series

CLEAR_RISE = 0.25  # of KL's own range since the reward stood highest: less goes on under any plateau


def destructive(view: View, kl: Curve, reward: Curve) -> tuple[Finding, ...]:
    """Reward lost since its highest point while KL rose over the same steps. A fall that came from outside is none."""
    if any(one.size < 0 and account_for(view, one).from_outside for one in reward.breaks):
        return ()
    then = cells_at(kl, reward.grid[reward.summit])
    rise = kl.seen[:, -1] - level_at(kl, then)
    gone = has_fallen(reward)
    both = gone & (rise > np.maximum(CLEAR_RISE * kl.span, kl.last.noise))
    p = share(both)
    if p <= BAR:
        return ()
    logged = view.run.get(HEADLINE)
    assert logged is not None  # for the type checker: it has a curve
    fallen = within(reward.seen[both].mean(axis=0), logged)
    top = int(np.median(reward.summit[both]))
    step, last, high = round(float(reward.grid[top])), round(float(reward.grid[reward.now])), float(fallen[top])
    series, shape = distance_series(view.run), view.shape(HEADLINE)
    assert series is not None
    assert shape is not None
    peak = peak_told(shape, share(gone))
    if peak is not None:
        step, high = peak, level_at_peak(reward, peak, logged)
    place = int(cells_at(kl, np.array([float(step)]))[0])
    before, now = level_logged(kl, place, series), level_logged(kl, -1, series)
    severity: Severity = "critical" if fallen[top] - fallen[-1] > RUINED * np.ptp(fallen) else "concern"
    says = (
        f"Since step {step} KL rose from {number(before)} to {number(now)} while reward fell from "
        f"{level(high, reward)} to {level(fallen[-1], reward)}: the updates are destructive."
    )
    evidence = (Evidence(kl.metric, step, last), Evidence(HEADLINE, step, last))
    return (
        Finding("kl.destructive", round(p, 4), severity, says, max(onset_of_fall(fallen, reward, top), step), evidence),
    )
