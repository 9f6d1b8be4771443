"""Scores that say how good the policy is, found by their role and whatever they are called."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from leadline.run import Run
from leadline.sources import open_run

STEPS = range(10, 210, 10)


def opened(folder: Path, rows: Sequence[Mapping[str, object]], name: str = "metrics.jsonl") -> Run:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return open_run(folder)


def points(run: Run, name: str) -> dict[int, float]:
    series = run.get(name)
    return {} if series is None else dict(zip(series.steps.tolist(), series.values.tolist(), strict=True))


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("eval_em", "eval/em/mean"),
        ("eval_contains_em", "eval/contains/em/mean"),
        ("val/exact_match", "eval/em/mean"),
        ("eval_f1", "eval/f1/mean"),
        ("heldout_accuracy", "eval/acc/mean"),
        ("gold", "eval/gold/reward/mean"),
        ("gold_reward_mean", "eval/gold/reward/mean"),
        ("eval/win_rate", "eval/acc/mean"),
    ],
)
def test_a_held_out_score_is_known_by_its_words(tmp_path: Path, key: str, name: str) -> None:
    rows = [{"step": step, "reward_mean": step / 100, key: 1 - step / 400} for step in STEPS]
    assert points(opened(tmp_path, rows), name)[100] == 0.75


def test_a_proxy_beside_gold_is_the_trained_reward(tmp_path: Path) -> None:
    run = opened(tmp_path, [{"step": step, "proxy": step / 100, "gold": 0.5, "kl": 0.1} for step in STEPS])
    assert points(run, "reward/mean")[100] == 1.0
    assert points(run, "eval/gold/reward/mean")[100] == 0.5


def test_an_accuracy_in_every_row_is_of_the_training_samples(tmp_path: Path) -> None:
    rows = [{"step": step, "mean_reward": step / 100, "accuracy": 0.5, "heldout_loss": 0.1} for step in STEPS]
    run = opened(tmp_path, rows)
    assert len(points(run, "reward/accuracy")) == len(STEPS)
    assert run.get("eval/acc/mean") is None


def test_a_framework_that_is_known_may_log_an_accuracy_of_its_own(tmp_path: Path) -> None:
    rows = [
        {"step": step, "critic/score/mean": 0.5, "actor/pg_loss": 0.1, "rollout/accuracy": 0.25, "eval_em": 0.125}
        for step in STEPS
    ]
    run = opened(tmp_path, rows)
    assert run.framework == "verl"
    assert points(run, "reward/accuracy")[10] == 0.25
    assert points(run, "eval/em/mean")[10] == 0.125


def test_a_framework_that_is_known_may_log_an_entropy_of_its_own(tmp_path: Path) -> None:
    known = {"train/rollout/reward_mean": 0.5, "train/rollout/reward_std": 0.25, "train/policy_loss": 0.1}
    run = opened(tmp_path, [{"step": step, **known, "entropy": 2.5} for step in STEPS])
    assert run.framework == "openrlhf"
    assert points(run, "entropy")[10] == 2.5


@pytest.mark.parametrize(
    ("key", "logged", "name", "value"),
    [
        ("rollout/tool_error_ratio", 1.0, "tools/failure_frac", 1.0),
        ("tool_calls/failed_ratio", 0.5, "tools/failure_frac", 0.5),
        ("tool_errors", 0.25, "tools/failure_frac", 0.25),
        ("tool_errors", 2.5, "tools/failures_per_sample", 2.5),
        ("rollout/tool_success_rate", 0.75, "tools/failure_frac", 0.25),
        ("tool_call_success", 1.0, "tools/failure_frac", 0.0),
        ("num_tool_calls/mean", 2.5, "tools/calls_per_sample", 2.5),
    ],
)
def test_failing_tools_have_one_name(tmp_path: Path, key: str, logged: float, name: str, value: float) -> None:
    rows = [{"step": step, "critic/score/mean": 0.5, "actor/pg_loss": 0.1, key: logged} for step in STEPS]
    assert points(opened(tmp_path, rows), name)[10] == value


def test_the_time_that_tools_took_is_no_failure(tmp_path: Path) -> None:
    keys = ("timing_s/tool_calls/max", "tool_error_latency_s", "eval_tool_errors", "tool_success_avg")
    run = opened(tmp_path, [{"step": step, "reward": 0.5} | dict.fromkeys(keys, 0.5) for step in STEPS])
    assert not [series.name for series in run.series if series.name.startswith("tools/")]


def test_validation_of_verl_beyond_the_core_is_held_out(tmp_path: Path) -> None:
    key = "val-aux/math/reward/mean@8"
    rows = [{"step": step, "critic/score/mean": 0.5, "actor/pg_loss": 0.1, key: 0.25} for step in STEPS]
    assert points(opened(tmp_path, rows), "eval/math/reward/mean@8")[10] == 0.25


def test_two_keys_with_the_same_numbers_are_one_reward(tmp_path: Path) -> None:
    rows = [{"step": step, "mean_reward": step / 7, "reward_mean": round(step / 7, 7), "loss": 0.1} for step in STEPS]
    assert points(opened(tmp_path, rows), "reward/mean")[70] == 10.0


@pytest.mark.parametrize("file", ["eval/step_100/eval_metrics.json", "evals/results_step100.json"])
def test_evaluations_beside_a_log_are_series_of_the_run(tmp_path: Path, file: str) -> None:
    for step, accuracy in ((100, 0.25), (200, 0.5)):
        place = tmp_path / file.replace("100", str(step))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(
            json.dumps({"accuracy": accuracy, "num_samples": 50, "model": "x", "gsm8k": {"pass@1": 0.125}})
        )
    run = opened(tmp_path, [{"step": step, "mean_reward": 0.5, "accuracy": 0.75} for step in STEPS])
    assert points(run, "eval/acc/mean") == {100: 0.25, 200: 0.5}
    assert points(run, "eval/gsm8k/acc/mean") == {100: 0.125, 200: 0.125}
    assert points(run, "reward/accuracy")[100] == 0.75
    assert any("eval_metrics" in note or "results_step" in note for note in run.notes)


@pytest.mark.parametrize(
    "file",
    ["eval/step_{step}/{name}_metrics.json", "eval/step_{step}/{name}.json", "evals/{name}-results-step{step}.json"],
)
def test_evaluations_of_one_step_in_several_files_are_several_series(tmp_path: Path, file: str) -> None:
    scores = {"gsm8k": (0.25, 0.5), "aime24": (0.125, 0.0)}
    for name, values in scores.items():
        for step, accuracy in zip((100, 200), values, strict=True):
            place = tmp_path / file.format(step=step, name=name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps({"accuracy": accuracy, f"{name}_problems": 30}))
    run = opened(tmp_path, [{"step": step, "mean_reward": 0.5} for step in STEPS])
    assert points(run, "eval/gsm8k/acc/mean") == {100: 0.25, 200: 0.5}
    assert points(run, "eval/aime24/acc/mean") == {100: 0.125, 200: 0.0}
    assert "eval/gsm8k_problems" in {series.key for series in (*run.series, *run.unread)}


def test_an_evaluation_that_the_log_holds_stands_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "eval_step_100.json").write_text(json.dumps({"accuracy": 0.25}))
    run = opened(tmp_path, [{"step": step, "mean_reward": 0.5, "eval_accuracy": 0.75} for step in STEPS])
    assert set(points(run, "eval/acc/mean").values()) == {0.75}


def test_a_run_that_is_called_a_test_is_no_evaluation(tmp_path: Path) -> None:
    place = tmp_path / "test_of_a_reward" / "checkpoint-20" / "trainer_state.json"
    place.parent.mkdir(parents=True)
    rows = [{"step": step, "reward": 0.5, "loss": 0.1} for step in range(1, 21)]
    place.write_text(json.dumps({"log_history": rows, "global_step": 20}))
    assert open_run(tmp_path / "test_of_a_reward").last_step == 20
