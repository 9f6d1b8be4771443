"""Sentences of the page: the verdict and its grounds, findings with their places, what is normal, what was read."""

from __future__ import annotations

import math

from ...contract import Evidence, Reading, Rollout
from ...digits import capital, sure
from ...facts.finding import TIMELINE
from ...facts.judgement import calls_for
from ...words import sentences
from ...words.report import head_lines, missing_says, settings, what_was_read
from ...words.verdict import HeadLine, ended_says, headline
from . import text
from .curves import Curves

Data = dict[str, object]

QUOTED = 1200  # characters of a sample that a finding quotes
ROLLOUTS = "rollouts"
ENDED = "Ended"


def verdict(reading: Reading) -> Data:
    judgement, run = reading.judgement, reading.run
    best = judgement.best_checkpoint if judgement.a_step_stands_out else None
    return {
        "word": judgement.verdict,
        "outcome": judgement.outcome,
        "color": calls_for(judgement.verdict, judgement.outcome),
        "headline": text.line(headline(judgement)),
        "lines": [
            {"label": one.label, "says": text.line(one.says), "sample": one.quoted}
            for one in (*head_lines(reading), HeadLine("missing", missing_says(reading)))
            if one.says
        ],
        "read": [text.line(says) for says in (run.path, *what_was_read(run))],
        "keep": None if best is None or best.path is None else text.line(best.path),
    }


def findings(reading: Reading, curves: Curves) -> list[Data]:
    return [
        {
            "id": text.name(finding.id),
            "severity": finding.severity,
            "chance": sure(finding.p),
            "says": text.line(says),
            "since": finding.since_step,
            "places": [_place(one, curves) for one in finding.evidence],
            "samples": [_sample(one) for evidence in finding.evidence for one in evidence.samples],
        }
        for finding, says in sentences(reading.findings)
        if finding.id != TIMELINE
    ]


def _place(evidence: Evidence, curves: Curves) -> Data:
    """Return where a finding can be checked: on the panel that shows it, on demand ("other"), or nowhere."""
    signal = evidence.signal
    name = curves.called.get(signal, text.name(signal))
    shown = next((panel["id"] for panel in curves.panels if name in panel["names"]), None)  # type: ignore[operator]
    on_the_machine = "machine" if signal.startswith(("time/", "gpu/")) else None
    return {
        "signal": name,
        "from": evidence.first_step,
        "to": evidence.last_step,
        "text": None if evidence.text is None else text.line(evidence.text),
        "target": "samples"
        if signal == ROLLOUTS
        else shown or on_the_machine or ("other" if name in curves.series else None),
    }


def _sample(sample: Rollout) -> Data:
    prompt, _ = text.cut(str(sample.prompt), QUOTED // 2)
    output, left_out = text.cut(str(sample.output), QUOTED)
    return {
        "step": sample.step,
        "score": round(sample.score, 4) if math.isfinite(sample.score) else None,
        "prompt": prompt,
        "output": output,
        "left_out": left_out,
    }


def regimes(reading: Reading) -> Data:
    kl = reading.kl_reward
    return {
        "now": kl.regime,
        "chance": None if kl.p is None else sure(kl.p),
        "says": text.line(capital(kl.say())),
        "segments": [
            {"from": one.first_step, "to": one.last_step, "regime": one.regime, "sure": sure(one.p)}
            for one in kl.segments
        ],
    }


def marks(reading: Reading) -> Data:
    """Return what stands at a step or a stretch: the peak, events, checkpoints, processes beside the training."""
    peak = reading.reward.peak
    return {
        "now": reading.run.last_step,
        "peak": peak and {"step": peak.step, "from": peak.interval[0], "to": peak.interval[1], "sure": sure(peak.p)},
        "best": reading.judgement.best_checkpoint and reading.judgement.best_checkpoint.step,
        "events": [
            {"kind": text.name(one.kind), "step": one.step, "says": text.line(one.say())} for one in reading.run.events
        ],
        "checkpoints": [
            {"step": one.step, "path": text.line(one.path), "complete": one.complete} for one in reading.run.checkpoints
        ],
        "beside": [
            {
                "process": text.name(one.process),
                "effect": text.line(one.did.say()),
                "sure": sure(one.p),
                "p": round(one.p, 4),
                "from": one.first_step,
                "to": one.last_step,
            }
            for one in reading.chart_data.neighbours
        ],
    }


def onset(reading: Reading) -> Data | None:
    """Return the series that moved first, second, third; None where no order was found."""
    pair = next((pair for pair in sentences(reading.findings) if pair[0].id == TIMELINE), None)
    if pair is None:
        return None
    found, says = pair
    order = [{"name": text.name(one.signal), "from": one.first_step, "to": one.last_step} for one in found.evidence]
    return {"says": text.line(says), "order": order}


def run(reading: Reading) -> Data:
    summary, ended = reading.run, ended_says(reading.judgement)
    known = [*settings(summary), *([(ENDED, ended)] if ended else [])]
    return {
        "facts": [{"name": name, "value": text.line(value)} for name, value in known],
        "missing": [{"what": text.line(one.name), "why": text.line(one.why)} for one in summary.missing],
        "notes": [text.line(note) for note in summary.notes],
        "unread": [text.name(key) for key in summary.unread_keys],
    }


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
