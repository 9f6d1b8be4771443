"""The responses are degenerate whatever the task, and the reward holds; or it dropped with them."""

from __future__ import annotations

from dataclasses import dataclass

from ..contract import Reading
from ..evidence import GamedEvidence
from ..facts import Facts, Finding, Guide, Meaning, Severity
from ..facts.gamed import Move
from ..facts.judgement import Beside, Suspect
from ..questions.bars import CLEARLY, EVEN, SAID
from ..questions.fall import fall_of
from ..questions.way import net_change
from ..reading.gamed import evidence_of, moves_of, pair_of, shown_by
from ..reading.view import HEADLINE, View
from ..run import Rollout
from ..words.gamed import sample_said, since_said, ways_said
from . import reward_reviewed
from .generation_changed import ResponsesChanged

GUIDE = {
    "reward.gamed": Guide(
        "Proof of reward hacking: responses are degenerate whatever the task, yet the reward holds. If the reward "
        "dropped with them, the policy collapsed.",
        "Against the run's first samples: loops, truncation, responses that copy or ignore the prompt, or look alike "
        "across prompts; fixed prompts that miss the training gain. One that moved far, or two that agree.",
        "Read the two samples. Fix the reward function, and resume from a checkpoint before the onset. If the "
        "responses are right, record it: `leadline review RUN ok`.",
    ),
}
MEANS: dict[str, Meaning] = {"reward.gamed": "gamed"}


@dataclass(frozen=True, slots=True)
class Gamed(Facts):
    """The score goes on while the answers decay."""

    reward_fell: bool  # the reward fell with it: the text decayed, but nothing was gained by it
    moves: tuple[Move, ...]  # the furthest first
    begun_step: int | None
    begun_low: int | None
    begun_high: int | None
    old: Rollout | None = None  # a sample typical of the first ones
    new: Rollout | None = None  # and of the last ones

    def say(self) -> str:
        what = ways_said(self.moves)
        since = since_said(self.begun_step, self.begun_low, self.begun_high)
        if self.reward_fell:
            return f"Degenerate responses{since}{what and f': {what}'}. Reward dropped with them."
        return f"Reward hacking{since}: {what or 'responses are degenerate'}, yet the reward holds."


def detect(view: View) -> tuple[Finding, ...]:
    """The proof, where no reader has the last word."""
    evidence = evidence_of(view)
    begun = evidence.begun
    if begun is None or not evidence.proven or reward_reviewed.detect(view):
        return ()
    dates = (begun.step, begun.low, begun.high)
    facts = Gamed(_reward_fell(view, evidence), moves_of(evidence), *dates, *pair_of(evidence))
    p, spans = evidence.p, shown_by(view, evidence)
    severity: Severity = "critical" if p > CLEARLY else "concern"
    return (Finding("reward.gamed", round(p, 4), severity, facts=facts, since_step=begun.step, evidence=spans),)


def _reward_fell(view: View, evidence: GamedEvidence) -> bool:
    """Whether the reward fell with the text: lower than at the start, and by more than its noise. Most of it lost to
    below its start has fallen whatever the samples scored; the change over the paths would not see a fall at once."""
    curve, logged = view.curve(HEADLINE), view.run.get(HEADLINE)
    change = net_change(curve)
    if evidence.outcome == "decayed" and (change is None or change.fell > EVEN):
        return True
    fall = fall_of(curve, logged) if curve is not None and logged is not None and curve.decidable else None
    return fall is not None and fall.p > SAID and fall.ruined and fall.now < fall.start


def side_by_side(facts: object) -> list[tuple[str, str]]:
    """An early and a late answer, with what each earned."""
    if not isinstance(facts, Gamed | ResponsesChanged) or facts.old is None or facts.new is None:
        return []
    return [("then", sample_said(facts.old)), ("now", sample_said(facts.new))]


def pair_of_the_verdict(reading: Reading) -> list[tuple[str, str]]:
    """The two samples to show with the verdict: none where the reward itself says that it dropped."""
    if reading.judgement.reason.kind == "fallen":
        return []
    return next((pair for one in reading.findings if (pair := side_by_side(one.facts))), [])


def suspect(found: Finding, beside: Beside) -> Suspect | None:
    """Text that decays and takes the reward with it is an update that was too large, not a reward that pays for it."""
    return ("learning_rate", "lower") if beside.lost else ("reward_function", "check")
