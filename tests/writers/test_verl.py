"""verl's own loggers and dumps, compared with what they were given."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from writers.held import differences, held_in, read_as, single

from leadline.sources import open_run


def finite(value: float) -> float:
    """As orjson writes it in verl's file logger: NaN and infinities become null."""
    return value if math.isfinite(value) else math.nan


@pytest.mark.parametrize(
    ("place", "kept"),
    [
        ("metrics/leadline/tiny.jsonl", finite),
        ("console.log", float),
        ("tensorboard", single),
    ],
)
def test_every_logger_of_verl_holds_every_value(place: str, kept: Callable[[float], float], verl_logged: Path) -> None:
    run = open_run(verl_logged / place)
    assert differences(read_as(run), held_in(verl_logged / "held.json"), kept=kept) == []
    assert run.framework == "verl"


def test_dumped_samples_are_read_and_grouped_by_prompt(verl_logged: Path, tmp_path: Path) -> None:
    shutil.copy(verl_logged / "metrics" / "leadline" / "tiny.jsonl", tmp_path / "metrics.jsonl")
    shutil.copytree(verl_logged / "rollouts", tmp_path / "rollouts")  # links out of a folder are not followed
    rollouts = open_run(tmp_path).rollouts
    assert rollouts.steps == (1, 100, 200, 300)
    samples = rollouts.at(200)
    assert len(samples) == 16
    assert samples[5].output == "answer 5 of step 200\nwith a second line"
    assert samples[5].score == pytest.approx(200 / 300 + 0.05)
    groups: dict[object, set[str]] = {}
    for sample in samples:
        groups.setdefault(sample.group, set()).add(sample.prompt)
    assert sorted(map(len, groups.values())) == [1, 1, 1, 1]
