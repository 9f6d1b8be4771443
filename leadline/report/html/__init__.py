"""The reading as one HTML file that needs nothing else: no network, no folder beside it."""

from __future__ import annotations

from typing import Any

from ...contract import Reading
from ...digits import capital
from ..data import plain
from . import samples, story, text
from .curves import curves, machine, short_names
from .page import assemble


def render(reading: Reading, *, color: bool = False, width: int = 100, verbose: bool = False) -> str:
    """Return the whole page. The same reading gives the same bytes."""
    return assemble(payload(reading), title=reading.run.path)


def payload(reading: Reading) -> Any:
    """Return the data of the page. All text in it is safe to show as text."""
    kl, called = reading.kl_reward, short_names(reading.chart_data.series)
    return text.safe(
        {
            "run": story.run(reading),
            "verdict": story.verdict(reading),
            "findings": story.findings(reading, called),
            "expected": [one.text for one in reading.benign],
            "marks": story.marks(reading),
            "regimes": {**plain(kl), "says": capital(kl.say())},
            **curves(reading, called),
            "path": plain(reading.chart_data.kl_path),  # reward against the distance from the reference
            "machine": machine(reading),
            "samples": samples.samples(reading),
        }
    )
