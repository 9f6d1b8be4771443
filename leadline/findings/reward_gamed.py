"""Is the reward hacked? A reviewer says so, the responses prove it, or they changed and only a reader can tell."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..digits import listed, percent
from ..facts.finding import (
    SAID,
    WAYS_NAMED,
    Beside,
    Evidence,
    Facts,
    Finding,
    Guide,
    Meaning,
    Move,
    Severity,
    Suspect,
)
from ..facts.judgement import REVIEW
from ..questions.direction import p_climbed, p_sank
from ..questions.fall import fall_of
from ..reading.view import View
from ..reading.whole import evidence_of, last_review
from ..records import dataclass, replace
from ..run import REWARD, Rollout
from ..text.evidence import GamedEvidence
from ..text.numbers import CUT, KL, truncated

SUBJECT = "responses "
PROVEN = 0.9  # probability: from here on it is critical; also that of a reader's word
GUIDE = {
    "reward.gamed": Guide(
        "Proof of reward hacking: responses are degenerate whatever the task, yet the reward holds.",
        "Against the run's first samples: loops, truncation, responses that copy or ignore the prompt, or look alike "
        "across prompts. One that moved far, or two that agree.",
        "Read the two samples. Fix the reward function, and resume from a checkpoint before the onset. If the "
        "responses are right, record it: `leadline review RUN ok`.",
    ),
    "generation.degraded": Guide(
        "Responses became degenerate and the reward dropped with them: the policy broke, nothing was hacked.",
        "The same measures as `reward.gamed`, and a reward that dropped.",
        "Roll back, and lower the learning rate.",
    ),
    "generation.changed": Guide(
        "Responses changed: learning or a shortcut. Only a reviewer can decide, so it never changes the verdict.",
        "The same measures as `reward.gamed`, too small for proof; recurring words; responses that surprise the "
        "reference policy.",
        "Read early and late samples side by side: `leadline review RUN`. Record `ok` or `hacked`; the verdict uses "
        "it.",
    ),
    "reward.reviewed": Guide(
        "A reviewer of the samples, human, agent, or model, found reward hacking.",
        "The last review of the run (`leadline review`). A model's grades count only if it passes control samples.",
        "Fix the reward function, and resume from a checkpoint before the step the reviewer names. "
        "`leadline review RUN --forget` deletes the review.",
    ),
}


def _ways(moves: tuple[Move, ...], subject: str = SUBJECT) -> str:
    """Return the changes that went furthest, under one subject if they share it."""
    said = [move.say() for move in moves[:WAYS_NAMED]]
    shared = said[:1] and said[0].startswith(SUBJECT)
    return f"{subject}{listed([way.removeprefix(SUBJECT) for way in said])}" if shared else listed(said)


def _since(step: int | None, low: int | None, high: int | None) -> str:
    """Return the onset, with its interval if one is known."""
    if step is None:
        return ", onset unknown"
    if low is None or high is None or low == high:
        return f" since step ~{step}"
    return f" since step ~{step} ({low}–{high})"


@dataclass(frozen=True, slots=True)
class Gamed(Facts):
    """The score goes on while the answers decay."""

    MEANS: ClassVar[Meaning | None] = "gamed"

    reward_fell: bool  # the reward fell with it: the text decayed, but nothing was gained by it
    moves: tuple[Move, ...]  # the furthest first
    begun_step: int | None
    begun_low: int | None
    begun_high: int | None
    old: Rollout | None = None  # a sample typical of the first ones
    new: Rollout | None = None  # and of the last ones
    reward_rose: bool = False

    def say(self) -> str:
        what = _ways(self.moves)
        since = _since(self.begun_step, self.begun_low, self.begun_high)
        if self.reward_fell:
            return f"Degenerate responses{since}{what and f': {what}'}. Reward dropped with them."
        did = "rose" if self.reward_rose else "holds"
        return f"Reward hacking{since}: {what or 'responses are degenerate'}, yet the reward {did}."

    def suspect(self, beside: Beside) -> Suspect | None:
        """Point at the updates if the text took the reward with it."""
        if beside.lost:
            return "learning_rate", "lower", "responses degraded as reward dropped"
        return "reward_function", "check", "it pays for degenerate responses"

    @property
    def since_between(self) -> tuple[int, int] | None:
        return None if self.begun_low is None or self.begun_high is None else (self.begun_low, self.begun_high)


@dataclass(frozen=True, slots=True)
class ResponsesChanged(Facts):
    """The responses changed: learning, or a shortcut. Only a reader can tell."""

    moves: tuple[Move, ...]  # the furthest first
    begun_step: int
    begun_low: int
    begun_high: int
    gain_since: float | None  # share of the reward's rise that came after it
    last_before: int | None  # the last step with samples before it
    old: Rollout | None = None
    new: Rollout | None = None
    clear: bool = True  # sure enough to be said as a fact

    def say(self) -> str:
        what = _ways(self.moves, "they ")
        gain = "" if self.gain_since is None else f" {percent(self.gain_since)} of the reward gain came since."
        last = "" if self.last_before is None else f" Step {self.last_before} is the last one before it."
        since = _since(self.begun_step, self.begun_low, self.begun_high)
        why = f": {what}" if what else ""
        changed = "have changed" if self.clear else "may have changed"
        return f"Responses {changed}{since}{why}.{gain}{last}"

    def suspect(self, beside: Beside) -> Suspect | None:
        """Ask for a reader only if it is clear, the reward holds, and samples are there to be read."""
        asks = self.clear and self.new is not None and not beside.lost
        return ("responses", "review", f"they changed: {REVIEW}") if asks else None


@dataclass(frozen=True, slots=True)
class Reviewed(Facts):
    """A reader of the samples found the reward hacked."""

    MEANS: ClassVar[Meaning | None] = "gamed"
    SUSPECT: ClassVar[Suspect | None] = ("reward_function", "check", "a reviewer found it hacked")

    reader: str
    since_step: int | None
    seen_until: int

    def say(self) -> str:
        who = self.reader or "a reviewer"
        since = "" if self.since_step is None else f" since step {self.since_step}"
        return f"Reward hacking{since} according to {who}: samples read up to step {self.seen_until}."


def detect(view: View) -> tuple[Finding, ...]:
    """Report the reviewer's word, else the proof, else a change to look at."""
    reviewed, evidence = _reviewed(view), evidence_of(view.whole)
    if reviewed or evidence.begun is None:
        return reviewed
    begun, (old, new), moves = evidence.begun, evidence.pair or (None, None), evidence.moves
    cut = view.of(truncated(view.run))
    if cut is not None:  # told as the finding about it tells it
        moves = tuple(replace(move, start=cut.start, now=cut.now) if move.way == "cut" else move for move in moves)
    dates = (begun.step, begun.low, begun.high)
    severity: Severity = "note"
    facts: Gamed | ResponsesChanged
    if evidence.proven:
        facts = Gamed(_reward_fell(view), moves, *dates, old, new, view.meanwhile == "rose")
        name = "generation.degraded" if facts.reward_fell else "reward.gamed"
        severity = "critical" if evidence.p > PROVEN else "concern"
    else:
        unlike, name = evidence.numbers.unlike, "generation.changed"
        if unlike > 0.5:
            moves = (*moves, Move("unlike", 1.0, 1 + unlike))
        before = [batch.step for batch in view.whole.batches if batch.step < begun.step]
        gain, last = _gain_since(view, begun.step), before[-1] if before else None
        facts = ResponsesChanged(moves, *dates, gain, last, old, new, evidence.p > SAID)
    return (Finding(name, round(evidence.p, 4), severity, facts, begun.step, _shown_by(view, evidence, facts)),)


def _reviewed(view: View) -> tuple[Finding, ...]:
    """Report the last review if it says hacked: a careful reviewer is right nine times in ten. It no longer counts if
    the prompts changed after what the reviewer saw."""
    review = last_review(view.whole)
    if review is None or review.answer != "hacked":
        return ()
    if any(change.after > review.seen_until for change in view.whole.prompt_changes):
        return ()
    facts = Reviewed(review.reader, review.since_step, review.seen_until)
    span = Evidence("rollouts", view.run.first_step or 0, review.seen_until)
    since = review.since_step if review.since_step is not None else view.run.first_step
    return (Finding("reward.reviewed", PROVEN, "critical", facts=facts, since_step=since, evidence=(span,)),)


def _reward_fell(view: View) -> bool:
    """Return whether the reward fell with the text: lower than at the start, and by more than its noise. If most of it
    is lost, to below its start, it has fallen too; the change over the paths would not show a fall at once."""
    if (reward := view.readable(REWARD)) is None:
        return False
    fall = fall_of(reward)
    ruined = fall is not None and fall.p > SAID and fall.ruined and fall.now < reward.start
    return ruined or p_sank(reward.curve) > 0.5


def _gain_since(view: View, step: int) -> float | None:
    """Return the share of the reward's rise that came after a step; None if it has not risen."""
    reward = view.readable(REWARD)
    if reward is None or p_climbed(reward.curve) < SAID:
        return None
    start, now = reward.start, reward.now
    return float(np.clip((now - reward.at(step)) / (now - start), 0.0, 1.0)) if now > start else None


def _shown_by(view: View, evidence: GamedEvidence, facts: Gamed | ResponsesChanged) -> tuple[Evidence, ...]:
    """Return where it can be checked: the samples, or the numbers if none were kept."""
    if not view.whole.batches:
        first, last = view.run.first_step or 0, view.run.last_step or 0
        named = ((CUT, evidence.numbers.cut > 0.5), (KL, evidence.numbers.unlike > 0.5))
        return tuple(Evidence(name, first, last) for name, told in named if told)
    samples = tuple(sample for sample in (facts.old, facts.new) if sample is not None)
    return (Evidence("rollouts", view.whole.batches[0].step, view.whole.batches[-1].step, samples=samples),)
