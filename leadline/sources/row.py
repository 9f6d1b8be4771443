"""Which part of a row is its step, which its time, and which its numbers: for rows of no fixed form."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from ..vocabulary import detect
from ..vocabulary.guess import guess, words
from .number import as_number, as_step

# What a loop may call the step it counts its rows by, the surest first. open-instruct's `global_step` counts samples,
# so its `training_step` comes before (atlas trap 8); W&B's own `_step` counts calls of log, so it comes late.
STEPS = (
    "training_step", "step", "train_global_step", "training_global_step", "trainer_global_step", "global_step",
    "global_steps", "train_step", "rollout_step", "progress_batch", "progress_step", "training_iteration", "iteration",
    "iter", "it", "update", "num_updates", "n_updates", "update_step", "current_step", "current_steps", "steps",
    "time_total_timesteps", "total_timesteps", "timesteps", "num_timesteps", "timestep",
    "num_env_steps_sampled_lifetime", "_step", "batch", "batch_idx", "batch_id", "rollout_id", "rollout", "round",
    "episode", "episodes", "epoch",
)  # fmt: skip
RANKS = {name: rank for rank, name in enumerate(STEPS)}
TIMES = ("timestamp", "_timestamp", "time", "wall_time", "walltime", "unix_time", "ts", "created_at")
WRAPPERS = ("metrics", "data", "logs", "values", "scalars", "metric")  # a row may keep its numbers one level down
SETTINGS = ("config", "args", "hparams", "hyperparameters")  # a row that repeats what held from the start
EARLIEST = 1e9  # seconds since 1970: a smaller number is a duration, not a date


def step_key(rows: Iterable[Mapping[str, object]]) -> str | None:
    """The key under which these rows carry their step; None when they carry none."""
    seen = [row for row in rows if row]
    ranked = sorted({(RANKS[name], key) for row in seen for key in row if (name := _name(key)) in RANKS})
    for _, key in ranked:
        values = [as_step(row[key]) for row in seen if key in row]
        if len(values) * 2 >= len(seen) and all(value is not None and value >= 0 for value in values):
            return key
    return None


def _name(key: str) -> str:
    return "_step" if key == "_step" else words(key)


def may_be_logged(rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether rows look like a log and not like any table of numbers: they count steps, or hold what is logged."""
    keys = {key for row in rows for key in row}
    return step_key(rows) is not None or detect(keys) is not None or bool(guess(keys))


def wall_in(values: Mapping[str, object]) -> tuple[str, float] | None:
    """The key and time at which a row was written, where it tells as seconds or milliseconds since 1970."""
    for key in TIMES:
        number = as_number(values[key]) if key in values else None
        if number is not None and math.isfinite(number) and number > EARLIEST:
            return key, number / 1000 if number > 1000 * EARLIEST else number
    return None


def unwrapped(entry: Mapping[str, object]) -> dict[str, object]:
    """The row without the wrapper its numbers stand in: {"step": 3, "metrics": {...}}."""
    for name in WRAPPERS:
        inner = entry.get(name)
        if isinstance(inner, dict) and inner:
            return {**{key: value for key, value in entry.items() if key != name}, **inner}
    return dict(entry)
