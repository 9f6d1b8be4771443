"""The verdict and what it rests on, as data."""

from __future__ import annotations

from typing import Literal

from ..records import dataclass, field
from .finding import Cause, Knob, Turn, TurningPoint

Verdict = Literal["continue", "stop", "roll_back", "undecided", "finished"]
ReasonKind = Literal[
    "no_reward",  # no training reward among what was logged
    "no_numbers",  # the reward was logged, but no value is a number
    "too_few",  # not enough points yet
    "lost_numbers",  # its last values are no numbers
    "gamed",  # the score no longer tracks policy quality
    "fallen",  # the score dropped
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


LIKELY = 2 / 3  # probability: from here on a course that is not clear is likely, below it is open


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason as numbers; each kind fills those that belong to it."""

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
    training_rises: bool = False  # while a held-out score shows no clear direction

    @property
    def is_past(self) -> bool:
        """True if it is about what happened, of which one is confident or not; else about what may come."""
        return self.kind in ("gamed", "fallen", "degraded", "no_signal")

    @property
    def unlikely(self) -> bool:
        """True if it is no likelier than not."""
        return not (self.kind == "flat" and self.clear) and self.p is not None and self.p <= 1 - self.p

    @property
    def is_flat(self) -> bool:
        """True if it goes nowhere now, and that is known or likely; else its trend cannot be told yet."""
        known = self.clear or (self.p or 0.0) > LIKELY
        return self.kind == "ceiling" or (self.kind in ("flat", "no_trend", "time_left") and known)

    def rests_on(self, ids: str) -> bool:
        """Return whether a finding of that id or topic is among its findings."""
        return any(found.startswith(ids) for found in self.findings)


@dataclass(frozen=True, slots=True)
class Upside:
    """The gain still to come within the plan, in units of the judged series; a fall counts as no gain."""

    mean: float | None = None
    p10: float | None = None
    p90: float | None = None
    worth_having: float | None = None  # a smaller gain is not worth the rest of the plan, or could not be told
    to_pass: float | None = None  # the level that such a gain has to reach: beyond the best so far, not beyond now

    def below_best(self, now: float | None) -> bool:
        """Return whether a gain worth having, from a level of `now`, would still end below the best so far."""
        if now is None or self.to_pass is None or self.worth_having is None:
            return False
        return self.to_pass - self.worth_having - now > self.worth_having / 2


@dataclass(frozen=True, slots=True)
class Risk:
    """The cost that continuing may have."""

    p_worse: float | None = None  # that the end is clearly worse than now, and no gain worth having came before
    mean_loss: float | None = None  # in units of the judged series; a gain counts as no loss


@dataclass(frozen=True, slots=True)
class Horizon:
    """The steps that the verdict is about."""

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


@dataclass(frozen=True, slots=True)
class Advice:
    """The setting to change or check next, and the finding that points to it."""

    knob: Knob
    way: Turn
    because: str  # a clause
    finding: str  # id


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that would turn the verdict."""

    kind: Literal["rise", "no_rise", "samples_hold_up"]
    turns_to: Verdict
    series: str | None = None
    level: float | None = None
    by_step: int | None = None
    after_step: int | None = None


COLLAPSE = 0.9  # of its own range: a drop of so much is a collapse, if it is more than half of the level too
OUTCOMES: dict[ReasonKind, Outcome] = {
    "no_reward": "no_reward",
    "no_numbers": "unreadable",
    "lost_numbers": "unreadable",
    "too_few": "too_early",
    "degraded": "degraded",
    "no_signal": "no_signal",
    "ceiling": "saturated",
    "too_noisy": "unclear",
    "rising": "improving",
}


# How a score fails to track policy quality, by the findings that show it.
HOW_SCORES_FAIL: tuple[tuple[str, Outcome], ...] = (("reward.", "hacked"), ("generation.", "degraded"))
REVIEW = "leadline review PATH"  # what a reader is asked to run; the path is filled in if it is known
ENDED_BADLY: dict[Outcome, str] = {
    "collapsed": "COLLAPSED",
    "regressed": "REGRESSED",
    "hacked": "REWARD-HACKED",
    "overfitted": "OVERFITTED",
    "degraded": "DEGRADED",
    "no_signal": "NO GRADIENT SIGNAL",
    "unreadable": "NOT A NUMBER",
}
EVEN = 0.5  # chance: a finished run that is likelier to gain than not is worth extending


def calls_for(verdict: str, outcome: str | None) -> str:
    """Return what exit codes, colors, and the order of urgency go by: `roll_back` if a finished run ended badly.

    >>> calls_for("finished", "collapsed"), calls_for("finished", "saturated"), calls_for("stop", None)
    ('roll_back', 'finished', 'stop')
    """
    return "roll_back" if verdict == "finished" and outcome in ENDED_BADLY else verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict and what it rests on."""

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
    cause: Cause | None = None  # of the drop that is its reason, if that was sudden and its cause is known

    @property
    def is_open(self) -> bool:
        """True if the run goes on, so that its best step is the best so far."""
        return self.verdict in ("continue", "undecided")

    @property
    def a_step_stands_out(self) -> bool:
        """True if one step is better than the others: without a trend only a checkpoint on disk is worth naming."""
        best, reason = self.best_checkpoint, self.reason
        frozen = reason.findings == ("policy.frozen",) and reason.since_step is None
        alike = frozen or reason.kind in ("no_trend", "too_noisy")
        return not alike or (best is not None and best.path is not None)

    @property
    def starts_over(self) -> bool:
        """True if it went wrong and nothing that was learned is worth keeping: the best step is the first one."""
        best, horizon = self.best_checkpoint, self.horizon
        at_first = best is not None and horizon is not None and best.step <= horizon.first_step
        return at_first and not self.is_open and self.outcome in ENDED_BADLY

    @property
    def asks_for_review(self) -> bool:
        """True if the responses changed in a way that only a reader can judge."""
        return any(advice.way == "review" for advice in self.advice)

    @property
    def worth_extending(self) -> bool:
        """True if a finished run that ended well is likelier to gain than not."""
        ended_well = self.ended is not None and self.outcome not in ENDED_BADLY
        return ended_well and (self.p_continue_pays or 0.0) > EVEN

    @property
    def deciding(self) -> tuple[Condition, ...]:
        """Conditions that would turn the verdict: one that is reached only at the end of the plan turns no stop.

        None turns a `continue`: below the level that is asked for, a rise still counts. Samples are asked for only if
        they are all that speaks against the score."""
        if self.verdict == "continue" or (self.reason.kind == "fallen" and self.outcome == "collapsed"):
            return ()
        too_late = None if self.horizon is None or self.verdict == "undecided" else self.horizon.end_step
        others = [one for one in self.would_change if one.turns_to != self.verdict]
        return tuple(one for one in others if one.by_step is None or one.by_step != too_late)

    @property
    def outcome(self) -> Outcome:
        """The state that the run has come to so far, whatever the verdict."""
        reason = self.reason
        if reason.kind == "gamed":
            return next((ended for found, ended in HOW_SCORES_FAIL if reason.rests_on(found)), "overfitted")
        if reason.kind == "fallen":
            if reason.lost is None or reason.high is None or reason.level is None or reason.lost < COLLAPSE:
                return "regressed"
            return "collapsed" if reason.high - reason.level > abs(reason.high) / 2 else "regressed"
        if reason.kind in OUTCOMES:
            return OUTCOMES[reason.kind]
        if not reason.is_flat:
            return "unclear"
        never_moved = reason.kind == "no_trend" or (reason.kind == "time_left" and reason.start is None)
        return "no_trend" if never_moved else "plateaued"
