"""The reading as one HTML file that needs nothing else: no network, no folder beside it."""

from __future__ import annotations

from ...contract import Reading
from ..data import plain
from . import samples, story, text
from .curves import Curves, machine
from .page import assemble


def render(reading: Reading, *, color: bool = False, width: int = 100, verbose: bool = False) -> str:
    """Return the whole page. The same reading gives the same bytes."""
    return assemble(payload(reading), title=reading.run.path)


def payload(reading: Reading) -> dict[str, object]:
    """Return the data of the page. All text in it is safe to show as text."""
    curves = Curves.of(reading)
    return {
        "run": story.run(reading),
        "verdict": story.verdict(reading),
        "findings": story.findings(reading, curves),
        "expected": [{"says": text.line(one.text)} for one in reading.benign],
        "marks": story.marks(reading),
        "regimes": story.regimes(reading),
        "onset": story.onset(reading),
        "signals": story.signals(reading),
        "panels": curves.panels,
        "clocks": curves.clocks,
        "series": curves.series,
        "bands": curves.bands,
        "span": curves.span,
        "path": plain(reading.chart_data.kl_path),  # reward against the distance from the reference
        "machine": machine(reading),
        "samples": samples.samples(reading),
    }
