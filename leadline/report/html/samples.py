"""The samples viewer: what of the samples stands where, with what is shared marked in the text."""

from __future__ import annotations

from collections.abc import Sequence

from ...contract import Reading
from ...facts.chart import Contrast, SampleShown, Span
from ...words.report import NO_SAMPLES, is_masked
from ..data import plain
from . import text

Data = dict[str, object]


def samples(reading: Reading) -> Data:
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
