"""Weigh what all findings together mean for continuing, and name the knob they point at.

A finding is evidence with a probability. It can mean one of four things:

* `gamed`: since its onset the score no longer tracks policy quality. A gain to come is then no gain, and a checkpoint
  after the onset is worth less than its score.
* `degraded`: quality got worse while the reward stayed. The step to keep comes before it.
* `no_signal`: nothing can be learned any more, so no gain can come.
* `lost`: the reward dropped. Its curve shows how far, so nothing is discounted; but a drop needs no long plateau to be
  believed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..facts.finding import NEEDS_EYES, Beside, Finding, Knob, Meaning
from ..facts.judgement import Advice
from ..records import dataclass
from ..run import Values

INSTANT = 1e-6  # steps: an onset that is now
LAG = 0.3  # of the steps before the text shows it: what was kept then was sound
SERIOUS = ("concern", "critical")  # a note is no evidence against a run
BROKE = "generation.degraded"  # the text decayed, and took the reward with it
OF_THE_TEXT = ("reward.gamed", "generation.")  # findings made from what the policy wrote
MOST = 2  # a longer list is a checklist, not advice


@dataclass(frozen=True, slots=True)
class Meant:
    """All findings that mean one thing."""

    findings: tuple[Finding, ...]
    p: float  # of it. Findings about one decay are not independent, so the surest speaks for all
    since: int | None
    since_between: tuple[int, int] | None  # the interval of that step, where one is known
    ids: tuple[str, ...]  # of the findings, each once


@dataclass(frozen=True, slots=True)
class Weighed:
    """The meaning of all findings together."""

    gamed: Meant
    degraded: Meant
    no_signal: Meant
    lost: Meant
    counts_until: float | None  # the last step whose score still counts, if it stopped counting

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all findings that mean something."""
        return (*self.gamed.ids, *self.degraded.ids, *self.no_signal.ids, *self.lost.ids)

    def gone(self, steps: Values, now: float) -> Values:
        """Return how much of what is lost by now was lost at some steps: evenly since the score stopped counting."""
        onset = now if self.counts_until is None else self.counts_until
        evenly: Values = np.clip((steps - onset) / max(now - onset, INSTANT), 0.0, 1.0)
        return evenly

    def p_fell_with_the_text(self, p_fallen: float) -> float:
        """Return the probability that the reward was lost as the text decayed, where the text alone speaks against the
        score: then the policy broke, and its score says so. `p_fallen`: that the judged series has fallen, which counts
        where the training reward fell too; alone it may be the held-out score of a run whose training reward is
        gamed."""
        if not all(name.startswith(OF_THE_TEXT) for name in self.gamed.ids):
            return 0.0
        return max(self.lost.p, p_fallen if BROKE in self.ids else 0.0)


def weigh(findings: Sequence[Finding], first_step: int) -> Weighed:
    """Weigh all serious findings that mean something."""
    known = [found for found in findings if found.severity in SERIOUS and found.facts.counts]

    def meant(meaning: Meaning) -> Meant:
        mine = tuple(found for found in known if meaning == found.facts.MEANS)
        since = min((found.since_step for found in mine if found.since_step is not None), default=None)
        between = (found.facts.since_between for found in mine if found.since_step == since)
        dated = next((interval for interval in between if interval is not None), None)
        ids = tuple(dict.fromkeys(found.id for found in mine))
        return Meant(mine, max((found.p for found in mine), default=0.0), since, dated, ids)

    gamed, degraded = meant("gamed"), meant("degraded")
    until = min((_counts_until(found, first_step) for found in (*gamed.findings, *degraded.findings)), default=None)
    return Weighed(gamed, degraded, meant("no_signal"), meant("lost"), until)


def _counts_until(found: Finding, first_step: int) -> float:
    """Return the last step whose score still counts. Quality is lost before the text shows it."""
    since = first_step if found.since_step is None else found.since_step
    return first_step + LAG * (since - first_step) if found.id.startswith(OF_THE_TEXT) else since


def advise(findings: Sequence[Finding]) -> tuple[Advice, ...]:
    """Return the knobs that serious findings point at, each once, then a review if one is due; `findings` by weight."""
    serious = [finding for finding in findings if finding.severity != "note"]
    ids = frozenset(finding.id for finding in serious)
    beside = Beside(ids, lost=any(finding.facts.MEANS == "lost" or finding.id == BROKE for finding in serious))
    found: dict[Knob, Advice] = {}
    for finding in (*serious, *(finding for finding in findings if finding.id == NEEDS_EYES)):
        suspect = finding.facts.suspect(beside)
        if suspect is not None:
            found.setdefault(suspect[0], Advice(*suspect, finding.id))
    return tuple(found.values())[:MOST]
