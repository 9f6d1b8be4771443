"""What is printed of many looks, which has to be the same on every Python, numpy and processor.

This file as a program prints it, so that a test can ask another process.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from strange import STRANGE  # noqa: E402

from leadline.contract import Reading  # noqa: E402
from leadline.pipeline import read  # noqa: E402
from leadline.report import data, terminal  # noqa: E402

LOOKS = {"healthy": 177, "collapsed": 230, "hacked": 300}
COUNT = 120  # points of a made-up log

Rows = Sequence[tuple[int, Mapping[str, object]]]

# Logs without noise, or of few different values: where ties are many, rounding decides if anything lets it.
EXACT = {
    "a line": [step / 100 for step in range(COUNT)],
    "a tent": [min(step, 70) - 0.5 * max(step - 70, 0) for step in range(COUNT)],
    "a saturating rise": [round(1 - 0.95**step, 6) for step in range(COUNT)],
    "a wave": [round(math.sin(step / 9), 6) for step in range(COUNT)],
    "a step": [0.25 + 0.5 * (step >= 60) for step in range(COUNT)],
    "a staircase": [step // 15 / 8 for step in range(COUNT)],
    "sixty-fourths": [(step * 37 % 23 + step // 3) / 64 for step in range(COUNT)],
    "thirds": [(step * 7 % 4) / 3 for step in range(COUNT)],
    "two decimals": [round(0.01 * (step % 5) + step / 200, 2) for step in range(COUNT)],
}


def printed() -> dict[str, list[str]]:
    """By look: the lines of the screen and of the JSON, which holds every number of every report."""
    return {
        name: [*terminal.render(reading, verbose=True).splitlines(), *data.render(reading).splitlines()]
        for name, reading in _looks()
    }


def _looks() -> Iterator[tuple[str, Reading]]:
    for run, step in LOOKS.items():
        yield f"{run} at {step}", _named(read(ROOT / "leadline" / "examples" / run, until=step), run)
    logs: dict[str, Rows] = dict(STRANGE)
    for name, values in EXACT.items():
        logs[name] = [
            (step, {"reward": value, "kl": step * step / 1e4, "entropy": 1 / (1 + step), "loss": value - 0.5})
            for step, value in enumerate(values)
        ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trainer_state.json"
        for name, rows in logs.items():
            history = [{**values, "step": step} for step, values in rows]
            path.write_text(json.dumps({"global_step": 0, "max_steps": 200, "log_history": history}))
            yield name, _named(read(path), name)


def _named(reading: Reading, path: str) -> Reading:
    return replace(reading, run=replace(reading.run, path=path))


if __name__ == "__main__":
    print(json.dumps(printed()))
