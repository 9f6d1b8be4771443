"""Which knob is suspect, by what was found: the most serious finding first, never more than two."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts import Finding
from ..facts.judgement import Advice, Beside, Knob
from ..findings import suspect_of
from ..findings.reward_gamed import Gamed

MOST = 2  # a longer list is a checklist, not advice
ADVISED = ("kl.pinned", "generation.changed")  # notes that ask for something
LOST = ("kl.destructive", "reward.declining", "reward.peaked")  # a reward that fell: what follows from that is no cause


def advise(findings: Sequence[Finding]) -> tuple[Advice, ...]:
    """The knobs that the serious findings speak of, each once; `findings` by weight."""
    serious = [finding for finding in findings if finding.severity != "note"]
    fell = any(isinstance(finding.facts, Gamed) and finding.facts.reward_fell for finding in serious)
    ids = frozenset(finding.id for finding in serious)
    beside = Beside(ids, fell or not ids.isdisjoint(LOST))
    found: dict[Knob, Advice] = {}
    for finding in (*serious, *(finding for finding in findings if finding.id in ADVISED)):
        suspect = suspect_of(finding, beside)
        if suspect is not None:
            found.setdefault(suspect[0], Advice(*suspect, finding.id))
    return tuple(found.values())[:MOST]
