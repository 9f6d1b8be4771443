"""Findings for tests of what comes after the readers: real facts, so that their sentences are real ones."""

from __future__ import annotations

from leadline.facts.finding import Evidence, Facts, Finding, Severity
from leadline.findings.conflict_process import SlowedBy
from leadline.findings.generation_truncation import Truncation
from leadline.findings.kl_destructive import KlDestructive
from leadline.findings.kl_drift import KlDrift
from leadline.findings.policy_frozen import KlFrozen
from leadline.findings.reward_fall import RewardFall
from leadline.findings.reward_gamed import Gamed, ResponsesChanged, Reviewed
from leadline.findings.reward_outage import RewardOutage
from leadline.findings.signal_nan import BadValues, NotNumbers
from leadline.findings.signal_no_learning_signal import AllTied, MostlyTied
from leadline.findings.signal_train_eval_gap import TrainEvalGap
from leadline.findings.stability_degrading import Degrading
from leadline.findings.stability_moved import EntropyMoved, GradientNorm
from leadline.findings.stability_spike import Spikes
from leadline.run import Rollout

FALL = RewardFall(high=0.9, high_step=80, now=0.5, start=0.1, peaked=True, sudden_step=None)
FACTS: dict[str, Facts] = {
    "generation.changed": ResponsesChanged((), 50, 40, 60, None, None, None, Rollout(60, "2+2=", "4", 1.0)),
    "generation.degraded": Gamed(True, (), None, None, None),
    "generation.truncation": Truncation(0.0, 0.9),
    "kl.destructive": KlDestructive(50, 0.1, 2.0, 0.9, 0.1),
    "kl.drift_without_benefit": KlDrift(since_step=10, before=0.1, now=0.4, noise=0.01, ever_gained=True),
    "policy.frozen": KlFrozen(1e-6, 0.01, 20.0, 1e-6),
    "reward.declining": FALL,
    "reward.gamed": Gamed(False, (), None, None, None),
    "reward.outage": RewardOutage(90, 99, 10, 0.0, back=False),
    "reward.peaked": FALL,
    "reward.reviewed": Reviewed("anna", 20, 90),
    "signal.nan": NotNumbers(90, (BadValues("reward/mean", 9, 99, 90, 9),)),
    "signal.no_learning_signal": AllTied("bottom", 0.0, 90),
    "signal.train_eval_gap": TrainEvalGap("eval/reward/mean", 0.9, 50, 0.5, 0.8, 0.9, 0),
    "signal.zero_variance_groups": MostlyTied(0.9, "top", 1.0),
    "stability.degrading": Degrading((), 50),
    "stability.entropy": EntropyMoved(rose=True, start=0.1, now=2.0),
    "stability.grad_norm": GradientNorm("grew", 0.1, 9.0, reward_lost=True),
    "stability.spike": Spikes((), reward_fell=True),
}


def found(
    name: str,
    p: float = 0.9,
    severity: Severity = "concern",
    since: int | None = None,
    evidence: tuple[Evidence, ...] = (),
) -> Finding:
    """A finding by its id; one whose sentence no test asks for has no facts of its own."""
    return Finding(name, p, severity, FACTS.get(name, Facts()), since, evidence)


def quoting(text: str, severity: Severity = "concern", evidence: tuple[Evidence, ...] = ()) -> Finding:
    """A finding whose sentence quotes `text`, as it stands in a log: here the name of a process."""
    facts = SlowedBy(process=text, ratio=2.0, chance=0.01, spans=((1, 2),))
    return Finding("conflict.step_time", 0.9, severity, facts, 1, evidence)
