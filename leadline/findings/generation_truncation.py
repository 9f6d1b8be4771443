"""Responses that hit max length: ever more of them, or most of them since the start."""

from __future__ import annotations

from ..digits import percent
from ..facts.finding import SAID, Beside, Evidence, Facts, Finding, Guide, Severity, Suspect
from ..questions.changes import more_than
from ..questions.direction import NEARLY_ALL, p_climbed, since_of
from ..questions.level import SETTLED, p_above
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD
from ..text.numbers import truncated

GUIDE = {
    "generation.truncation": Guide(
        "Many responses hit max length, or most have since the start.",
        "The logged share of truncated responses.",
        "Raise the max response length, or penalize length; rewards of truncated responses are mostly noise. Nothing "
        "if responses should have a fixed length.",
    ),
}


@dataclass(frozen=True, slots=True)
class Truncation(Facts):
    """Shares of the responses that are truncated."""

    start: float
    now: float
    throughout: bool = False  # most were truncated since the start, so that nothing rose
    length_cap: int | None = None  # tokens, if the settings tell it
    reward_rose: bool = False

    def say(self) -> str:
        share = percent(self.now)
        if not self.throughout:
            was = percent(self.start)
            return f"{share} of responses are truncated at max length, up from {was}: their reward is unreliable."
        cap = "" if self.length_cap is None else f" ({self.length_cap} tokens)"
        cut = f"{share} of responses hit max length{cap}, as they have since the start"
        if self.reward_rose:
            return f"{cut}. Reward rises anyway: fine if responses should have a fixed length."
        if self.now <= NEARLY_ALL:
            return f"{cut}: their reward is unreliable."
        return f"{cut}: almost none finish. The limit is too low or the policy never emits EOS."

    def suspect(self, beside: Beside) -> Suspect | None:
        """Point at the cap, unless the text degrades: then responses run on for want of an end."""
        degrades = beside.ids & {"reward.gamed", "generation.degraded"}
        return None if degrades else ("length_cap", "check", "responses are truncated")


def detect(view: View) -> tuple[Finding, ...]:
    """Report that more than half of those that used to end no longer do, or that most never did."""
    cut = view.of(truncated(view.run))
    if cut is None or not (cut.series.numbers > 0.5).any() or not cut.curve.decidable:  # fitted after a quick look
        return ()
    series, curve = cut.series, cut.curve
    values, steps = series.numbers, series.steps[series.finite]
    if len(values) <= SETTLED:
        return ()
    start, now = cut.start, cut.now
    grown, growing = (start + share * (1.0 - start) for share in (1 / 2, 1 / 4))
    evidence = (Evidence(series.name, int(steps[0]), int(steps[-1])),)
    if start < 1 and (p := p_above(curve, grown)) >= SAID:
        facts = Truncation(start, now)
        return (Finding("generation.truncation", round(p, 4), "concern", facts, since_of(curve), evidence),)
    nearly_all, most = (more_than(NEARLY_ALL, int((values > bar).sum()), len(values)) for bar in (NEARLY_ALL, 0.5))
    nearly = nearly_all >= SAID and start > NEARLY_ALL
    if not nearly and (most < SAID or start <= 0.5 or p_above(curve, growing) > 0.5):
        return ()
    reward = view.readable(REWARD)
    rose = reward is not None and p_climbed(reward.curve) >= SAID
    facts = Truncation(start, now, throughout=True, length_cap=view.run.config.length_cap, reward_rose=rose)
    severity: Severity = "concern" if nearly and not rose and reward is not None else "note"
    p = nearly_all if nearly else most
    return (Finding("generation.truncation", round(p, 4), severity, facts, int(steps[0]), evidence),)
