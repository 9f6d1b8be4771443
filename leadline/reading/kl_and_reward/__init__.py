"""KL against reward: the policy changes, but does it gain? Now, and as segments over the run."""

from __future__ import annotations

from ...facts import BAR
from ...questions.fall import has_fallen
from ...questions.paths import share, silence
from ..reward import HEADLINE
from ..view import View
from .destructive import destructive
from .distance import distance, distance_series
from .drift import drift_without_benefit
from .frontier import over_optimisation
from .reading import KlReward, Regime
from .regimes import now, segments
from .resets import resets
from .unlogged import without_kl

__all__ = ["KlReward", "Regime", "read"]

SAID = BAR * BAR  # joint probability: two directions, each at the bar at which a single word is said


def read(view: View) -> KlReward:
    """How KL and reward move together, now and over the run."""
    kl, reward = distance(view), view.curve(HEADLINE)
    if kl is None:
        return without_kl(view)
    if reward is None or not reward.decidable or not kl.decidable:
        return KlReward(says="too little was logged to read KL against reward", findings=resets(view, kl))
    word, p = now(kl, reward)
    stretches = segments(kl, reward)
    since = stretches[-1].first_step if stretches[-1].regime == word else None
    findings = (
        *(resets(view, kl) if share(has_fallen(reward)) <= BAR else ()),
        *drift_without_benefit(view, kl, reward),
        *destructive(view, kl, reward),
        *over_optimisation(kl, reward),
    )
    said = word if p > SAID and not _ended(view) else "undecided"
    below = (
        "; the reward rests below what it once had"
        if word.endswith("/flat") and share(has_fallen(reward)) > BAR
        else ""
    )
    says = MEANING[said] + (below if said == word else "")
    return KlReward(said, round(p, 4), since if said == word else None, stretches, says, findings)


def _ended(view: View) -> bool:
    """Whether either is no number any more: where they go now is not known."""
    return any(one is not None and silence(one) for one in (distance_series(view.run), view.run.get(HEADLINE)))


MEANING = {
    "rising/rising": "the policy is changing and improving",
    "rising/flat": "the policy keeps moving away and the reward does not follow",
    "rising/declining": "the policy moves away and the reward falls: destructive",
    "stable/rising": "the reward still rises without further drift: the best case",
    "stable/flat": "the policy has stopped moving and the reward with it",
    "stable/declining": "the reward falls though the policy's distance holds: look at the task and the reward itself",
    "falling/rising": "the policy comes back towards its reference while the reward rises",
    "falling/flat": "the policy comes back towards its reference and the reward holds",
    "falling/declining": "the policy comes back towards its reference and gives reward up",
    "undecided": "which way KL and reward go together cannot be told yet",
}
