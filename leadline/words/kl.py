"""Sentences about KL to the reference, alone and against the reward."""

from __future__ import annotations

from collections.abc import Callable

from ..facts.kl import Drift, KlCourse, KlDestructive, KlDrift, KlFrozen, KlPinned, KlReset, KlReward, KlTurnover
from .numbers import listed, number, percent
from .series import called

FEW = 4  # steps that are named one by one

MEANING = {
    "rising/rising": "KL and reward both rise: the policy is changing and improving",
    "rising/flat": "KL keeps rising while the reward is flat: the policy moves without gain",
    "rising/declining": "KL rises while the reward falls: the updates are destructive",
    "stable/rising": "the reward still rises at a stable KL: gain without further drift",
    "stable/flat": "KL and reward are both flat now: neither the policy nor the reward moves",
    "stable/declining": "the reward falls at a stable KL: look at the task and the reward function",
    "falling/rising": "KL falls while the reward rises: the policy returns towards its reference and improves",
    "falling/flat": "KL falls while the reward is flat: the policy returns towards its reference",
    "falling/declining": "KL and reward both fall: the policy returns towards its reference and gives up reward",
    "undecided": "too early to say which way KL and reward go together",
}


def reset(facts: KlReset) -> str:
    when = _at(facts.steps)
    if facts.announced or facts.before is None or facts.after is None:
        return f"The reference model is reset {when}, so KL starts again there. A saw-tooth is normal here."
    first = ", the first time" if len(facts.steps) > 1 else ","
    return (
        f"KL dropped at once {when}{first} from {number(facts.before)} to {number(facts.after)}, and the reward did "
        "not move: that is what a reset of the reference model looks like. KL before and after is measured from "
        "different models."
    )


def drift(facts: KlDrift) -> str:
    times = f", {number((facts.now - facts.before) / facts.noise)} times its noise per step," if facts.noise > 0 else ""
    so = (
        "and the reward has gained almost nothing since: further training only adds drift"
        if facts.ever_gained
        else "and the reward has not gained beyond its noise: drift without benefit"
    )
    return f"Since step {facts.since_step} KL rose from {number(facts.before)} to {number(facts.now)}{times} {so}."


def destructive(facts: KlDestructive) -> str:
    return (
        f"Since step {facts.since_step} KL rose from {number(facts.kl_before)} to {number(facts.kl_now)} while reward "
        f"fell from {number(facts.reward_high)} to {number(facts.reward_now)}: the updates are destructive."
    )


def turnover(facts: KlTurnover) -> str:
    return (
        f"Reward plotted against the square root of KL turns over at KL {number(facts.kl)}, around step {facts.step}. "
        f"Going further (KL is {number(facts.kl_now)} now) has cost reward."
    )


def frozen(facts: KlFrozen) -> str:
    if facts.since_step is not None:
        return (
            f"The learning rate has been 0 since step {facts.since_step}, and nothing has moved since. The schedule is "
            "over: further steps change nothing."
        )
    rate = "" if facts.learning_rate is None else f" ({number(facts.learning_rate)})"
    if facts.changed_share is None or facts.kl is None:
        distance = "" if facts.kl is None else f", and KL is {number(facts.kl)}"
        return (
            f"Nothing moves: {listed([called(name) for name in facts.still])} have stayed within their noise from the "
            f"start{distance}. Suspect the learning rate{rate}{', or a KL coefficient that is too high' * facts.held}."
        )
    some = facts.changed_share * 100 >= 1
    share = f"at most {percent(facts.changed_share)}" if some else "less than 1 %"
    return (
        f"The policy hardly moves: KL is {number(facts.kl)} per token, so {share} of its answers can differ from the "
        f"reference model's. Suspect the learning rate{rate}."
    )


def pinned(facts: KlPinned) -> str:
    if facts.gained:
        return (
            f"Reward and KL have come to rest where the KL penalty pulls back with much of what learning can pull "
            f"with, and there is signal left to learn from: with a lower KL coefficient than "
            f"{number(facts.kl_coefficient)} the policy would go further."
        )
    return (
        f"The KL penalty may pin the policy: reward and KL stand still though there is signal left to learn from, and "
        f"at most {percent(facts.changed_share)} of the answers can differ from the reference model's. Suspect the KL "
        f"coefficient ({number(facts.kl_coefficient)})."
    )


def kl_line(section: KlReward) -> str:
    """What KL does, in its own numbers, and what that means beside the reward; empty where it was not logged."""
    if section.course is None:
        return regime(section) if section.state == "always_zero" else ""
    course = _course(section.course)
    if not section.course.identified:
        return f"{course}; kind unknown: the log does not say whether it is KL to the reference"
    undecided = section.regime == "undecided" and not section.frozen
    return course if undecided or section.state != "read" else f"{course}; {regime(section)}"


def _course(course: KlCourse) -> str:
    start, now = number(course.start), number(course.now)
    if course.way in ("rose", "fell") and start != now:
        return f"{course.way} from {start} to {now}"
    if course.way == "too_few":
        return f"{start} at the start, {now} now; too few points to say more"
    if course.way != "still":
        return f"{start} at the start, {now} now"
    if course.erratic is None:
        return f"no clear trend around {now}"
    low, high = map(number, course.erratic)
    return f"erratic, mostly between {low} and {high}; no trend can be seen in that"


def regime(section: KlReward) -> str:
    """How KL and reward move together."""
    if section.state == "too_little":
        return "too few points to read KL against reward"
    if section.frozen:
        return "too small to mean anything: the policy has hardly left its reference model"
    if section.state == "read":
        below = "; the reward has plateaued below its best" if section.below_best else ""
        return f"{MEANING[section.regime]}{below}"
    absent = (
        "KL to the reference is 0 at every point: it was not computed, or the policy never moved."
        if section.state == "always_zero"
        else "KL to the reference was not logged."
    )
    if not section.drift:
        return f"{absent} Nothing else in the log would show drift."
    return f"{absent} What else may show drift: {'; '.join(map(_moved, section.drift))}."


def _moved(drift: Drift) -> str:
    name, start, now = called(drift.series), number(drift.start), number(drift.now)
    if drift.way in ("rose", "fell"):
        return f"{name} {drift.way} from {start} to {now}"
    return f"{name} moved and is at {now}" if drift.way == "moved" else f"{name} shows no clear trend around {now}"


def _at(steps: tuple[int, ...]) -> str:
    if len(steps) == 1:
        return f"at step {steps[0]}"
    if len(steps) <= FEW:
        return f"at steps {listed([str(step) for step in steps])}"
    return f"{len(steps)} times between steps {steps[0]} and {steps[-1]}"


SENTENCES: dict[str, Callable[..., str]] = {
    "kl.reset": reset,
    "kl.drift_without_benefit": drift,
    "kl.destructive": destructive,
    "kl.over_optimisation": turnover,
    "kl.frozen": frozen,
    "kl.pinned": pinned,
}
