"""Small runs in folders, as a lab would keep them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

Make = Callable[..., Path]


def write_run(
    folder: Path, *, steps: int = 40, lift: float = 1.0, planned: int | None = None, began: float | None = None
) -> Path:
    """A run whose reward rises and levels off. `began`: its rows carry their times, one a minute from then on."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "metrics.jsonl").open("w", encoding="utf-8") as file:
        for step in range(1, steps + 1):
            reward = lift * (1 - math.exp(-step / 15)) + 0.05 * math.sin(7.3 * step)
            row = {"step": step, "reward": reward, "kl": 0.01 * lift * step, "loss": 0.1 / lift}
            file.write(json.dumps(row if began is None else {**row, "timestamp": began + 60 * step}) + "\n")
    if planned is not None:
        (folder / "config.json").write_text(json.dumps({"max_steps": planned}), encoding="utf-8")
    return folder


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Three projects with six runs, one file that is no run, and an empty folder."""
    root = tmp_path / "lab"
    for project, names in {
        "math": ("grpo-seed0", "grpo-seed1", "ppo-seed0"),
        "code": ("a", "b"),
        "web": ("only",),
    }.items():
        for place, name in enumerate(names):
            write_run(root / project / name, lift=1.0 + place, steps=40 + place)
    (root / "code" / "broken").mkdir()
    (root / "code" / "broken" / "train.log").write_text("Traceback (most recent call last):\n", encoding="utf-8")
    (root / "nothing").mkdir()
    return root
