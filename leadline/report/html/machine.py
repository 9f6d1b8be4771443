"""Where the time of a step goes, phase by phase, and what the GPUs drew meanwhile."""

from __future__ import annotations

from ...contract import Reading
from ...words.machine import remark
from ...words.report import SMALL_PHASES
from ..numbers import short, thin
from . import text

Data = dict[str, object]

ROOM = 2_000  # steps of a stack


def machine(reading: Reading) -> Data:
    """The stack of phases and the power, as far as the run shows them, with what was said of them."""
    used, drawn = reading.resources, reading.chart_data.machine
    data: Data = {
        "notes": [text.line(remark(facts)) for facts in used.remarks],
        "uses": [
            {"name": text.name(name), "share": use.share, "power": use.power_w, "memory": use.memory_gb}
            for name, use in used.phases.items()
        ],
        "bottleneck": None if used.bottleneck is None else text.name(used.bottleneck),
        "steps": [],
        "phases": [],
        "power": None,
    }
    if len(drawn.steps):
        kept = thin(drawn.steps, drawn.step_seconds, ROOM)
        data["steps"] = drawn.steps[kept].tolist()
        data["phases"] = [
            {"name": text.name(phase.name or SMALL_PHASES), "seconds": short(phase.seconds[kept])}
            for phase in drawn.phases
        ]
        data["whole"] = short(drawn.step_seconds[kept])
    if len(drawn.power_steps):
        kept = thin(drawn.power_steps, drawn.power_w, ROOM)
        data["power"] = {"steps": drawn.power_steps[kept].tolist(), "watts": short(drawn.power_w[kept])}
    return data
