"""What the run does not show, and why that matters to a reader."""

from __future__ import annotations

from dataclasses import dataclass

from ..run import Run


@dataclass(frozen=True, slots=True)
class Missing:
    what: str
    why_it_matters: str


def missing(run: Run) -> tuple[Missing, ...]:
    """What was looked for in `run` and not found."""
    names = {series.name for series in run.series}
    absent = []
    if "reward/mean" not in names:
        absent.append(Missing("reward", "without the training reward the trajectory cannot be read at all"))
    if not any(name.startswith("eval/") for name in names):
        absent.append(
            Missing("held-out reward", "a reward that is gamed on the training prompts cannot be told from a real gain")
        )
    if not any(name.startswith("kl/ref") for name in names):
        absent.append(Missing("reference KL", "drift has to be read from entropy, length and the text"))
    if not run.rollouts:
        absent.append(Missing("rollouts", "what the policy writes could not be checked"))
    if not run.checkpoints:
        absent.append(Missing("checkpoints", "it is not known which states could be gone back to"))
    if run.config.planned_steps is None:
        absent.append(Missing("planned steps", "the remaining budget is not known; --budget STEPS gives it"))
    if not run.telemetry:
        absent.append(Missing("telemetry", "GPU, memory and background processes could not be checked"))
    return tuple(absent)
