"""How a run ended and how long it was to be, from what stands in its log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leadline.event import Ended
from leadline.sources import open_run

ROWS = [{"step": step, "reward": step / 100, "loss": 0.1} for step in range(1, 21)]
TRL = "".join(f"{{'loss': 0.1, 'reward': {step / 100}, 'epoch': {step / 40}}}\n" for step in range(1, 21))
LOG = "".join(f"step={step} reward={step / 100} loss=0.1 epoch={step / 40}\n" for step in range(1, 21))


def endings(folder: Path, text: str) -> list[str]:
    (folder / "train.log").write_text(text)
    events = open_run(folder).events
    return [event.facts.because for event in events if isinstance(event.facts, Ended)]


@pytest.mark.parametrize(
    ("line", "because"),
    [
        ("slurmstepd: error: *** JOB 11 ON gcn1 CANCELLED AT 2025-04-30T11:47:05 DUE TO TIME LIMIT ***", "time_limit"),
        ("slurmstepd: error: *** JOB 11 ON gcn1 CANCELLED AT 2025-04-30T10:46:51 ***", "cancelled"),
        ("slurmstepd: error: *** STEP 11.0 ON gcn1 CANCELLED AT 2025-04-30T10 DUE TO PREEMPTION ***", "preempted"),
        ("slurmstepd: error: Detected 1 oom-kill event(s) in StepId=11.batch.", "out_of_memory"),
        ("[INFO] Training completed in 12.3 min", "completed"),
        ("Training finished.", "completed"),
    ],
)
def test_the_last_lines_say_why_a_run_ended(tmp_path: Path, line: str, because: str) -> None:
    assert endings(tmp_path, f"{LOG}{line}\nJob Wall-clock time: 01:00:03\n") == [because]


def test_an_end_is_an_event_of_the_last_step_in_words(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(f"{LOG}*** JOB 11 ON n1 CANCELLED AT 10:46 DUE TO TIME LIMIT ***\n")
    (event,) = (event for event in open_run(tmp_path).events if event.kind == "ended")
    assert event.say() == "job hit its time limit after step 20"
    assert not open_run(tmp_path).until(19).events


@pytest.mark.parametrize("line", ["Training completed for the warm-up", "the task is to say: when training is done"])
def test_rows_after_it_or_talk_are_no_end(tmp_path: Path, line: str) -> None:
    assert endings(tmp_path, f"{line}\n{LOG}") == []


def test_a_run_that_goes_on_has_no_end(tmp_path: Path) -> None:
    assert endings(tmp_path, LOG) == []


def planned(folder: Path) -> int | None:
    return open_run(folder).config.planned_steps


@pytest.mark.parametrize(
    ("settings", "steps"), [({"max_steps": 400}, 400), ({"steps": 400}, 400), ({"steps": 4}, None), ({"lr": 1}, None)]
)
def test_a_first_row_of_settings_says_how_long(tmp_path: Path, settings: dict[str, int], steps: int | None) -> None:
    rows = [{"type": "config", "args": settings}, *ROWS]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert planned(tmp_path) == steps


def test_the_only_yaml_beside_a_log_holds_its_settings(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(LOG)
    (tmp_path / "grpo-qwen-countdown.yaml").write_text("max_steps: 450\nlearning_rate: 1.0e-6\nnum_generations: 8\n")
    assert planned(tmp_path) == 450
    (tmp_path / "grpo-qwen-gsm8k.yaml").write_text("max_steps: 900\nlearning_rate: 1.0e-6\nnum_generations: 8\n")
    assert planned(tmp_path) is None


def test_epochs_and_their_pace_say_how_long(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(f"GRPOConfig(num_train_epochs=2, lr=1e-6)\n{TRL}")
    assert planned(tmp_path) == 80


def test_verl_fills_in_its_plan_itself(tmp_path: Path) -> None:
    optim = {"total_training_steps": 435}
    config = {
        "trainer": {"total_training_steps": None},
        "actor_rollout_ref": {"rollout": {"n": 8}, "actor": {"optim": optim}},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "train.log").write_text(LOG)
    assert planned(tmp_path) == 435
