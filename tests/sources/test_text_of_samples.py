"""Samples as text, and samples in place of a log: what a policy wrote is read wherever it was kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from leadline.errors import NothingReadable
from leadline.sources import open_run

LOG = "".join(json.dumps({"step": step, "reward": step / 40, "loss": 0.1}) + "\n" for step in range(40))
ANSWER = "<think> I add both numbers and look at what comes out. </think>\n<answer> 4 </answer>"


def heading(minute: int, score: float, name: str = "Accuracy reward", part: int = 0) -> str:
    return f"------------- 04-02-{minute:02}-06-{338654 + part} {name}: {score} -------------\n"


def test_a_heading_that_comes_again_with_another_time_is_a_sample(tmp_path: Path) -> None:
    printed = [
        f"{heading(minute, float(n < minute), part=n)}Content: {ANSWER}\n"
        f"{'Output: 0' if n % 2 == 0 else ''}\nSolution: {minute}\n"
        f"{heading(minute, -0.5, 'Length reward', n)}Content: {ANSWER}\n"
        for minute in range(10)
        for n in range(8)
    ]
    (tmp_path / "debug_log.txt").write_text("".join(printed))
    run = open_run(tmp_path)
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.key == "Accuracy reward"
    np.testing.assert_allclose(reward.values, [min(minute, 8) / 8 for minute in range(10)])
    assert any("mean over the samples of each step" in note for note in run.notes)
    assert any("Length reward" in note for note in run.notes)
    first = run.rollouts.at(1)
    assert len(first) == 8
    assert first[0].output == f"{ANSWER}\nOutput: 0"
    assert {one.group for one in first} == {0}


def test_samples_beside_a_log_are_no_run_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text(LOG)
    (tmp_path / "completion_samples.txt").write_text("".join(f"\n\n==============\n{ANSWER}" for _ in range(80)))
    (tmp_path / "success_completion_samples.txt").write_text(f"\n\n==============\n{ANSWER}" * 9)
    run = open_run(tmp_path)
    assert run.rollouts.steps == tuple(range(40))
    assert [one.output for one in run.rollouts.at(3)] == [ANSWER, ANSWER]


def test_parts_with_labels_are_read_from_the_log_itself(tmp_path: Path) -> None:
    lines = []
    for step in range(12):
        lines += [f"-------------------- Question:\nWhat is {step}+2?", f"Answer:\n{step + 2}"]
        lines += [f"Response:\nIt is {step + 2}.\nI am sure.", f"Extracted:\n{step + 2}"]
        lines += [str({"loss": 0.1, "reward": step / 12, "reward_std": 0.1, "kl": 0.01, "epoch": step / 12})]
    (tmp_path / "train.log").write_text("\n".join(lines))
    run = open_run(tmp_path)
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.points == 12
    sample = run.rollouts.at(run.rollouts.steps[3])[0]
    assert (sample.prompt, sample.output) == ("What is 3+2?", "It is 5.\nI am sure.")


@pytest.mark.parametrize("name", ["rollouts.jsonl", "what_it_wrote.jsonl", "table.csv"])
def test_samples_with_step_and_reward_are_a_curve_where_nothing_else_is(tmp_path: Path, name: str) -> None:
    rows = [
        {"step": step, "prompt": f"q{n // 2}", "response": "so it is four then", "reward": float(n < step)}
        for step in range(6)
        for n in range(4)
    ]
    lines = ["step,prompt,response,reward", *(",".join(map(str, row.values())) for row in rows)]
    told = "\n".join(lines if name.endswith("csv") else map(json.dumps, rows))
    (tmp_path / name).write_text(told)
    for place in (tmp_path, tmp_path / name):
        run = open_run(place)
        reward = run.get("reward/mean")
        assert reward is not None
        np.testing.assert_allclose(reward.values, [min(step, 4) / 4 for step in range(6)])
        assert run.rollouts.steps == tuple(range(6))


def test_samples_of_one_step_are_no_curve(tmp_path: Path) -> None:
    rows = [{"step": 3, "prompt": "q", "response": "so it is four then", "reward": 1.0} for _ in range(4)]
    (tmp_path / "samples.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(NothingReadable, match="what the policy wrote"):
        open_run(tmp_path / "samples.jsonl")


def test_predictions_of_the_last_model_are_of_the_last_step(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text(LOG)
    rows = [{"question": "2+2", "prediction": "I think that it is 4", "score": 1.0} for _ in range(20)]
    (tmp_path / "predictions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run = open_run(tmp_path)
    assert run.rollouts.steps == (39,)
    assert run.rollouts.at(39)[0].score == 1.0


def test_a_long_pause_is_told_and_only_the_last_start_belongs_to_a_log(tmp_path: Path) -> None:
    starts = [(hour, minute) for hour in (1, 9) for minute in range(20)]
    told = [
        f"----- 04-{hour:02}-{minute:02}-00-000001 Accuracy reward: {float(hour == 9)} -----\nContent: {ANSWER}\n"
        for hour, minute in starts
    ]
    (tmp_path / "debug_log.txt").write_text("".join(told))
    run = open_run(tmp_path)
    assert len(run.rollouts.steps) == 40
    assert any("pauses for long before batch 21" in note for note in run.notes)
    (tmp_path / "metrics.jsonl").write_text("".join(LOG.splitlines(keepends=True)[:10]))
    run = open_run(tmp_path)
    assert {one.score for step in run.rollouts.steps for one in run.rollouts.at(step)} == {1.0}
