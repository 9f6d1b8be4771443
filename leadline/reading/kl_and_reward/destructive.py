"""KL up, reward down: the updates destroy what was learned."""

from __future__ import annotations

import numpy as np

from ...curve import Curve
from ..finding import BAR, Evidence, Finding, Severity
from ..paths import cells_at, level_at, lost, share
from ..reward import HEADLINE, number
from ..reward.breaks import account_for
from ..reward.fall import RUINED, onset_of_fall
from ..view import View

CLEAR_RISE = 0.25  # of KL's own range since the reward stood highest: less goes on under any plateau


def destructive(view: View, kl: Curve, reward: Curve) -> tuple[Finding, ...]:
    """Reward lost since its highest point while KL rose over the same steps. A fall that came from outside is none."""
    if any(one.size < 0 and account_for(view, one).from_outside for one in reward.breaks):
        return ()
    then = cells_at(kl, reward.grid[reward.summit])
    rise = kl.seen[:, -1] - level_at(kl, then)
    gone = lost(reward)
    both = gone & (rise > np.maximum(CLEAR_RISE * kl.span, kl.last.noise))
    p = share(both)
    if p <= BAR:
        return ()
    fallen = reward.seen[both].mean(axis=0)
    top = int(np.median(reward.summit[both]))
    step, last = round(float(reward.grid[top])), round(float(reward.grid[reward.now]))
    before, now = float(kl.at(step).mean()), float(kl.seen[:, -1].mean())
    severity: Severity = "critical" if fallen[top] - fallen[-1] > RUINED * np.ptp(fallen) else "concern"
    says = (
        f"Since step {step} KL rose from {number(max(before, 0.0))} to {number(now)} while reward fell from "
        f"{number(fallen[top])} to {number(fallen[-1])}: the updates are destructive."
    )
    evidence = (Evidence(kl.metric, step, last), Evidence(HEADLINE, step, last))
    return (Finding("kl.destructive", round(p, 4), severity, says, onset_of_fall(fallen, reward, top), evidence),)
