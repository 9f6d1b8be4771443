"""What is said: the verdict and what it rests on, findings with their places, what is normal here, what was read."""

from __future__ import annotations

import math

from ...contract import Reading
from ...facts import Evidence, Finding
from ...judgement.words import CALLED
from ...reading.conflicts import Conflict
from ...reading.reward import number
from ...reading.wall_clock import StepTimes, step_times
from ...run import Rollout
from ..words import sure
from . import text
from .curves import Curves

Data = dict[str, object]

# How likely, in words; a number beside them says it exactly.
IN_WORDS = (
    (0.01, "almost certainly not"),
    (0.1, "very unlikely"),
    (1 / 3, "unlikely"),
    (2 / 3, "about as likely as not"),
    (0.9, "likely"),
    (0.99, "very likely"),
)
QUOTED = 1200  # characters of a sample that a finding quotes
ROLLOUTS = "rollouts"


def likely(p: float) -> str:
    """
    >>> likely(0.004), likely(0.5), likely(0.97)
    ('almost certainly not', 'about as likely as not', 'very likely')
    """
    return next((words for bar, words in IN_WORDS if p < bar), "almost certainly")


def verdict(reading: Reading) -> Data:
    judgement, run = reading.judgement, reading.run
    best, upside, risk = judgement.best_checkpoint, judgement.upside, judgement.risk
    called = CALLED[judgement.verdict]
    over = run.planned_steps is not None and run.last_step == run.planned_steps  # past it, as if it were to go on
    says = judgement.says.removeprefix(f"{called}.").removeprefix(f"{called}:").strip()
    return {
        "word": judgement.verdict,
        "called": called,
        "says": text.line(says[:1].upper() + says[1:]),
        "pays": None if over else _chance(judgement.p_continue_pays),
        "over": over,
        "gain": _gain(upside.mean, upside.p10, upside.p90),
        "worse": _chance(risk.p_worse),
        "judged": None if judgement.judged is None else text.name(judgement.judged),
        "best": best
        and {
            "step": best.step,
            "chance": _chance(best.p_best),
            "path": None if best.path is None else text.line(best.path),
            "complete": best.complete,
            "also": list(best.also_evaluate),
        },
        "would_change": [text.line(one) for one in judgement.would_change],
        "next_look": judgement.next_look_step,
        "because": [text.name(one) for one in judgement.because],
        "missing": [{"what": text.line(one.what), "why": text.line(one.why_it_matters)} for one in run.missing],
    }


def _chance(p: float | None) -> Data | None:
    if p is None or not math.isfinite(p):
        return None
    return {"p": round(p, 4), "words": likely(p), "sure": sure(p)}


def _gain(mean: float | None, low: float | None, high: float | None) -> str | None:
    if mean is None or low is None or high is None:
        return None
    return f"{number(mean)} ({number(low)} to {number(high)})"


def findings(reading: Reading, curves: Curves) -> list[Data]:
    return [_finding(one, curves) for one in reading.findings if one.id != "onset"]


def _finding(finding: Finding, curves: Curves) -> Data:
    return {
        "id": text.name(finding.id),
        "severity": finding.severity,
        "chance": _chance(finding.p),
        "says": text.line(finding.says),
        "since": finding.since_step,
        "places": [_place(one, curves) for one in finding.evidence],
        "samples": [_sample(one) for evidence in finding.evidence for one in evidence.samples],
    }


def _place(evidence: Evidence, curves: Curves) -> Data:
    name = curves.called.get(evidence.signal, text.name(evidence.signal))
    return {
        "signal": name,
        "from": evidence.first_step,
        "to": evidence.last_step,
        "text": None if evidence.text is None else text.line(evidence.text),
        "target": "samples" if evidence.signal == ROLLOUTS else _target(evidence.signal, name, curves),
    }


def _target(signal: str, name: str, curves: Curves) -> str | None:
    """The panel that shows it; "other": a series shown on demand; None: there is nothing to show."""
    for panel in curves.panels:
        names = panel["names"]
        if isinstance(names, list) and name in names:
            return str(panel["id"])
    if signal.startswith(("time/", "gpu/")):
        return "machine"
    return "other" if name in curves.series else None


def _sample(sample: Rollout) -> Data:
    prompt, _ = text.lines(str(sample.prompt), QUOTED // 2)
    output, left_out = text.lines(str(sample.output), QUOTED)
    return {
        "step": sample.step,
        "score": round(sample.score, 4) if math.isfinite(sample.score) else None,
        "prompt": prompt,
        "output": output,
        "left_out": left_out,
    }


def expected(reading: Reading) -> list[Data]:
    return [{"says": text.line(one.says), "because": text.line(one.because)} for one in reading.expected]


def regimes(reading: Reading) -> Data:
    kl = reading.kl_reward
    return {
        "now": kl.regime,
        "chance": _chance(kl.p),
        "says": text.line(kl.says),
        "segments": [
            {"from": one.first_step, "to": one.last_step, "regime": one.regime, "sure": sure(one.p)}
            for one in kl.segments
        ],
    }


def marks(reading: Reading) -> Data:
    """What stands at a step or over a stretch of them: the peak, events, checkpoints, processes beside the training."""
    peak, run = reading.reward.peak, reading.portrait.run if reading.portrait else None
    times = None if run is None else step_times(run)
    return {
        "now": reading.run.last_step,
        "peak": peak and {"step": peak.step, "from": peak.interval[0], "to": peak.interval[1], "sure": sure(peak.p)},
        "best": reading.judgement.best_checkpoint and reading.judgement.best_checkpoint.step,
        "events": [
            {"kind": text.name(one.kind), "step": one.step, "says": text.line(one.says)} for one in reading.run.events
        ],
        "checkpoints": [
            {"step": one.step, "path": text.line(one.path), "complete": one.complete}
            for one in (run.checkpoints if run is not None else ())
        ],
        "beside": [] if times is None else [_beside(one, times) for one in reading.conflicts],
    }


def _beside(conflict: Conflict, times: StepTimes) -> Data:
    return {
        "process": text.name(conflict.process),
        "effect": text.line(conflict.effect),
        "sure": sure(conflict.p),
        "p": round(conflict.p, 4),
        "from": times.step_at(conflict.first_wall),
        "to": times.step_at(conflict.last_wall),
    }


def onset(reading: Reading) -> Data | None:
    """Which series moved first, second, third; None where no order was found."""
    found = next((one for one in reading.findings if one.id == "onset"), None)
    if found is None:
        return None
    return {
        "says": text.line(found.says),
        "chance": _chance(found.p),
        "order": [
            {"name": text.name(one.signal), "from": one.first_step, "to": one.last_step} for one in found.evidence
        ],
    }


def run(reading: Reading) -> Data:
    summary = reading.run
    config = reading.portrait.run.config if reading.portrait else None
    facts: list[tuple[str, object]] = [
        ("Path", summary.path),
        ("Framework", summary.framework or "not recognised"),
        ("Algorithm", summary.algorithm or "not told"),
        ("Steps", "none" if summary.last_step is None else f"{summary.first_step} to {summary.last_step}"),
        ("Planned steps", "not told" if summary.planned_steps is None else summary.planned_steps),
        ("Points", summary.points),
    ]
    if config is not None:
        told = (
            ("KL coefficient", config.kl_coefficient),
            ("Group size", config.group_size),
            ("Updates a batch", config.updates_per_batch),
            ("Learning rate", config.learning_rate),
            ("Length cap", config.length_cap),
        )
        facts += [(name, value) for name, value in told if value is not None]
    return {
        "path": text.line(summary.path),
        "facts": [{"name": name, "value": text.line(_plain(value))} for name, value in facts],
        "notes": [text.line(one) for one in summary.notes],
        "unread": [text.name(one) for one in summary.unread_keys],
    }


def _plain(value: object) -> str:
    return number(value) if isinstance(value, float) and math.isfinite(value) else str(value)


def signals(reading: Reading) -> list[Data]:
    return [
        {
            "name": text.name(one.name),
            "key": text.name(one.key),
            "kind": text.name(one.kind),
            "points": one.points,
            "rows": one.rows,
        }
        for one in reading.run.signals
    ]
