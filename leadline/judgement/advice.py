"""Which knob is suspect, by what was found: one table, most serious finding first, never more than two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..facts import Finding
from ..facts.judgement import Advice, Knob, Turn
from ..findings.reward_break import RewardBreak
from ..findings.reward_gamed import Gamed
from ..findings.reward_outage import RewardOutage
from ..findings.signal_no_learning_signal import AllTied, AllTruncated
from ..findings.stability_entropy import EntropyMoved
from ..findings.stability_grad_norm import GradientNorm
from ..findings.stability_stuck import StuckSeries

MOST = 2  # a longer list is a checklist, not advice
ADVISED = ("kl.pinned", "generation.changed")  # notes that ask for something
LOST = ("kl.destructive", "reward.declining", "reward.peaked")  # a reward that fell: what follows from that is no cause

Suspect = tuple[Knob, Turn]


@dataclass(frozen=True, slots=True)
class Beside:
    """All serious findings, as each of them sees the others."""

    ids: frozenset[str]
    lost: bool  # one of them says that the reward fell


LOWER_RATE: Suspect = ("learning_rate", "lower")
LOOK_AT_REWARD: Suspect = ("reward_function", "check")
LOOK_AT_DATA: Suspect = ("data", "check")
LOOK_AT_CAP: Suspect = ("length_cap", "check")


def _gamed(found: Finding, beside: Beside) -> Suspect | None:
    """Text that decays and takes the reward with it is an update that was too large, not a reward that pays for it."""
    return LOWER_RATE if beside.lost else LOOK_AT_REWARD


def _no_signal(found: Finding, beside: Beside) -> Suspect | None:
    facts = found.facts
    if isinstance(facts, AllTruncated):
        return LOOK_AT_CAP
    if isinstance(facts, AllTied) and facts.reward_at == "constant":
        return LOOK_AT_REWARD
    return None if beside.lost else LOOK_AT_DATA


def _changed(found: Finding, beside: Beside) -> Suspect | None:
    """A reader can tell whether a reward that holds is right; one that fell has said so itself."""
    return None if beside.lost else ("responses", "review")


def _truncation(found: Finding, beside: Beside) -> Suspect | None:
    """Answers that grow into the cap; where the text decays they run on for want of an end, and no cap would do."""
    return None if "reward.gamed" in beside.ids else LOOK_AT_CAP


def _not_numbers(found: Finding, beside: Beside) -> Suspect | None:
    return LOWER_RATE if found.severity == "critical" else None  # values that came back need nothing


def _entropy(found: Finding, beside: Beside) -> Suspect | None:
    return LOWER_RATE if isinstance(found.facts, EntropyMoved) and found.facts.rose else None


def _gradient(found: Finding, beside: Beside) -> Suspect | None:
    return LOWER_RATE if isinstance(found.facts, GradientNorm) and found.facts.change != "shrank" else None


def _broke(found: Finding, beside: Beside) -> Suspect | None:
    cause = found.facts.cause.kind if isinstance(found.facts, RewardBreak) else None
    return LOWER_RATE if cause == "policy" else LOOK_AT_DATA if cause == "prompts" else None


def _stuck(found: Finding, beside: Beside) -> Suspect | None:
    stuck = [value.series for value in found.facts.series] if isinstance(found.facts, StuckSeries) else []
    return LOOK_AT_REWARD if "reward/mean" in stuck and not beside.lost else None


def _outage(found: Finding, beside: Beside) -> Suspect | None:
    return None if isinstance(found.facts, RewardOutage) and found.facts.tools else LOOK_AT_REWARD


def _always(suspect: Suspect) -> Callable[[Finding, Beside], Suspect | None]:
    return lambda found, beside: suspect


SUSPECTS: dict[str, Callable[[Finding, Beside], Suspect | None]] = {
    "kl.destructive": _always(LOWER_RATE),
    "kl.frozen": _always(("learning_rate", "raise")),
    "kl.pinned": _always(("kl_coefficient", "lower")),
    "stability.degrading": _always(LOWER_RATE),
    "stability.entropy": _entropy,
    "stability.grad_norm": _gradient,
    "stability.spike": _always(LOWER_RATE),
    "stability.stuck": _stuck,
    "generation.changed": _changed,
    "generation.truncation": _truncation,
    "generation.truncated_throughout": _always(LOOK_AT_CAP),
    "reward.break": _broke,
    "reward.blind_parted": _always(LOOK_AT_REWARD),
    "reward.reviewed": _always(LOOK_AT_REWARD),
    "reward.gamed": _gamed,
    "reward.component": _always(LOOK_AT_REWARD),
    "reward.outage": _outage,
    "signal.nan": _not_numbers,
    "signal.no_entropy": _always(LOWER_RATE),
    "signal.no_learning_signal": _no_signal,
    "signal.train_eval_gap": _always(LOOK_AT_DATA),
}


def advise(findings: Sequence[Finding]) -> tuple[Advice, ...]:
    """The knobs that the serious findings speak of, each once; `findings` by weight."""
    serious = [finding for finding in findings if finding.severity != "note"]
    fell = any(isinstance(finding.facts, Gamed) and finding.facts.reward_fell for finding in serious)
    ids = frozenset(finding.id for finding in serious)
    beside = Beside(ids, fell or not ids.isdisjoint(LOST))
    found: dict[Knob, Advice] = {}
    for finding in (*serious, *(finding for finding in findings if finding.id in ADVISED)):
        suspect = SUSPECTS[finding.id](finding, beside) if finding.id in SUSPECTS else None
        if suspect is not None:
            found.setdefault(suspect[0], Advice(*suspect, finding.id))
    return tuple(found.values())[:MOST]
