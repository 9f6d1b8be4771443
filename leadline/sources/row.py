"""Which part of a row is its step, which its time, and which its numbers: for rows of no fixed form."""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import lru_cache

from ..vocabulary import detect
from ..vocabulary.guess import guess
from ..vocabulary.names import tokens, words
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
# Words by which any other key says that it counts steps, words that may stand beside them, and words that make of it
# something else: how long a step took, how many there are to be, how many samples it saw.
HEADS = {"step", "iteration", "update", "epoch"}
ASIDE = {
    "grpo", "ppo", "rl", "rloo", "dapo", "gspo", "policy", "optimizer", "optim", "opt", "learner", "index", "idx", "id",
    "number", "num", "no", "outer", "current", "cur", "train", "global", "count", "n",
}  # fmt: skip
OTHER_STEPS = {
    "time", "seconds", "ms", "total", "max", "per", "loss", "reward", "lr", "rate", "token", "norm", "duration", "mean",
    "off", "policy_off", "stale", "staleness", "samples", "eval", "size", "frac", "last", "best", "fps", "s", "min",
    "warmup", "save", "log", "logging", "every", "interval", "since", "remaining", "left", "mem", "memory", "this",
}  # fmt: skip
SECTIONS = {
    "total",
    "counter",
    "counters",
    "progress",
    "time",
    "state",
}  # under which running totals stand: total/steps
WHICH = {"num", "number", "no", "id", "idx", "index"}  # after a word for what counts: which one it is
TRACKERS = {"wandb", "mlflow", "tensorboard", "tb", "trackio", "swanlab"}  # they count calls of their own
LONGEST_NAME = 4  # words
MOSTLY = 2 / 3  # of the rows
STILL = 2  # rows in which a step may stand still
KINDS = ("type", "split", "phase", "mode", "kind", "stage", "subset", "event")  # under which a row says what it is of
OF_SETTINGS = {"config", "hparams", "args", "settings", "hyperparameters", "meta", "metadata", "header"}
TIMES = ("timestamp", "_timestamp", "time", "wall_time", "walltime", "unix_time", "ts", "created_at")
WRAPPERS = ("metrics", "data", "logs", "values", "scalars", "metric")  # a row may keep its numbers one level down
SETTINGS = ("config", "args", "hparams", "hyperparameters")  # a row that repeats what held from the start
EARLIEST = 1e9  # seconds since 1970: a smaller number is a duration, not a date


def step_key(rows: Iterable[Mapping[str, object]]) -> str | None:
    """The key under which these rows carry their step; None when they carry none. Of several, the surest name that
    behaves like a step: it does not stand still, and does not go round, while another one goes on."""
    seen = [row for row in rows if row]
    ranked = sorted({(rank, key) for row in seen for key in row if (rank := _rank(key)) is not None})
    fitting: list[tuple[str, list[int]]] = []
    for _, key in ranked:
        values = [as_step(row[key]) for row in seen if key in row]
        steps = [value for value in values if value is not None and value >= 0]
        if len(values) * 2 >= len(seen) and len(steps) == len(values):
            fitting.append((key, steps))
    fitting.sort(key=lambda pair: len(pair[1]) < len(seen))  # stable: those of every row first
    going_on = [key for key, steps in fitting if steps[-1] > steps[0] and _turns(steps) == 0]
    # None does where a run was taken up again and again: then those that mostly go on.
    going_on = going_on or [key for key, steps in fitting if _goes_on_mostly(steps)]
    for key, steps in fitting:
        stands = len(steps) > STILL and len(set(steps)) == 1
        if not going_on or key in going_on or not (stands or _turns(steps) > 1):
            return key
    return None


def _goes_on_mostly(steps: Sequence[int]) -> bool:
    """Whether nearly every row is one further than the row before: a count, and no length of an episode."""
    ahead = sum(after > before for before, after in itertools.pairwise(steps))
    return len(steps) > STILL and ahead > MOSTLY * (len(steps) - 1)


def _turns(steps: Sequence[int]) -> int:
    """How often a count goes back."""
    return sum(after < before for before, after in itertools.pairwise(steps))


@lru_cache(maxsize=4096)
def _rank(key: str) -> tuple[int, int] | None:
    """How surely a key is the step, by its name: those that are known, then those that say so in other words."""
    name = "_step" if key == "_step" else words(key)
    if name in RANKS:
        return RANKS[name], 0
    section, _, last = key.rpartition("/")
    if section and words(section) in SECTIONS and words(last) in RANKS:
        return RANKS["_step"], 2 + RANKS[words(last)]
    parts = tokens(key)
    if len(parts) == len(("episode", "num")) and parts[0] in RANKS and parts[1] in WHICH:
        return RANKS[parts[0]], 1
    heads = [part for part in parts if part in HEADS]
    if not heads or len(parts) > LONGEST_NAME or OTHER_STEPS & {*parts}:
        return None
    others = [part for part in parts if part not in HEADS and part not in ASIDE]
    if not others and heads[-1] != "epoch" and not {"n", "num", "count"} & {*parts}:
        return RANKS["step"], 1 + len(parts)
    tracker = any(part in TRACKERS for part in parts)
    return (RANKS["_step"], 1 + tracker + len(parts)) if len(others) <= 1 or tracker else None


def may_be_logged(rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether rows look like a log and not like any table of numbers: they count steps, or hold what is logged."""
    keys = {key for row in rows for key in row}
    return step_key(rows) is not None or detect(keys) is not None or bool(guess(keys))


def kind_key(rows: Iterable[Mapping[str, object]]) -> str | None:
    """The key under which rows say what they are of: training, an evaluation, settings."""
    seen = list(rows)
    return next(
        (key for key in KINDS if any(isinstance(row.get(key), str) and _tells(str(row[key])) for row in seen)), None
    )


def _tells(text: str) -> bool:
    return bool({*tokens(text)} & {"eval", "train", "valid", *OF_SETTINGS})


def is_held_out(kind: object) -> bool:
    """Whether a row that calls itself so is of an evaluation."""
    return isinstance(kind, str) and bool({*tokens(kind)} & {"eval", "valid"})


def is_settings(kind: object) -> bool:
    return isinstance(kind, str) and bool({*tokens(kind)} & OF_SETTINGS)


def is_summary(values: Container[str]) -> bool:
    """Whether a row is the one that a trainer writes when it is through."""
    return "train_runtime" in values


def of_training(values: Mapping[str, object]) -> bool:
    """Whether a row is of a step of training, and not of an evaluation or of the run as a whole."""
    return not is_summary(values) and not all(key == "epoch" or key.startswith("eval_") for key in values)


def held_out(values: Mapping[str, object]) -> dict[str, object]:
    """The numbers of a row of an evaluation, under keys that say so."""
    return {key if "eval" in tokens(key) else f"eval/{key}": value for key, value in values.items()}


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
