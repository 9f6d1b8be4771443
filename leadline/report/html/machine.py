"""Where the time of a step goes, phase by phase, and what the GPUs drew meanwhile."""

from __future__ import annotations

import numpy as np

from ...contract import Reading
from ...reading.resources.by_step import power_by_step
from ...reading.resources.phases import Spent, time_spent
from ..numbers import short, thin
from . import text

Data = dict[str, object]

ROOM = 2_000  # steps of a stack
PHASES = 7  # phases that are told apart; the rest is put together
REST = "other phases"


def machine(reading: Reading) -> Data:
    """The stack of phases and the power, as far as the run shows them, with what was said of them."""
    used = reading.resources
    data: Data = {
        "notes": [text.line(one) for one in used.notes],
        "uses": [
            {"name": text.name(name), "share": use.share, "power": use.power_w, "memory": use.memory_gb}
            for name, use in used.phases.items()
        ],
        "bottleneck": None if used.bottleneck is None else text.name(used.bottleneck),
        "steps": [],
        "phases": [],
        "power": None,
    }
    if reading.portrait is None:
        return data
    run = reading.portrait.run
    spent, whole = time_spent(run)
    if whole is None:  # nothing is told apart; a whole step may still be timed
        logged = run.get("time/step")
        whole = None if logged is None else Spent(logged.steps, logged.values)
    if whole is not None and len(whole.steps):
        kept = thin(whole.steps, whole.values, ROOM)
        steps = whole.steps[kept]
        ranked = sorted(spent, key=lambda name: (-float(spent[name].values.sum()), name))
        stack = {text.name(name): spent[name].at(steps) for name in ranked[:PHASES]}
        if ranked[PHASES:]:
            stack[REST] = np.sum([spent[name].at(steps) for name in ranked[PHASES:]], axis=0)
        data["steps"] = steps.tolist()
        data["phases"] = [{"name": name, "seconds": short(seconds)} for name, seconds in stack.items()]
        data["whole"] = short(whole.values[kept])
    drawn = power_by_step(run)
    if drawn is not None:
        kept = thin(drawn.steps, drawn.values, ROOM)
        data["power"] = {"steps": drawn.steps[kept].tolist(), "watts": short(drawn.values[kept])}
    return data
