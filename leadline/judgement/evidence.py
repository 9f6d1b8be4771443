"""What findings mean for the question of going on: one table, and one weighing of all of them.

A finding is evidence with a probability. It can mean one of three things:

* `gamed`: since its onset the score no longer says what the policy is worth. A gain to come is then no gain, and a
  checkpoint after the onset is no longer worth its score.
* `no_signal`: nothing can be learned any more, so no gain can come.
* `lost`: value that was there is gone. The curve of the reward shows how much, so nothing is discounted; but what was
  lost needs no long plateau to be believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..evidence import GamedEvidence
from ..facts import Finding
from ..facts.gamed import Gamed
from ..facts.kl import KlFrozen
from ..questions.bars import EVEN

Floats = NDArray[np.float64]

Meaning = Literal["gamed", "no_signal", "lost"]

TINY = 1e-6  # steps: an onset that is now
SERIOUS = ("concern", "critical")  # a note is no evidence against a run


@dataclass(frozen=True, slots=True)
class Weight:
    """What a finding means for the judgement."""

    meaning: Meaning
    alone: bool = True  # counts without a second one


WEIGHTS: dict[str, Weight] = {
    # The answers lose their prompt, copy it, loop, become alike or are cut off: its p weighs all of that together.
    "reward.gamed": Weight("gamed"),
    # Somebody who knows neither score nor step graded the answers, and was found to be worth hearing (leadline audit).
    "reward.blind_parted": Weight("gamed"),
    # The text decays: different prompts get the same answer.
    "generation.diversity": Weight("gamed", alone=False),
    # The text has left what the run wrote at first: decay, or a policy that improves its style.
    "generation.coherence": Weight("gamed", alone=False),
    # Truncated answers may be getting better all the same; where they are not, the judged score shows it.
    "generation.truncation": Weight("gamed", alone=False),
    # The policy wanders and nothing came of it; the reading asks for half of the plan before it says so.
    "kl.drift_without_benefit": Weight("gamed"),
    # More KL, no more held-out score: the part beyond the frontier is not progress.
    "kl.over_optimisation": Weight("gamed", alone=False),
    # Training reward up, held-out down. Where the held-out score is judged its own paths say it too.
    "signal.train_eval_gap": Weight("gamed"),
    # Every advantage is zero.
    "signal.no_learning_signal": Weight("no_signal"),
    # The learning rate is 0, or so few answers can differ by the end that no gain can come. A policy that is only slow
    # is advice: it still moves.
    "kl.frozen": Weight("no_signal"),
    # Reward fell, and KL rose with it.
    "kl.destructive": Weight("lost"),
    "reward.declining": Weight("lost"),
    "reward.peaked": Weight("lost"),
}


OF_THE_TEXT = ("reward.gamed", "generation.")  # findings made from what the policy wrote


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the findings say together."""

    p_gamed: float = 0.0  # that the score no longer says what the policy is worth
    onset: int | None = None  # step since when
    onset_between: tuple[int, int] | None = None  # interval of that step, where one is known
    p_no_signal: float = 0.0
    no_signal_since: int | None = None
    p_lost: float = 0.0
    counted: tuple[Finding, ...] = ()
    samples: GamedEvidence | None = None  # what the samples and numbers say by step, where they say it

    def gone(self, steps: Floats, now: float) -> Floats:
        """How much of what was lost by now was lost at some steps: as the samples show it, else evenly since the
        onset."""
        if self.samples is not None and _show(self.samples):
            shown: Floats = (1 - self.samples.worth(steps)) / self.samples.p
            return shown
        onset = now if self.onset is None else self.onset
        evenly: Floats = np.clip((steps - onset) / max(now - onset, TINY), 0.0, 1.0)
        return evenly

    @property
    def against_the_score(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.counted if WEIGHTS[finding.id].meaning == "gamed")

    @property
    def no_signal(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.counted if WEIGHTS[finding.id].meaning == "no_signal")

    def p_fell_with_the_text(self, p_fallen: float) -> float:
        """That the reward was lost as the text decayed, where the text alone speaks against the score: then the policy
        broke, and its score says so. `p_fallen`: that the judged series has fallen, which counts where the training
        reward fell too; alone it may be the held-out score of a run whose training reward is gamed."""
        if not all(finding.id.startswith(OF_THE_TEXT) for finding in self.against_the_score):
            return 0.0
        fell = any(isinstance(found.facts, Gamed) and found.facts.reward_fell for found in self.counted)
        return max(self.p_lost, p_fallen if fell else 0.0)


def weigh(findings: Sequence[Finding], samples: GamedEvidence | None = None) -> Evidence:
    """All serious findings that the table knows, together. Findings about one decay are not independent, so the surest
    speaks for all."""
    known = [(found, WEIGHTS[found.id]) for found in findings if found.id in WEIGHTS and _counts(found)]
    gamed = [(found, weight) for found, weight in known if weight.meaning == "gamed"]
    # "reward.gamed" weighs truncation and text itself: it is no second witness to what it was made from.
    seconded = len({found.id for found, _ in gamed if found.id != "reward.gamed"}) > 1
    counted = [found for found, weight in gamed if weight.alone or seconded]
    no_signal = [found for found, weight in known if weight.meaning == "no_signal"]
    lost = [found for found, weight in known if weight.meaning == "lost"]
    p_gamed = _surest(counted)
    # One date for one decay: by what steps are worth less, by that it is dated.
    begun = samples.begun if samples is not None and p_gamed > 0 and _show(samples) else None
    return Evidence(
        p_gamed,
        _earliest(counted) if begun is None else begun.step,
        None if begun is None else (begun.low, begun.high),
        _surest(no_signal),
        _earliest(no_signal),
        _surest(lost),
        (*counted, *no_signal, *lost),
        samples,
    )


def _show(samples: GamedEvidence) -> bool:
    """Whether samples and numbers show by step what was lost. Then they date it, even where something else is surer
    that it was: other findings know a beginning, and these the way."""
    return samples.p > EVEN


def _counts(found: Finding) -> bool:
    if isinstance(found.facts, KlFrozen):
        return found.facts.since_step is not None or found.facts.changed_share is not None
    return found.severity in SERIOUS


def _surest(findings: Sequence[Finding]) -> float:
    return max((found.p for found in findings), default=0.0)


def _earliest(findings: Sequence[Finding]) -> int | None:
    return min((found.since_step for found in findings if found.since_step is not None), default=None)
