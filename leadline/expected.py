"""Odd values that are normal here, and why. A rule is one function that returns a remark, or None if it does not
apply; a new one is a function and a line in RULES. What the lines of the loss and the machine explain is not repeated.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .curve.cells import LEAST, running_median, scale_of
from .digits import percent, went
from .facts.finding import SAID, Finding
from .facts.sections import Expected
from .questions.direction import p_climbed, p_sank
from .questions.shape import shape_of
from .reading.loss import about_zero, centred, loss_series
from .reading.view import View
from .run import REWARD, numbers_of

SELDOM = 0.1  # of the points: what fewer of them show is rounding, or over soon, and asks for no remark
ABOUT_POLICY = ("reward.", "kl.", "policy.", "generation.", "signal.", "stability.")  # findings about the policy

Remark = tuple[str, str]  # what looks odd, and why it is normal, without a full stop


def read(view: View, findings: tuple[Finding, ...] = ()) -> tuple[Expected, ...]:
    """Return every odd value of this run that its configuration or kind explains. Beside a serious finding, what would
    be a sign of good learning is none."""
    serious = any(finding.severity != "note" and finding.id.startswith(ABOUT_POLICY) for finding in findings)
    rules = (rule for rule in RULES if not (serious and rule is entropy_falls))
    return tuple(Expected(f"expected.{rule.__name__}", *remark) for rule in rules if (remark := rule(view)) is not None)


def negative_loss(view: View) -> Remark | None:
    values = numbers_of(loss_series(view.run))
    below = int((values < 0).sum())
    if len(values) < LEAST or 2 * below <= len(values):
        return None
    # About zero it has both signs: where its middle lies within its scatter, which a few spikes do not move.
    own = values / float(np.abs(values).max())  # squares of huge and tiny numbers are none
    if abs(np.median(own)) <= scale_of(own - running_median(own)):
        return None
    return (
        f"Policy loss is negative at {percent(below / len(values))} of points.",
        "it is minus the weighted advantage, not an error; its sign means nothing and it need not decrease",
    )


def clip_zero(view: View) -> Remark | None:
    updates = view.run.config.updates_per_batch
    clipped = next(
        (values for name in ("clip/frac", "clip/frac_high") if len(values := numbers_of(view.run.get(name)))), ()
    )
    update_kl = numbers_of(view.run.get("kl/update"))
    if len(clipped) < LEAST or np.any(clipped) or (updates is not None and updates > 1):
        return None
    if len(update_kl) >= LEAST and not update_kl.any():
        given = "one update per batch does that" if updates is None else "each batch is used for one update"
        says = "Clip fraction and approx KL are exactly 0 at every point."
        return says, f"{given}; old and new policy are identical when compared"
    says = "Clip fraction is exactly 0 at every point."
    if updates is None:
        return says, "one update per batch does that; the config doesn't set the number of updates"
    return says, "each batch is used for one update, so no ratio can be clipped"


def advantages_about_zero(view: View) -> Remark | None:
    values = numbers_of(view.run.get("adv/mean"))
    if len(values) < LEAST or not centred(view.run) or not about_zero(values):
        return None
    return "Mean advantage stays near 0.", "advantages are centered within each group or batch, whatever the reward"


def no_reference_kl(view: View) -> Remark | None:
    run, beta = view.run, view.run.config.kl_coefficient
    if any(series.name.startswith("kl/ref") for series in run.series):
        return None
    says = "Reference KL is not logged."
    if beta == 0:
        return says, "KL coefficient is 0, so the reference policy is unused; drift is read from other metrics"
    if beta is None and (run.framework or "").startswith("trl"):
        return says, "TRL omits it if beta is 0, its default; the log shows no other value"
    return None


def kl_logged_as_zero(view: View) -> Remark | None:
    values, beta = numbers_of(view.run.get("kl/ref")), view.run.config.kl_coefficient
    if len(values) < LEAST or values.any() or beta not in (0, None):
        return None
    given = "KL coefficient is 0" if beta == 0 else "a KL coefficient of 0 does that"
    return "Reference KL is exactly 0 at every point.", f"{given}; KL is logged without being computed"


def negative_update_kl(view: View) -> Remark | None:
    values = numbers_of(view.run.get("kl/update"))
    if not len(values) or np.mean(values < 0) < SELDOM:
        return None
    return (
        "Approx KL is negative at times.",
        "it is the mean log ratio of old to new policy, which scatters around a value near 0",
    )


def reward_after_kl(view: View) -> Remark | None:
    raw, after = view.run.get(REWARD), view.run.get("reward/after_kl_mean")
    if raw is None or after is None or view.run.config.kl_place == "loss":
        return None
    gap = np.subtract(*raw.beside(after))
    if len(gap) < LEAST or np.mean(gap > 0) < 0.5:
        return None
    says = f"`{after.key}` is below `{raw.key}`."
    return says, "the KL penalty is subtracted; Leadline reads the reward before that"


def filtered_reward(view: View) -> Remark | None:
    found = next((one for one in view.run.series if one.name.startswith("reward/filtered")), None)
    if found is None or not found.finite.any():
        return None
    return (
        f"`{found.key}` stays mid-range whatever the policy learns.",
        "all-correct and all-wrong groups are dropped first, so a flat curve means nothing; the unfiltered reward has "
        "the trend",
    )


def normalised_reward(view: View) -> Remark | None:
    series = view.run.get("reward/normalized_mean")
    if series is None or not series.finite.any():
        return None
    says = f"`{series.key}` stays near 0."
    return says, "it is the reward after normalization within groups; the raw reward is another key"


def entropy_falls(view: View) -> Remark | None:
    reward = view.readable(REWARD)
    if reward is None or p_climbed(reward.curve) <= SAID:
        return None
    entropy = view.readable("entropy")
    if entropy is None or p_sank(entropy.curve) <= SAID or entropy.curve.breaks:
        return None
    start, now = entropy.start, entropy.now
    if now >= start / 2 or shape_of(reward).word in ("declining", "peaked", "noise", "undecided"):
        return None
    return (
        f"Entropy dropped {went(start, now)} while reward rose.",
        "a policy that learns becomes more certain; worry only if reward does not rise",
    )


def warm_up(view: View) -> Remark | None:
    series = view.run.get("lr")
    values = numbers_of(series)
    if series is None or len(values) < LEAST or not (np.diff(values[:LEAST]) > 0).all():
        return None
    rests = np.flatnonzero(np.diff(values) <= 0)  # the warm-up is over where the rate first stops rising
    place = int(rests[0]) if len(rests) else len(values) - 1
    if place < SELDOM * len(values):
        return None
    step = int(series.steps[series.finite][place])
    return "Little changes at first.", f"the learning rate warms up until step {step}; earlier updates are smaller"


RULES: tuple[Callable[[View], Remark | None], ...] = (
    *(negative_loss, clip_zero, advantages_about_zero, no_reference_kl, kl_logged_as_zero, negative_update_kl),
    *(reward_after_kl, filtered_reward, normalised_reward, entropy_falls, warm_up),
)  # by name: expected.clip_zero
