"""Sentences of the page: the verdict and its grounds, findings with their places, what is normal, what was read."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ...contract import Reading, Rollout
from ...facts.judgement import calls_for
from ...records import replace
from ...words.report import head_lines, missing_says, settings, what_was_read
from ...words.verdict import LabeledLine, ended_says, headline
from ..data import plain
from . import text

Data = dict[str, object]

QUOTED = 1200  # characters of a sample that a finding quotes
ENDED = "Ended"


def verdict(reading: Reading) -> Data:
    judgement, run = reading.judgement, reading.run
    best = judgement.best_checkpoint if judgement.a_step_stands_out else None
    return {
        "word": judgement.verdict,
        "outcome": judgement.outcome,
        "color": calls_for(judgement.verdict, judgement.outcome),
        "headline": headline(judgement),
        "lines": [
            {"label": one.label, "says": one.says, "sample": one.quoted}
            for one in (*head_lines(reading), LabeledLine("missing", missing_says(reading)))
            if one.says
        ],
        "read": [run.path, *what_was_read(run)],
        "keep": None if best is None else best.path,
    }


def findings(reading: Reading, called: Mapping[str, str]) -> list[Data]:
    """Return the findings; the page finds by the name of a series where one is shown."""
    return [
        {
            "id": finding.id,
            "severity": finding.severity,
            "p": finding.p,
            "says": finding.say(),
            "since": finding.since_step,
            "places": [
                plain(replace(one, signal=called.get(one.signal, one.signal), samples=())) for one in finding.evidence
            ],
            "samples": [_sample(one) for evidence in finding.evidence for one in evidence.samples],
        }
        for finding in reading.findings
    ]


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


def marks(reading: Reading) -> Data:
    """Return what stands at a step or a stretch: the peak, events, checkpoints, processes beside the training."""
    run, best = reading.run, reading.judgement.best_checkpoint
    return {
        "now": run.last_step,
        "peak": plain(reading.reward.peak),
        "best": best and best.step,
        "events": [{"kind": one.kind, "step": one.step, "says": one.say()} for one in run.events],
        "checkpoints": plain(run.checkpoints),
        "beside": plain(reading.chart_data.neighbours),
    }


def run(reading: Reading) -> Data:
    summary, ended = reading.run, ended_says(reading.judgement)
    known = [*settings(summary), *([(ENDED, ended)] if ended else [])]
    return {
        "facts": known,
        "missing": [f"{one.name}: {one.why}" for one in summary.missing],
        "notes": summary.notes,
        "unread": summary.unread_keys,
        "signals": [{"name": one.name, **plain(one)} for one in summary.signals],
    }
