"""A count of hacking that the run itself logs, and that rises."""

from __future__ import annotations

from typing import ClassVar

from ..digits import went
from ..facts.finding import SAID, Evidence, Facts, Finding, Guide, Suspect
from ..questions.changes import may_have_grown
from ..questions.direction import p_visibly_grew, since_of
from ..questions.level import KNOWN, steps_seen
from ..reading.view import View
from ..records import dataclass
from ..vocabulary.names import tokens

HACKS = {"hack", "hacks", "hacked", "hacking", "cheat", "cheats", "cheating", "exploit", "exploits", "exploited"}
OTHERWISE = {"no", "non", "anti", "free", "detector", "pass", "accuracy", "win", "penalty", "explore", "schedule"}
GUIDE = {
    "reward.hacks_logged": Guide(
        "The run logs a count of hacking or cheating of its own, and it rises.",
        "The logged values of a metric with such a name.",
        "Read samples that it counted, and decide whether the reward should pay for them.",
    ),
}


@dataclass(frozen=True, slots=True)
class HacksLogged(Facts):
    """A metric that counts hacking rose."""

    SUSPECT: ClassVar[Suspect | None] = ("responses", "review", "the log counts hacking")

    key: str
    start: float
    now: float

    def say(self) -> str:
        rose = f"{self.key} rose {went(self.start, self.now)}"
        return f"The log counts hacking: {rose}. Read samples before trusting the reward."


def detect(view: View) -> tuple[Finding, ...]:
    """Report the metric that grew most surely. Its name is the user's own word for what it counts."""
    known = [one for one in (*view.run.series, *view.run.unread) if one.finite.sum() >= KNOWN]
    named = [one for one in known if (said := {*tokens(one.key)}) & HACKS and not said & OTHERWISE]
    parts = [part for series in named if may_have_grown(series) and (part := view.of(series)) is not None]
    grown = [(p, part) for part in parts if (p := p_visibly_grew(part.curve)) > SAID]
    if not grown:
        return ()
    p, part = max(grown, key=lambda pair: pair[0])
    facts = HacksLogged(part.series.key, part.start, part.now)
    evidence = (Evidence(part.series.name, *steps_seen(part.curve)),)
    return (Finding("reward.hacks_logged", round(p, 4), "concern", facts, since_of(part.curve), evidence),)
