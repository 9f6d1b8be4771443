"""The Reading and its JSON form, schema 1. Every output is a view of it; field names are fixed, more may be added."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from .judgement import BestCheckpoint, Judgement
from .portrait import Portrait
from .reading.conflicts import Conflict
from .reading.expected import Expected
from .reading.finding import Evidence, Finding
from .reading.kl_and_reward import KlReward
from .reading.missing import Missing, missing
from .reading.policy_loss import PolicyLoss
from .reading.resources import Resources
from .reading.reward import RewardReading
from .run import Event, Run

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Signal:
    """One series of the run as a reader of the contract sees it."""

    name: str
    key: str
    points: int
    kind: str
    rows: int  # written for it: more than points where steps were written several times


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What was read."""

    path: str
    framework: str | None
    algorithm: str | None
    first_step: int | None
    last_step: int | None
    points: int  # of the longest series
    planned_steps: int | None
    signals: tuple[Signal, ...]
    unread_keys: tuple[str, ...]
    missing: tuple[Missing, ...]
    events: tuple[Event, ...]
    notes: tuple[str, ...] = ()  # what a user should know about the reading itself

    @classmethod
    def of(cls, run: Run, *, planned_steps: int | None, notes: tuple[str, ...] = ()) -> RunSummary:
        return cls(
            run.path,
            run.framework,
            run.config.algorithm,
            run.first_step,
            run.last_step,
            max((series.points for series in run.series + run.unread), default=0),
            planned_steps,
            tuple(Signal(one.name, one.key, one.points, one.kind, one.rows) for one in run.series),
            run.unread_keys,
            missing(run),
            run.events,
            notes,
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """All that Leadline says about one run."""

    run: RunSummary
    reward: RewardReading
    kl_reward: KlReward = field(default_factory=KlReward)
    policy_loss: PolicyLoss = field(default_factory=PolicyLoss)
    findings: tuple[Finding, ...] = ()
    expected: tuple[Expected, ...] = ()
    judgement: Judgement = field(default_factory=Judgement)
    resources: Resources = field(default_factory=Resources)
    conflicts: tuple[Conflict, ...] = ()
    portrait: Portrait | None = field(default=None, repr=False, compare=False)  # for faces that draw; not in the JSON


def as_data(reading: Reading) -> dict[str, object]:
    """The reading as plain data under the contract's names. A number that is not finite is None: JSON has no other."""
    return {name: _finite(value) for name, value in _data(reading).items()}


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {name: _finite(held) for name, held in value.items()}
    if isinstance(value, list):
        return [_finite(held) for held in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _data(reading: Reading) -> dict[str, object]:
    run, reward, kl_reward, judgement = reading.run, reading.reward, reading.kl_reward, reading.judgement
    peak, best = reward.peak, judgement.best_checkpoint
    return {
        "schema": SCHEMA,
        "run": {
            "path": run.path,
            "framework": run.framework,
            "algorithm": run.algorithm,
            "first_step": run.first_step,
            "last_step": run.last_step,
            "points": run.points,
            "planned_steps": run.planned_steps,
            "signals": {
                one.name: {"key": one.key, "points": one.points, "kind": one.kind, "rows": one.rows}
                for one in run.signals
            },
            "unread_keys": list(run.unread_keys),
            "missing": [{"what": one.what, "why_it_matters": one.why_it_matters} for one in run.missing],
            "events": [{"kind": one.kind, "step": one.step, "says": one.says} for one in run.events],
            "notes": list(run.notes),
        },
        "reward": {
            "shape": reward.shape,
            "p": dict(reward.probabilities),
            "peak": None if peak is None else {"step": peak.step, "interval": list(peak.interval), "p": peak.p},
            "says": reward.says,
        },
        "kl_reward": {
            "regime": kl_reward.regime,
            "p": kl_reward.p,
            "since_step": kl_reward.since_step,
            "segments": [
                {"from": one.first_step, "to": one.last_step, "regime": one.regime, "p": one.p}
                for one in kl_reward.segments
            ],
            "says": kl_reward.says,
        },
        "policy_loss": {
            "informative": reading.policy_loss.informative,
            "pattern": reading.policy_loss.pattern,
            "why": reading.policy_loss.why,
        },
        "findings": [_finding(one) for one in reading.findings],
        "expected": [{"id": one.id, "says": one.says, "because": one.because} for one in reading.expected],
        "judgement": {
            "verdict": judgement.verdict,
            "p_continue_pays": judgement.p_continue_pays,
            "upside": {"mean": judgement.upside.mean, "p10": judgement.upside.p10, "p90": judgement.upside.p90},
            "risk": {"p_worse": judgement.risk.p_worse, "mean_loss": judgement.risk.mean_loss},
            "best_checkpoint": None if best is None else _best(best),
            "because": list(judgement.because),
            "would_change": list(judgement.would_change),
            "next_look_step": judgement.next_look_step,
            "says": judgement.says,
            "judged": judgement.judged,
            "expected_utility": judgement.expected_utility,
        },
        "resources": {
            "phases": {
                name: {"share": use.share, "power_w": use.power_w, "memory_gb": use.memory_gb}
                for name, use in reading.resources.phases.items()
            },
            "bottleneck": reading.resources.bottleneck,
            "notes": list(reading.resources.notes),
        },
        "conflicts": [
            {"process": one.process, "p": one.p, "effect": one.effect, "from": one.first_wall, "to": one.last_wall}
            for one in reading.conflicts
        ],
    }


def _best(best: BestCheckpoint) -> dict[str, object]:
    return {
        "step": best.step,
        "p_best": best.p_best,
        "path": best.path,
        "complete": best.complete,
        "also_evaluate": list(best.also_evaluate),
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "id": finding.id,
        "p": finding.p,
        "severity": finding.severity,
        "says": finding.says,
        "since_step": finding.since_step,
        "evidence": [_evidence(one) for one in finding.evidence],
    }


def _evidence(evidence: Evidence) -> dict[str, object]:
    data: dict[str, object] = {"signal": evidence.signal, "from": evidence.first_step, "to": evidence.last_step}
    if evidence.text is not None:
        data["text"] = evidence.text
    if evidence.samples:
        data["samples"] = [
            {"step": one.step, "input": one.prompt, "output": one.output, "score": one.score}
            for one in evidence.samples
        ]
    return data
