"""Folders as people leave them: one run in many files, many runs in one place, and everything else."""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import trl_bytes, verl_bytes

from leadline.errors import NothingReadable, NotOneRun
from leadline.sources import Source, find_runs, open_run, open_runs
from leadline.sources.folders import search
from leadline.sources.walk import walk


def rows(seed: int, first: int = 1, last: int = 40) -> list[tuple[int, dict[str, object]]]:
    """Steps of a run with noise of its own."""
    noise = np.random.default_rng(seed).normal(0.5, 0.1, last + 1)
    return [(step, {"critic/score/mean": float(noise[step]), "actor/pg_loss": 0.0}) for step in range(first, last + 1)]


def verl(place: Path, log: Sequence[tuple[int, Mapping[str, object]]]) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(verl_bytes(log))
    return place


def names(root: Path) -> list[str]:
    return [run.name for run in find_runs(root).runs]


def test_different_runs_are_listed_to_choose_from(tmp_path: Path) -> None:
    for seed in range(3):
        verl(tmp_path / f"seed{seed}" / "metrics.jsonl", rows(seed))
    with pytest.raises(NotOneRun) as refused:
        open_run(tmp_path)
    assert "contains 3 runs: seed0 (steps 1–40), seed1 (steps 1–40), seed2 (steps 1–40)" in refused.value.what
    assert "--all" in refused.value.next_step


def test_all_of_them_are_opened_one_after_the_other(tmp_path: Path) -> None:
    for seed in range(3):
        verl(tmp_path / f"seed{seed}" / "metrics.jsonl", rows(seed, last=30 + seed))
        (tmp_path / f"seed{seed}" / f"global_step_{seed + 1}").mkdir()
    opened = list(open_runs(tmp_path))
    assert [(run.path, run.last_step) for run in opened] == [(str(tmp_path / f"seed{n}"), 30 + n) for n in range(3)]
    assert [[state.step for state in run.checkpoints] for run in opened] == [[1], [2], [3]]


def test_a_relative_path_finds_as_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(2):
        verl(tmp_path / f"seed{seed}" / "metrics.jsonl", rows(seed))
        (tmp_path / f"seed{seed}" / f"global_step_{seed + 1}").mkdir()
    monkeypatch.chdir(tmp_path)
    assert [[state.step for state in run.checkpoints] for run in open_runs(".")] == [[1], [2]]
    monkeypatch.chdir(tmp_path / "seed1")
    assert [state.step for state in open_run(".").checkpoints] == [2]
    assert [state.step for state in open_run("metrics.jsonl").checkpoints] == [2]


def test_runs_that_share_a_folder_are_called_by_their_files(tmp_path: Path) -> None:
    for seed in range(2):
        verl(tmp_path / f"seed{seed}.jsonl", rows(seed))
    assert names(tmp_path) == ["seed0.jsonl", "seed1.jsonl"]


def test_a_copy_is_the_same_run_wherever_it_lies(tmp_path: Path) -> None:
    verl(tmp_path / "run" / "metrics.jsonl", rows(1))
    verl(tmp_path / "backup" / "old.jsonl", rows(1, last=25))
    assert len(names(tmp_path)) == 1
    assert open_run(tmp_path).last_step == 40


def test_the_same_numbers_in_a_log_and_rounded_on_a_console_are_one_run(tmp_path: Path) -> None:
    log = rows(1)
    verl(tmp_path / "metrics.jsonl", log)
    lines = [f"step:{step} - critic/score/mean:{values['critic/score/mean']:.3f}" for step, values in log]
    (tmp_path / "train.log").write_text("starting\n" + "\n".join(lines) + "\n")
    run = open_run(tmp_path)
    assert len(find_runs(tmp_path).runs[0].carriers) == 2
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.values.tolist() == [values["critic/score/mean"] for _, values in log]  # the exact ones stand


def test_a_later_attempt_goes_on_with_the_run_and_its_values_stand(tmp_path: Path) -> None:
    verl(tmp_path / "logs" / "attempt_1" / "metrics.jsonl", rows(1, last=25))
    verl(tmp_path / "logs" / "attempt_2" / "metrics.jsonl", rows(2, first=21, last=40))
    run = open_run(tmp_path)
    assert (run.first_step, run.last_step) == (1, 40)
    assert [(event.kind, event.step) for event in run.events] == [("resume", 21)]
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.values[24] == rows(2, first=25, last=40)[0][1]["critic/score/mean"]


def test_two_files_that_log_different_things_in_one_folder_are_one_run(tmp_path: Path) -> None:
    verl(tmp_path / "trainer.jsonl", [(step, {"actor/pg_loss": math.sin(step)}) for step in range(1, 30)])
    verl(tmp_path / "rewards.jsonl", [(step, {"critic/score/mean": math.cos(step)}) for step in range(1, 30)])
    run = open_run(tmp_path)
    assert {series.name for series in run.series} == {"reward/mean", "loss/policy"}


def test_samples_settings_and_records_of_the_machine_are_no_logs(tmp_path: Path) -> None:
    verl(tmp_path / "metrics.jsonl", rows(1))
    (tmp_path / "rollouts").mkdir()
    for step in (1, 2):
        sample = {"input": "q", "output": "a", "score": 0.5, "step": step}
        (tmp_path / "rollouts" / f"{step}.jsonl").write_text(json.dumps(sample) + "\n")
    (tmp_path / "samples.jsonl").write_text(
        json.dumps({"step": 1, "prompt": "q", "response": "a", "reward": 1.0}) + "\n"
    )
    (tmp_path / "config.json").write_text('{"algo": "grpo", "steps": 100}')
    (tmp_path / "nvidia-smi.csv").write_text("timestamp, index, power.draw [W]\n2026/11/15 12:00:00.000, 0, 100.0 W\n")
    (tmp_path / "phases.jsonl").write_text('{"step": 1, "gen": [1.0, 2.0]}\n')
    (tmp_path / "checkpoints.jsonl").write_text('{"name": "000001", "batch": 1, "state_path": "tinker://x"}\n')
    held = find_runs(tmp_path).runs
    assert [carrier.path.name for run in held for carrier in run.carriers] == ["metrics.jsonl"]
    run = open_run(tmp_path)
    assert run.rollouts.steps == (1, 2)
    assert run.config.planned_steps == 100
    assert len(run.telemetry.gpus) == 1
    assert [state.path for state in run.checkpoints] == ["tinker://x"]


def test_a_log_without_a_reward_does_not_stand_in_the_way_of_the_one_that_has_it(tmp_path: Path) -> None:
    verl(tmp_path / "a" / "metrics.jsonl", rows(1))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "speed.csv").write_text("step,seconds\n" + "".join(f"{n},{n * 7 % 5}\n" for n in range(20)))
    run = open_run(tmp_path)
    assert run.last_step == 40
    assert any("(no reward): b/speed.csv" in note for note in run.notes)


def test_the_run_is_found_deep_below_and_weights_are_not_entered(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c" / "d"
    verl(deep / "metrics.jsonl", rows(1))
    for skipped in (".git", "node_modules", "global_step_10/actor"):
        verl(tmp_path / skipped / "metrics.jsonl", rows(2))
    assert open_run(tmp_path).last_step == 40


def test_links_that_lead_back_are_followed_once(tmp_path: Path) -> None:
    verl(tmp_path / "run" / "metrics.jsonl", rows(1))
    (tmp_path / "run" / "self").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "latest").symlink_to(tmp_path / "run", target_is_directory=True)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    assert len(walk(tmp_path).files) == 1
    assert open_run(tmp_path).last_step == 40


def test_a_hundred_thousand_files_are_passed_by() -> None:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        place = Path(folder)
        verl(place / "zz_metrics.jsonl", rows(1))
        for number in range(100_000):
            os.close(os.open(place / f"sample_{number}.jsonl", os.O_CREAT))
        start = time.process_time()
        run = open_run(place)
        assert time.process_time() - start < 10  # loose on purpose: it must not open each of them
    assert run.last_step == 40
    assert "thousands of files like sample_#.jsonl" in run.notes[0]


def test_more_names_than_are_looked_at_are_noted(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"f{number}").touch()
    assert "holds more than 20 names" in walk(tmp_path, most=20).notes[0]


def test_a_file_that_vanishes_while_the_folder_is_read_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verl(tmp_path / "a" / "metrics.jsonl", rows(1))
    lost = verl(tmp_path / "b" / "metrics.jsonl", rows(2))
    opening = Source.open

    def gone(source: Source, path: Path) -> object:
        if path == lost:
            lost.unlink()
        return opening(source, path)

    monkeypatch.setattr(Source, "open", gone)
    found = search(tmp_path)
    assert len(found.runs) == 1
    assert found.notes == ("metrics.jsonl could not be read: No such file or directory",)


def test_a_folder_of_other_things_says_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"\x89PNG")
    with pytest.raises(NothingReadable) as refused:
        open_run(tmp_path)
    assert "no known log, only photo.png" in refused.value.what


def test_a_checkpoint_of_many_is_read_as_it_was_then(tmp_path: Path) -> None:
    log = [(step, {"reward": values["critic/score/mean"]}) for step, values in rows(1)]
    for step in (10, 20, 40):
        place = tmp_path / f"checkpoint-{step}"
        place.mkdir()
        (place / "trainer_state.json").write_bytes(trl_bytes(log[:step], max_steps=40))
    then = open_run(tmp_path / "checkpoint-20")
    assert (then.last_step, [state.step for state in then.checkpoints]) == (20, [10, 20])
    assert open_run(tmp_path).last_step == 40


def test_a_lone_file_does_not_take_up_what_belongs_to_its_neighbours(tmp_path: Path) -> None:
    mine = verl(tmp_path / "mine.jsonl", rows(1))
    verl(tmp_path / "other" / "metrics.jsonl", rows(2))
    (tmp_path / "other" / "global_step_10").mkdir()
    assert open_run(mine).checkpoints == ()
