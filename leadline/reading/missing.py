"""What the run does not show."""

from __future__ import annotations

from ..facts.missing import Missing
from ..run import Run
from .reward.apart import lacks_independent


def missing(run: Run, planned: int | None) -> tuple[Missing, ...]:
    """What was looked for in `run` and not found. `planned`: its last step, by itself or by --budget."""
    names = {series.name for series in run.series}
    shown = {
        "reward": "reward/mean" in names,
        "held-out reward": any(name.startswith("eval/") for name in names),
        "reference KL": any(name.startswith("kl/ref") for name in names),
        "rollouts": bool(run.rollouts),
        "checkpoints": bool(run.checkpoints),
        "planned steps": planned is not None,
        "telemetry": bool(run.telemetry),
    }
    if shown["held-out reward"]:
        shown["independent score"] = not lacks_independent(run)
    return tuple(Missing(what, run.framework) for what, there in shown.items() if not there)
