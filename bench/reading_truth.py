"""What truly happened in the runs of the zoo. Only the bench opens `truth.json`; the product never does."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

HACKED = ("contains", "rm_overopt", "rm_overopt_ppo")
SOUND = (
    "healthy", "healthy_ppo", "healthy_rloo", "healthy_rpp", "noisy_reward", "early_stage", "brevity", "story_gold",
    "slow", "late", "data_shift", "ref_reset", "rm_kl_safe", "saturated",
)  # fmt: skip
NOISE = ("random_reward", "frozen")
CHANGED = ("data_shift", "ref_reset", "reward_swap")
COLLAPSED = ("drift", "lr_too_high", "entropy_collapse")

# Concerns that are right in a scenario, by the beginning of their id; any other concern there counts as false.
ANY = ("",)
RIGHT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(COLLAPSED, ANY),
    **dict.fromkeys(HACKED, ("generation.", "signal.", "kl.", "timeline.")),
    "lr_step": ANY,  # once the learning rate has stepped; before that none
    "random_reward": ("generation.", "signal.", "kl."),
    "frozen": ("signal.no_learning_signal", "policy.", "kl."),
    "stale": ANY,  # noisy and unstable by design: nothing here is scored as false
    "len_exploit": ("generation.length", "generation.truncation"),
    "format_hack": ("generation.", "signal."),
    # Both are paid for length and write up to the cap, so what is said of their text is right.
    "telemetry_merger": ("conflict.", "generation."),
    "telemetry_plain": ("generation.",),
}


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """What was done and what came of it."""

    scenario: str
    steps: Floats
    gold: Floats  # hidden reward, three-point medians
    events: tuple[int, ...]  # steps of the intervention
    background: tuple[tuple[str, float, float], ...] = field(default=())

    @property
    def scale(self) -> float:
        return float(np.ptp(self.gold)) if len(self.gold) else 0.0

    def fell(self, share: float) -> int | None:
        """The first step at which gold had lost that share of its range since its best, for good."""
        return _fell(self.steps, self.gold, share)


def truth_of(folder: Path) -> Truth:
    data = json.loads((folder / "truth.json").read_bytes())
    gold = np.array(data["gold"], dtype=np.float64).reshape(-1, 3)
    return Truth(
        scenario_of(folder),
        gold[:, 0],
        median3(gold[:, 1]),
        tuple(int(event[0]) for event in data["config"].get("events", [])),
        tuple((str(name), float(first), float(last)) for name, first, last in data.get("background", [])),
    )


def scenario_of(folder: Path) -> str:
    return re.sub(r"-\d+$", "", folder.name)


def collapse_step(truth: Truth, steps: Floats, reward: Floats) -> int | None:
    """When the run collapsed: gold lost half of its range, or, where gold never moved, the logged reward did."""
    if truth.scale > 0.1:
        return truth.fell(0.5)
    width = max(len(reward) // 50, 5)
    smooth = np.convolve(reward, np.ones(width) / width, mode="valid") if len(reward) > width else reward
    return _fell(steps[: len(smooth)] + width / 2, smooth, 0.5)


def _fell(steps: Floats, values: Floats, share: float) -> int | None:
    if len(values) < 5 or np.ptp(values) == 0:
        return None
    best = np.maximum.accumulate(values)
    low = best - values >= share * np.ptp(values)
    if not low[-1]:
        return None
    since = len(low) - int(np.argmin(low[::-1])) if not low.all() else 0  # the unbroken stretch up to the end
    return int(steps[since])


def median3(values: Floats) -> Floats:
    if len(values) < 4:
        return values
    smooth = values.copy()
    smooth[1:-1] = np.median(np.stack([values[:-2], values[1:-1], values[2:]]), axis=0)
    return smooth
