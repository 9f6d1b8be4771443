"""Training reward up or holding while held-out reward falls: what is learned no longer carries over."""

from __future__ import annotations

from typing import ClassVar

from ..digits import counted, number, went
from ..facts.finding import SAID, Evidence, Facts, Finding, Guide, Meaning, Severity, Suspect
from ..questions.direction import p_climbed
from ..questions.fall import fall_of, p_held_while_other_fell
from ..questions.level import steps_seen
from ..reading.scores import component_names, held_out_names, second_scores
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD

GUIDE = {
    "signal.train_eval_gap": Guide(
        "A held-out eval regressed while training reward did not.",
        "Both metrics since the peak of the held-out eval.",
        "Roll back to the held-out peak. More or different prompts help; a longer run doesn't.",
    ),
}


@dataclass(frozen=True, slots=True)
class TrainEvalGap(Facts):
    """Held-out reward has fallen while the training reward has not."""

    MEANS: ClassVar[Meaning | None] = "gamed"
    SUSPECT: ClassVar[Suspect | None] = ("data", "check", "gains no longer generalize")

    held_out: str  # series
    high: float
    high_step: int
    now: float
    train_then: float  # at `high_step`
    train_now: float
    others: int  # further held-out series that fell likewise

    def say(self) -> str:
        others = "" if not self.others else f"; {counted(self.others, 'other eval')} regressed too"
        held = number(self.train_then) == number(self.train_now)
        train = f"held at {number(self.train_now)}" if held else f"went {went(self.train_then, self.train_now)}"
        return (
            f"Held-out eval regressed: {self.held_out} dropped {went(self.high, self.now)} since step "
            f"~{self.high_step} while training reward {train}. Gains no longer generalize{others}."
        )


def detect(view: View) -> tuple[Finding, ...]:
    """Find the score beside the training reward on which the gap is surest: a held-out one, or another measure of the
    same samples. A component is neither: the reward is their sum, and may be meant to trade one for another."""
    reward = view.readable(REWARD)
    if reward is None:
        return ()
    train = reward.curve
    names = (
        *held_out_names(view),
        *(name for name in second_scores(view) if name not in component_names(view).values()),
    )
    scores = [part for name in names if (part := view.readable(name)) is not None]
    gaps = [(p_held_while_other_fell(train, score.curve), score) for score in scores]
    sure = 1 - (1 - SAID) / max(len(gaps), 1)  # the worst of many sets is often bad by chance
    found = [(p, score) for p, score in gaps if p > sure]
    if not found:
        return ()
    p, score = max(found, key=lambda pair: pair[0])
    held_out, fall = score.curve, fall_of(score)
    if fall is None:
        return ()
    step, last = fall.from_step, steps_seen(held_out)[1]
    facts = TrainEvalGap(
        held_out=held_out.metric,
        high=fall.high,
        high_step=step,
        now=fall.now,
        train_then=reward.at(step),
        train_now=reward.now,
        others=len(found) - 1,
    )
    evidence = (Evidence(held_out.metric, step, last), Evidence(REWARD, step, last))
    # One of several benchmarks may be forgotten while the others gain: worth a note, and no proof against the reward.
    gains = any(p_climbed(one.curve) > SAID for one in scores)
    severity: Severity = "note" if gains else "concern"
    # The two part where the held-out score stood highest: the last step at which both speak for the policy.
    return (Finding("signal.train_eval_gap", round(p, 4), severity, facts, step, evidence),)
