"""Training reward up or holding while held-out reward falls: what is learned no longer carries over."""

from __future__ import annotations

from dataclasses import dataclass

from ..facts import Evidence, Facts, Finding, Guide, Meaning, Severity
from ..facts.judgement import Suspect
from ..questions.bars import SAID
from ..questions.fall import fall_of
from ..questions.level import level_at, level_now, steps_seen
from ..questions.since_peak import p_held_while_other_fell
from ..questions.way import net_change
from ..reading.reward.apart import component_names, held_out_names, second_scores
from ..reading.reward.stretch import reward_now
from ..reading.view import HEADLINE, View
from ..words.numbers import counted, number, went

GUIDE = {
    "signal.train_eval_gap": Guide(
        "A held-out eval regressed while training reward did not.",
        "Both metrics since the peak of the held-out eval.",
        "Roll back to the held-out peak. More or different prompts help; a longer run doesn't.",
    ),
}
MEANS: dict[str, Meaning] = {"signal.train_eval_gap": "gamed"}


@dataclass(frozen=True, slots=True)
class TrainEvalGap(Facts):
    """Held-out reward has fallen while the training reward has not."""

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
    train, logged = reward_now(view), view.run.get(HEADLINE)
    if train is None or logged is None or not train.decidable:
        return ()
    names = (
        *held_out_names(view),
        *(name for name in second_scores(view) if name not in component_names(view).values()),
    )
    curves = [curve for name in names if (curve := view.curve(name)) is not None and curve.decidable]
    gaps = [(p_held_while_other_fell(train, curve), curve) for curve in curves]
    sure = 1 - (1 - SAID) / max(len(gaps), 1)  # the worst of many sets is often bad by chance
    found = [(p, curve) for p, curve in gaps if p > sure]
    if not found:
        return ()
    p, held_out = max(found, key=lambda pair: pair[0])
    series = view.run.get(held_out.metric)
    fall = None if series is None else fall_of(held_out, series)
    if fall is None:
        return ()
    step, last = fall.from_step, steps_seen(held_out)[1]
    facts = TrainEvalGap(
        held_out=held_out.metric,
        high=fall.high,
        high_step=step,
        now=fall.now,
        train_then=level_at(train, logged, step),
        train_now=level_now(train, logged),
        others=len(found) - 1,
    )
    evidence = (Evidence(held_out.metric, step, last), Evidence(HEADLINE, step, last))
    # One of several benchmarks may be forgotten while the others gain: worth a note, and no proof against the reward.
    gains = any((change := net_change(curve)) is not None and change.rose > SAID for curve in curves)
    severity: Severity = "note" if gains else "concern"
    return (Finding("signal.train_eval_gap", round(p, 4), severity, since_step=step, evidence=evidence, facts=facts),)


SUSPECT: Suspect = ("data", "check")
