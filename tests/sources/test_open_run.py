"""What lies at a path, as users leave it there."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import EXAMPLES, trl_bytes, verl_bytes

from leadline.errors import NothingReadable, NotOneRun
from leadline.sources import open_run, open_runs, read_stream

ROWS = [(step, {"reward": step / 10, "loss": 0.0}) for step in range(1, 6)]


def checkpoint(folder: Path, step: int, data: bytes | None = None) -> Path:
    place = folder / f"checkpoint-{step}"
    place.mkdir()
    (place / "trainer_state.json").write_bytes(trl_bytes(ROWS[:step]) if data is None else data)
    return place


def test_bundled_runs_are_understood_whole(example: Path) -> None:
    run = open_run(example)
    assert run.unread_keys == ()
    assert run.get("reward/mean") is not None
    assert run.get("kl/ref") is not None
    assert {event.kind for event in run.events} <= {"learning_rate"}
    assert run.config.planned_steps == run.last_step
    assert run.config.updates_per_batch == 2
    assert run.rollouts.steps[0] == 1


def test_rollouts_hold_prompt_output_score_and_group() -> None:
    samples = open_run(EXAMPLES / "hacked").rollouts.at(1)
    assert len(samples) == 24
    assert (samples[0].prompt, samples[0].output, samples[0].score) == ("509+572=", "1,8,0,1>1011.", 0.0)
    assert {sample.group for sample in samples} == {None, 0}


def test_a_file_a_checkpoint_and_an_output_folder_read_the_same(tmp_path: Path) -> None:
    place = checkpoint(tmp_path, 5)
    runs = [open_run(path) for path in (tmp_path, place, place / "trainer_state.json")]
    assert {run.last_step for run in runs} == {5}
    assert {run.checkpoints[-1].step for run in runs} == {5}


def test_the_newest_checkpoint_is_read_and_all_are_listed(tmp_path: Path) -> None:
    for step in (2, 4, 3):
        checkpoint(tmp_path, step)
    run = open_run(tmp_path)
    assert run.last_step == 4
    assert [(one.step, one.complete) for one in run.checkpoints] == [(2, True), (3, True), (4, True)]


def test_a_torn_checkpoint_is_passed_over_and_said(tmp_path: Path) -> None:
    checkpoint(tmp_path, 2)
    checkpoint(tmp_path, 4, trl_bytes(ROWS[:4])[:-40])
    run = open_run(tmp_path)
    assert run.last_step == 2
    assert [(one.step, one.complete) for one in run.checkpoints] == [(2, True), (4, False)]
    assert [event.say() for event in run.events] == ["skipped 1 truncated file: checkpoint-4/trainer_state.json"]


def test_a_state_beside_older_checkpoints_wins_and_loses_to_newer_ones(tmp_path: Path) -> None:
    checkpoint(tmp_path, 3)
    (tmp_path / "trainer_state.json").write_bytes(trl_bytes(ROWS))
    assert open_run(tmp_path).last_step == 5
    (tmp_path / "trainer_state.json").write_bytes(trl_bytes(ROWS[:1]))
    assert open_run(tmp_path).last_step == 3


def test_a_single_checkpoint_does_not_know_of_later_ones(tmp_path: Path) -> None:
    checkpoint(tmp_path, 2)
    checkpoint(tmp_path, 4)
    assert [one.step for one in open_run(tmp_path / "checkpoint-2").checkpoints] == [2]


def test_a_lost_shard_makes_a_checkpoint_incomplete(tmp_path: Path) -> None:
    place = checkpoint(tmp_path, 2)
    (place / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"w": "model-1.safetensors"}}))
    assert open_run(tmp_path).checkpoints[0].complete is False
    (place / "model-1.safetensors").touch()
    assert open_run(tmp_path).checkpoints[0].complete is True


def test_verl_checkpoints_are_complete_up_to_the_tracker(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_bytes(verl_bytes([(1, {"critic/score/mean": 0.1})]))
    for step in (10, 20, 30):
        (tmp_path / f"global_step_{step}" / "actor").mkdir(parents=True)
        (tmp_path / f"global_step_{step}" / "actor" / "model_world_size_1_rank_0.pt").touch()
        if step < 30:
            (tmp_path / f"global_step_{step}" / "data.pt").touch()
    assert [one.complete for one in open_run(tmp_path).checkpoints] == [None, None, False]
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("10")
    assert [one.complete for one in open_run(tmp_path).checkpoints] == [True, False, False]


def test_numbers_come_in_many_clothes() -> None:
    values = '{"reward": "0.5", "kl": NaN, "loss": -Infinity, "entropy": 1e400, "grad_norm": true, "step_time": null}'
    run = read_stream(b'{"log_history": [' + values.replace("}", ', "step": "3"}').encode() + b"]}")
    seen = {one.key: float(one.values[0]) for one in run.series}
    assert seen["reward"] == 0.5
    assert math.isnan(seen["kl"])
    assert seen["loss"] == -math.inf
    assert seen["entropy"] == math.inf
    assert seen["grad_norm"] == 1.0
    assert "step_time" not in seen  # a null with no number before it was not computed
    assert run.last_step == 3


@pytest.mark.parametrize("before", ['{"max_steps": 9, "log_history": [', '{"runs": {"history": [', "["])
def test_a_torn_document_loses_the_row_it_breaks_off_in(before: str) -> None:
    text = before + '{"step": 1, "reward": 0.5, "kl": 0.1}, {"step": 2, "reward": 0.6, "kl": 0.2}, {"step": 3, "reward"'
    for end in range(len(text) - 10, len(text) + 1):
        run = read_stream(text[:end].encode())
        assert {(one.key, one.steps.tolist() == [1, 2]) for one in run.series} == {("reward", True), ("kl", True)}


def test_a_damaged_byte_in_a_trainer_state_costs_one_row_and_no_plan() -> None:
    rows = ",".join(f'{{"step": {step}, "reward": {step / 9}}}' for step in range(1, 10))
    whole = f'{{"max_steps": 20, "log_history": [{rows}], "global_step": 9}}'
    run = read_stream(
        whole.replace('"reward": 0.4444', '"rew\x00\x00": 0.4444').replace('"step": 4', '"step": ?').encode()
    )
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.steps.tolist() == [1, 2, 3, 5, 6, 7, 8, 9]
    assert run.config.planned_steps == 20


def test_nested_values_are_flattened_and_words_are_listed_unread(verl: Callable[..., Path]) -> None:
    run = open_run(verl([(1, {"critic": {"score": {"mean": 0.5}}, "note": "hello", "speed": 3, "list": [1]})]))
    assert [one.name for one in run.series] == ["reward/mean"]
    assert run.unread_keys == ("list", "note", "speed")


def test_eval_rows_and_eval_values_inside_train_rows_are_one_series(trl: Callable[..., Path]) -> None:
    rows = [(1, {"reward": 0.1, "eval_reward": 0.2}), (2, {"reward": 0.1}), (2, {"eval_reward": 0.3})]
    run = open_run(trl(rows))
    held_out = run.get("eval/reward/mean")
    assert held_out is not None
    assert held_out.values.tolist() == [0.2, 0.3]
    assert run.events == ()  # a second row of one step is how the Trainer writes an evaluation


def test_steps_that_go_back_are_a_resume(verl: Callable[..., Path]) -> None:
    steps = [1, 2, 3, 4, 3, 4, 5]
    run = open_run(verl([(step, {"critic/score/mean": row / 10}) for row, step in enumerate(steps)]))
    assert [(event.kind, event.step) for event in run.events] == [("resume", 3)]
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.values.tolist() == [0.0, 0.1, 0.4, 0.5, 0.6]


def test_a_line_written_twice_is_no_resume_but_a_step_trained_anew_is(verl: Callable[..., Path]) -> None:
    once, other = {"critic/score/mean": 0.5}, {"critic/score/mean": 0.6}
    assert open_run(verl([(1, once), (1, once), (2, once)])).events == ()
    assert [event.step for event in open_run(verl([(1, once), (1, other)])).events] == [1]


def test_lines_of_garbage_are_counted(tmp_path: Path) -> None:
    good = verl_bytes([(1, {"critic/score/mean": 0.1})])
    (tmp_path / "metrics.jsonl").write_bytes(
        good + b"garbage\n[]\n" + good.replace(b"1,", b"2,", 1) + b'{"step": 3, "da'
    )
    run = open_run(tmp_path)
    assert [event.kind for event in run.events] == ["unreadable", "unreadable", "torn"]
    assert run.last_step == 2


def test_the_plan_comes_from_max_steps_or_the_settings(trl: Callable[..., Path]) -> None:
    file = trl(ROWS, max_steps=50)
    assert open_run(file).config.planned_steps == 50
    assert open_run(trl(ROWS, max_steps=-1)).config.planned_steps is None
    (file.parent / "config.json").write_text('{"algo": "rloo", "steps": 70, "beta": 0.1}')
    run = open_run(file)
    assert (run.config.planned_steps, run.config.kl_coefficient, run.framework) == (70, 0.1, "trl-rloo")


def test_a_model_config_is_not_taken_for_settings(trl: Callable[..., Path]) -> None:
    file = trl(ROWS)
    (file.parent / "config.json").write_text('{"model_type": "qwen2", "steps": 3, "lr": 1}')
    config = open_run(file).config
    assert (config.planned_steps, config.learning_rate) == (1000, None)


def test_what_came_later_is_not_in_the_settings(trl: Callable[..., Path]) -> None:
    run = open_run(trl(ROWS, best_metric=0.5, best_global_step=4, epoch=1.0, logging_steps=1))
    assert set(run.config.raw) == {"max_steps", "logging_steps"}


def test_several_logs_in_one_folder_are_not_guessed_at(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(verl_bytes([(1, {"critic/score/mean": 0.1})]))
    with pytest.raises(NotOneRun, match=r"a\.jsonl \(steps 1–1\), b\.jsonl"):
        open_run(tmp_path)


def test_a_log_without_a_row_says_so(trl: Callable[..., Path]) -> None:
    with pytest.raises(NothingReadable, match="no training steps in"):
        open_run(trl([]))


OPENED: list[str] = []
sys.addaudithook(lambda event, facts: OPENED.append(str(facts[0])) if event == "open" else None)


def test_a_document_beside_a_log_that_does_not_call_itself_one_is_never_opened(trl: Callable[..., Path]) -> None:
    file = trl(ROWS)
    for name in ("outcome.json", "history.json"):
        (file.parent / name).write_text(json.dumps([{"step": step, "reward": 9.0} for step in range(1, 99)]))
    OPENED.clear()
    list(open_runs(file.parent))
    assert any(path.endswith("history.json") for path in OPENED)
    assert not any(path.endswith("outcome.json") for path in OPENED)


def test_a_document_alone_is_read_whatever_its_name(tmp_path: Path) -> None:
    rows = [{"step": step, "reward": 9.0} for step in range(1, 99)]
    (tmp_path / "outcome.json").write_text(json.dumps(rows))
    assert open_run(tmp_path).last_step == 98


def test_one_document_may_hold_several_runs_under_names(tmp_path: Path) -> None:
    def rows(scale: float) -> list[dict[str, float]]:
        return [{"step": step, "train_reward": scale * (step % 7)} for step in range(1, 40)]

    file = tmp_path / "runs.json"
    file.write_text(json.dumps({"first": {"n": 3, "merged": rows(1)}, "second": {"n": 4, "merged": rows(2)}}))
    with pytest.raises(NotOneRun, match=r"runs.json#first .steps 1–39., runs.json#second"):
        open_run(tmp_path)
    reward = open_run(f"{file}#second").get("reward/mean")
    assert reward is not None
    assert reward.values[0] == 2.0


def test_a_document_may_hold_its_evaluations_beside_its_training(tmp_path: Path) -> None:
    trained = [{"step": step, "reward": step / 40, "loss": 0.1} for step in range(1, 40)]
    evaluated = [{"step": step, "accuracy": step / 80, "reward": step / 50} for step in (10, 20, 30)]
    (tmp_path / "history.json").write_text(json.dumps({"train": trained, "eval": evaluated}))
    run = open_run(tmp_path)
    points = {one.name: one.points for one in run.series}
    assert points["reward/mean"] == 39
    assert points["eval/reward/mean"] == points["eval/acc/mean"] == 3
