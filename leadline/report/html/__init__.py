"""The reading as one HTML file that needs nothing else: no network, no folder beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...contract import Reading, Rollout
from ...digits import capital
from ...facts.chart import Contrast, SampleShown, Span
from ...facts.judgement import calls_for
from ...records import replace
from ...words.report import NO_SAMPLES, head_lines, is_masked, missing_says, settings, what_was_read
from ...words.verdict import LabeledLine, ended_says, headline
from ..data import plain
from . import text
from .curves import curves, machine, short_names
from .page import assemble

Data = dict[str, object]

QUOTED = 1200  # characters of a sample that a finding quotes
ENDED = "Ended"


def render(reading: Reading, *, color: bool = False, width: int = 100, verbose: bool = False) -> str:
    """Return the whole page. The same reading gives the same bytes."""
    return assemble(payload(reading), title=reading.run.path)


def payload(reading: Reading) -> Any:
    """Return the data of the page. All text in it is safe to show as text."""
    kl, called = reading.kl_reward, short_names(reading.chart_data.series)
    return text.safe(
        {
            "run": _run(reading),
            "verdict": _verdict(reading),
            "findings": _findings(reading, called),
            "expected": [one.text for one in reading.benign],
            "marks": _marks(reading),
            "regimes": {**plain(kl), "says": capital(kl.say())},
            **curves(reading, called),
            "path": plain(reading.chart_data.kl_path),  # reward against the distance from the reference
            "machine": machine(reading),
            "samples": _samples(reading),
        }
    )


# --- sentences: the verdict and its grounds, findings with their places, what was read


def _verdict(reading: Reading) -> Data:
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


def _findings(reading: Reading, called: Mapping[str, str]) -> list[Data]:
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
            "samples": [_quoted(one) for evidence in finding.evidence for one in evidence.samples],
        }
        for finding in reading.findings
    ]


def _quoted(sample: Rollout) -> Data:
    prompt, _ = text.cut(str(sample.prompt), QUOTED // 2)
    output, left_out = text.cut(str(sample.output), QUOTED)
    return {
        "step": sample.step,
        "score": round(sample.score, 4) if math.isfinite(sample.score) else None,
        "prompt": prompt,
        "output": output,
        "left_out": left_out,
    }


def _marks(reading: Reading) -> Data:
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


def _run(reading: Reading) -> Data:
    summary, ended = reading.run, ended_says(reading.judgement)
    known = [*settings(summary), *([(ENDED, ended)] if ended else [])]
    return {
        "facts": known,
        "missing": [f"{one.name}: {one.why}" for one in summary.missing],
        "notes": summary.notes,
        "unread": summary.unread_keys,
        "signals": [{"name": one.name, **plain(one)} for one in summary.signals],
    }


# --- the samples viewer: what of the samples stands where, with what is shared marked in the text


def _samples(reading: Reading) -> Data:
    """Return the samples to look at, or in one sentence why there is nothing."""
    shown = reading.chart_data.samples
    if not shown.steps:
        return {"empty": NO_SAMPLES[shown.none_because or "not kept"], "steps": []}
    steps = [
        {
            "step": step.step,
            "mean": step.mean,
            "pair": _contrast(step.contrast),
            "samples": [_sample(sample) for sample in step.samples],
        }
        for step in shown.steps
    ]
    return {"empty": "", "steps": steps, "late": _contrast(shown.contrast)}


def _sample(sample: SampleShown) -> Data:
    # Marks by what is compared: what only late, only early, only rewarded, only unrewarded samples have.
    marks = {side: _places(sample.output, getattr(sample, side)) for side in ("late", "early", "high", "low")}
    return {**plain(sample), **marks}


def _contrast(contrast: Contrast) -> Data:
    return {**plain(contrast), "masked": is_masked(contrast)}


def _places(output: str, spans: Sequence[Span]) -> list[int]:
    """Beginnings and ends in turn, in the text as it is shown, counted as a browser counts."""
    flat = [place for span in spans for place in span]
    if output.isascii() and output.isprintable():
        return flat
    places, length, done = [], 0, 0
    for place in flat:
        length += len(text.shown(output[done:place]).encode("utf-16-le")) // 2
        places.append(length)
        done = place
    return places
