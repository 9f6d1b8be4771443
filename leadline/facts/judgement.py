"""What is decided about going on, and what that rests on: data only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .reward import TurningPoint

Verdict = Literal["continue", "stop", "roll_back", "undecided", "finished"]
ReasonKind = Literal[
    "no_reward",  # no training reward among what was logged
    "no_numbers",  # the reward was logged, but no value is a number
    "too_few",  # not enough points yet
    "lost_numbers",  # its last values are no numbers
    "gamed",  # the score no longer says what the policy is worth
    "fallen",  # value that was there is gone
    "degraded",  # the reward is flat, and quality measures get worse together
    "no_signal",  # nothing can be learned any more
    "ceiling",  # the score is as high as it can get
    "no_trend",  # nothing has moved so far
    "too_noisy",  # nothing has moved that could be told from noise; a gain worth having could not have been, either
    "time_left",  # no direction yet, and enough of the plan is left for a gain
    "rising",  # it rises
    "flat",  # it has plateaued
]
Outcome = Literal[
    "improving",
    "plateaued",
    "saturated",  # at its known maximum
    "regressed",  # the reward dropped
    "collapsed",  # nearly all of it
    "hacked",  # the score holds or rises while the responses degrade, or a reader says so
    "overfitted",  # the training score no longer tracks the held-out one
    "degraded",  # quality metrics get worse together on a flat reward
    "no_signal",
    "no_trend",
    "unclear",
    "too_early",
    "unreadable",  # the reward is NaN or Inf
    "no_reward",
]
# The plan was reached, the trainer said so, its scheduler ended it, the learning rate has run out, the log has long
# been still.
Ending = Literal["plan", "trainer", "scheduler", "schedule", "silent"]
# The run, its settings or its user say how long it is to be, or its learning rate shows it.
PlanSource = Literal["told", "schedule"]


# Why a new stretch began: the prompts changed, the run was resumed or its reference reset, or all that would show the
# policy change held still, so that the task or the reward function changed.
NewStretch = Literal["prompts", "event", "outside"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why, as numbers; each kind fills those that belong to it."""

    kind: ReasonKind
    p: float | None = None
    since_step: int | None = None
    since_between: tuple[int, int] | None = None  # 80 % interval of that step
    clear: bool = True  # sure enough to be said as a fact; rising, flat: the word for the shape of its curve agrees
    start: float | None = None  # level it began at
    turn: TurningPoint | None = None  # where a rise began that did not begin there; fallen: since when it rises again
    high: float | None = None  # level it fell from, or the ceiling
    level: float | None = None  # level now
    points: int | None = None  # logged so far
    more_points: int | None = None  # needed before anything can be told
    more_steps: int | None = None  # too_noisy: after which a steady gain worth having would show
    key: str | None = None  # of the series, as logged
    candidates: tuple[str, ...] = ()  # keys that may be the reward
    lost: float | None = None  # fallen: share of its own range that is gone
    findings: tuple[str, ...] = ()  # ids of those it rests on
    training_rises: bool = False  # beside a held-out score without a clear direction


@dataclass(frozen=True, slots=True)
class Upside:
    """The gain still to come within the plan, in units of the judged series; a fall counts as no gain."""

    mean: float | None = None
    p10: float | None = None
    p90: float | None = None
    worth_having: float | None = None  # a smaller gain is not worth the rest of the plan, or could not be told
    to_pass: float | None = None  # the level that such a gain has to reach: beyond the best so far, not beyond now


@dataclass(frozen=True, slots=True)
class Risk:
    """What going on may cost."""

    p_worse: float | None = None  # that the end is clearly worse than now, and no gain worth having came before
    mean_loss: float | None = None  # in units of the judged series; a gain counts as no loss


@dataclass(frozen=True, slots=True)
class Horizon:
    """The time the judgement speaks about."""

    first_step: int
    elapsed: float  # share of the plan
    end_step: int  # up to which going on is judged
    planned: bool  # a plan is known; else going on as long again is judged
    now_step: int = 0  # the last one logged
    hours: float | None = None  # of the clock that the rest would take, where steps are timed
    gpu_hours: float | None = None  # that it would cost, where the GPUs are known


@dataclass(frozen=True, slots=True)
class BestCheckpoint:
    """The step to keep."""

    step: int
    p_best: float  # that no other step is better by more than is worth having
    path: str | None
    complete: bool | None
    also_evaluate: tuple[int, ...] = ()
    wanted_step: int | None = None  # a better step of which nothing was kept
    cost: float | None = None  # how much better that step was
    partial_only: bool = False  # there are checkpoints, but none that is complete


Knob = Literal[
    "learning_rate",
    "kl_coefficient",
    "clip",
    "group_size",
    "length_cap",
    "reward_function",
    "data",
    "reference",
    "responses",
]

Turn = Literal["lower", "raise", "check", "review"]
Suspect = tuple[Knob, Turn]


@dataclass(frozen=True, slots=True)
class Beside:
    """All serious findings, as each of them sees the others."""

    ids: frozenset[str]
    lost: bool  # one of them says that the reward fell


@dataclass(frozen=True, slots=True)
class Advice:
    """What to look at next: a knob that is suspect, and the finding that makes it so."""

    knob: Knob
    way: Turn
    finding: str  # id


@dataclass(frozen=True, slots=True)
class Condition:
    """What one would have to see to say something else."""

    kind: Literal["rise", "no_rise", "samples_hold_up"]
    turns_to: Verdict
    series: str | None = None
    level: float | None = None
    by_step: int | None = None
    after_step: int | None = None


NEARLY_ALL = 0.9  # of its own range: a drop of so much is a collapse, if it is more than half of the level too
OUTCOMES: dict[ReasonKind, Outcome] = {
    "no_reward": "no_reward",
    "no_numbers": "unreadable",
    "lost_numbers": "unreadable",
    "too_few": "too_early",
    "degraded": "degraded",
    "no_signal": "no_signal",
    "ceiling": "saturated",
    "no_trend": "no_trend",
    "too_noisy": "no_trend",
    "time_left": "unclear",
    "rising": "improving",
}


LOST: tuple[Outcome, ...] = (
    "collapsed",
    "regressed",
    "hacked",
    "overfitted",
    "degraded",
    "no_signal",
    "unreadable",
)


def calls_for(verdict: str, outcome: str | None) -> str:
    """Return what exit codes, colors, and the order of urgency go by: `roll_back` if a finished run ended badly.

    >>> calls_for("finished", "collapsed"), calls_for("finished", "saturated"), calls_for("stop", None)
    ('roll_back', 'finished', 'stop')
    """
    return "roll_back" if verdict == "finished" and outcome in LOST else verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether to go on, and what that rests on."""

    verdict: Verdict = "undecided"
    reason: Reason = field(default_factory=lambda: Reason("no_reward"))
    p_continue_pays: float | None = None
    upside: Upside = field(default_factory=Upside)
    risk: Risk = field(default_factory=Risk)
    horizon: Horizon | None = None
    ended: Ending | None = None  # why the run is finished, where it is
    best_checkpoint: BestCheckpoint | None = None
    because: tuple[str, ...] = ()  # ids of the findings it rests on
    would_change: tuple[Condition, ...] = ()
    advice: tuple[Advice, ...] = ()  # at most two
    next_look_step: int | None = None
    judged: str | None = None  # canonical name of the series that was judged
    judged_since: int | None = None  # from this step on only: there the score stepped without the policy's doing
    judged_because: NewStretch | None = None  # why levels before that step cannot be compared
    expected_utility: float | None = None  # mean gain less the price of the rest, in shares of the run's own range
    leans_to_stop: bool = False  # undecided, and rather so than not
    nearly_through: bool = False  # continue, as it rises and little of the plan is left, whatever may come of it

    @property
    def outcome(self) -> Outcome:
        """What the run has come to so far, whatever is to be done about it."""
        reason = self.reason
        if reason.kind == "gamed":
            return "hacked" if any(found.startswith("reward.") for found in reason.findings) else "overfitted"
        if reason.kind == "fallen":
            return "collapsed" if _collapsed(reason) else "regressed"
        if reason.kind == "flat":
            return "plateaued" if reason.clear else "unclear"
        return OUTCOMES[reason.kind]


def _collapsed(reason: Reason) -> bool:
    if reason.lost is None or reason.high is None or reason.level is None:
        return False
    return reason.lost >= NEARLY_ALL and reason.high - reason.level > abs(reason.high) / 2
