"""All that the page shows, as plain data: what stands where. Nothing is worked out here."""

from __future__ import annotations

from ...contract import Reading
from . import machine, samples, story
from .curves import Curves


def payload(reading: Reading) -> dict[str, object]:
    """The data of the page. All text in it is safe to show as text."""
    curves = Curves.of(reading)
    return {
        "run": story.run(reading),
        "verdict": story.verdict(reading),
        "findings": story.findings(reading, curves),
        "expected": story.expected(reading),
        "marks": story.marks(reading),
        "regimes": story.regimes(reading),
        "onset": story.onset(reading),
        "signals": story.signals(reading),
        "panels": curves.panels,
        "clocks": curves.clocks,
        "series": curves.series,
        "bands": curves.bands,
        "span": curves.span,
        "path": curves.path,
        "machine": machine.machine(reading),
        "samples": samples.samples(reading),
    }
