"""Weigh what all findings together mean for continuing, and name the knob they point at.

A finding is evidence with a probability. It can mean one of four things:

* `gamed`: since its onset the score no longer says what the policy is worth. A gain to come is then no gain, and a
  checkpoint after the onset is no longer worth its score.
* `degraded`: quality got worse while the reward stayed. The step to keep precedes it.
* `no_signal`: nothing can be learned any more, so no gain can come.
* `lost`: value that was there is gone. The curve of the reward shows how much, so nothing is discounted; but what was
  lost needs no long plateau to be believed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..facts import Finding, Meaning
from ..facts.finding import REWARD_DROPPED, Beside, Knob
from ..facts.judgement import Advice
from ..records import dataclass
from ..run import Values

TINY = 1e-6  # steps: an onset that is now
LAG = 0.3  # of the steps before the text shows it: what was kept then was sound
SERIOUS = ("concern", "critical")  # a note is no evidence against a run
BROKE = "generation.degraded"  # the text decayed, and took the reward with it
OF_THE_TEXT = ("reward.gamed", "generation.")  # findings made from what the policy wrote
MOST = 2  # a longer list is a checklist, not advice
ADVISED = ("generation.changed",)  # notes that ask for something
LOST = ("kl.destructive", BROKE, *REWARD_DROPPED)  # a reward that dropped: what follows from that is no cause


@dataclass(frozen=True, slots=True)
class Weighed:
    """The meaning of all findings together."""

    p_gamed: float = 0.0  # that the score no longer says what the policy is worth
    onset: int | None = None  # step since when
    onset_between: tuple[int, int] | None = None  # interval of that step, where one is known
    p_no_signal: float = 0.0
    no_signal_since: int | None = None
    p_lost: float = 0.0
    counted: tuple[Finding, ...] = ()
    counts_until: float | None = None  # the last step whose score still counts, if it stopped counting
    p_degraded: float = 0.0  # that quality got worse at a flat reward
    degraded_since: int | None = None

    def gone(self, steps: Values, now: float) -> Values:
        """Return how much of what is lost by now was lost at some steps: evenly since the score stopped counting."""
        onset = now if self.counts_until is None else self.counts_until
        evenly: Values = np.clip((steps - onset) / max(now - onset, TINY), 0.0, 1.0)
        return evenly

    def ids_of(self, meaning: Meaning) -> tuple[str, ...]:
        """Return the ids of the findings that mean this, each once."""
        return tuple(dict.fromkeys(found.id for found in self.counted if meaning == found.facts.MEANS))

    def p_fell_with_the_text(self, p_fallen: float) -> float:
        """Return the probability that the reward was lost as the text decayed, where the text alone speaks against the
        score: then the policy broke, and its score says so. `p_fallen`: that the judged series has fallen, which counts
        where the training reward fell too; alone it may be the held-out score of a run whose training reward is
        gamed."""
        if not all(name.startswith(OF_THE_TEXT) for name in self.ids_of("gamed")):
            return 0.0
        return max(self.p_lost, p_fallen if any(found.id == BROKE for found in self.counted) else 0.0)


def weigh(findings: Sequence[Finding], first_step: int) -> Weighed:
    """Weigh all serious findings that mean something. Findings about one decay are not independent, so the surest
    speaks for all."""
    known = [found for found in findings if found.severity in SERIOUS and found.facts.counts]
    gamed, degraded, no_signal, lost = (
        [found for found in known if meaning == found.facts.MEANS]
        for meaning in ("gamed", "degraded", "no_signal", "lost")
    )
    onset = _earliest(gamed)
    between = (found.facts.since_between for found in gamed if found.since_step == onset)
    return Weighed(
        _surest(gamed),
        onset,
        next((interval for interval in between if interval is not None), None),
        _surest(no_signal),
        _earliest(no_signal),
        _surest(lost),
        (*gamed, *degraded, *no_signal, *lost),
        min((_counts_until(found, first_step) for found in (*gamed, *degraded)), default=None),
        _surest(degraded),
        _earliest(degraded),
    )


def _counts_until(found: Finding, first_step: int) -> float:
    """Return the last step whose score still counts. Quality is lost before the text shows it."""
    since = first_step if found.since_step is None else found.since_step
    return first_step + LAG * (since - first_step) if found.id.startswith(OF_THE_TEXT) else since


def _surest(findings: Sequence[Finding]) -> float:
    return max((found.p for found in findings), default=0.0)


def _earliest(findings: Sequence[Finding]) -> int | None:
    return min((found.since_step for found in findings if found.since_step is not None), default=None)


def advise(findings: Sequence[Finding]) -> tuple[Advice, ...]:
    """Return the knobs that the serious findings speak of, each once; `findings` by weight."""
    serious = [finding for finding in findings if finding.severity != "note"]
    ids = frozenset(finding.id for finding in serious)
    beside = Beside(ids, not ids.isdisjoint(LOST))
    found: dict[Knob, Advice] = {}
    for finding in (*serious, *(finding for finding in findings if finding.id in ADVISED)):
        suspect = finding.facts.suspect(beside)
        if suspect is not None:
            found.setdefault(suspect[0], Advice(*suspect, finding.id))
    return tuple(found.values())[:MOST]
