"""Drift without benefit: the policy moves away from its reference and the reward has nothing to show for it.

"KL up, no reward trend yet" is the normal state of a noisy run, so more is asked: half of the plan has been seen, the
rest of the run moves too (a KL that climbs out of its own noise may still be tiny), and entropy does not fall, which is
what learning looks like before its reward shows.
"""

from __future__ import annotations

import numpy as np

from ...curve import Curve
from ...facts import BAR, Evidence, Finding
from ...questions.classes import FELL
from ...questions.fall import has_fallen
from ...questions.paths import climbed, level_logged, moved, share
from ..reward import number
from ..view import View
from .distance import LENGTH, distance_series

HALF = 0.5  # of the plan, or where there is none as many points: verdict.md 6.5; at .2 noisy runs are accused
ENOUGH = 100  # points, where no plan is known
BARELY = 0.5  # sd of a bin: a gain of less cannot be told from none (verdict.md 4)
DOUBLED = 2.0  # times KL since the reward had its gain: each doubling has to earn something (verdict.md 2.2)


def drift_without_benefit(view: View, kl: Curve, reward: Curve) -> tuple[Finding, ...]:
    """Never a gain, or none since the reward came to rest."""
    if not _enough_seen(view, reward) or share(climbed(kl)) <= BAR:
        return ()
    entropy = view.curve("entropy")
    if entropy is None:
        return ()
    return _never_gained(view, kl, reward, entropy) or _ran_its_course(view, kl, reward, entropy)


def _enough_seen(view: View, reward: Curve) -> bool:
    planned, first, last = view.horizon_step or view.run.config.planned_steps, view.run.first_step, view.run.last_step
    if planned is None or first is None or last is None:
        return reward.points >= ENOUGH
    return last - first >= HALF * (planned - first)


def _never_gained(view: View, kl: Curve, reward: Curve, entropy: Curve) -> tuple[Finding, ...]:
    gain = share(reward.seen[:, -1] - reward.seen[:, 0] > BARELY * reward.last.noise)
    p = (1 - gain) * share(climbed(kl)) * (1 - _falling_since(entropy, 0))
    length = view.curve(LENGTH) if p > BAR else None
    p *= max(share(moved(entropy)), 0.0 if length is None else share(moved(length)))
    if p <= BAR or share(has_fallen(reward)) > BAR:  # reward that was lost is another finding
        return ()
    return (_finding(view, kl, p, 0, "and the reward has not gained beyond its noise: drift without benefit"),)


def _ran_its_course(view: View, kl: Curve, reward: Curve, entropy: Curve) -> tuple[Finding, ...]:
    """The reward had its gain in the first half of what was seen, and KL has doubled since."""
    mean = reward.seen.mean(axis=0)
    if mean[-1] - mean[0] < (1 - FELL) * np.ptp(mean):  # it is not a gain that was kept
        return ()
    there = int(np.argmax(mean >= mean[-1] - FELL * np.ptp(mean)))
    if there > HALF * reward.now:
        return ()
    place = int(np.clip(np.searchsorted(kl.grid[: kl.now + 1], reward.grid[there]), 0, kl.now))
    then, now = kl.seen[:, place], kl.seen[:, -1]
    gained = share(climbed(reward))
    doubled = share((now > DOUBLED * np.maximum(then, kl.last.noise)) & (now - then > kl.last.noise))
    p = gained * doubled * (1 - _falling_since(entropy, float(reward.grid[there])))
    if p <= BAR:
        return ()
    return (_finding(view, kl, p, place, "and the reward has gained almost nothing since: it has run its course"),)


def _falling_since(entropy: Curve, step: float) -> float:
    """How sure it is that entropy fell: a policy that makes up its mind, not one that wanders."""
    place = int(np.clip(np.searchsorted(entropy.grid[: entropy.now + 1], step), 0, entropy.now))
    return share(entropy.seen[:, place] - entropy.seen[:, -1] > entropy.last.noise)


def _finding(view: View, kl: Curve, p: float, place: int, verdict: str) -> Finding:
    series = distance_series(view.run)
    assert series is not None  # it has a curve
    then, now = (level_logged(kl, at, series) for at in (place, -1))
    step, last = round(float(kl.grid[place])), round(float(kl.grid[kl.now]))
    size = (now - then) / kl.noise if kl.noise > 0 else float("inf")
    says = (
        f"Since step {step} KL rose from {number(then)} to {number(now)}, {number(size)} times the "
        f"scatter of one point, {verdict}."
    )
    return Finding("kl.drift_without_benefit", round(p, 4), "concern", says, step, (Evidence(kl.metric, step, last),))
