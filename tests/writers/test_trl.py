"""TRL's own trainers, on every carrier they write, compared with `trainer.state.log_history`."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from writers.held import Held, differences, four_digits, held_in, read_as, rename, single
from writers.launch import run_program

from leadline.cli import main
from leadline.run import Run
from leadline.sources import open_run

STEPS = 20
# Known only when training is over: the Trainer prints and tracks this row after the last checkpoint was saved.
CLOSING = {"train_runtime", "train_samples_per_second", "train_steps_per_second", "total_flos", "train_loss"}


def tracker_name(key: str) -> str:
    """As transformers renames a metric for its trackers."""
    return f"eval/{key.removeprefix('eval_')}" if key.startswith("eval_") else f"train/{key}"


def held(out: Path) -> Held:
    return held_in(out / "held.json")


def reward_of(run: Run) -> dict[int, float]:
    reward = run.get("reward/mean")
    assert reward is not None
    return dict(zip(reward.steps.tolist(), reward.values.tolist(), strict=True))


def test_the_trainer_really_trained(grpo: Path) -> None:
    rows = held(grpo)
    assert sorted(rows["reward"]) == list(range(1, STEPS + 1))
    assert sorted(rows["eval_reward"]) == [10, 20]
    assert len(set(rows["reward"].values())) > STEPS / 2
    assert all(math.isfinite(value) for value in rows["kl"].values())


@pytest.mark.parametrize("place", ["run", "run/checkpoint-20", "run/checkpoint-20/trainer_state.json"])
def test_trainer_state_holds_every_value(grpo: Path, place: str) -> None:
    run = open_run(grpo / place)
    assert differences(read_as(run), held(grpo), without=CLOSING) == []
    assert run.framework == "trl-grpo"
    assert run.config.planned_steps == STEPS
    assert {event.kind for event in run.events} <= {"lr_schedule"}


def test_what_the_numbers_are_is_known(grpo: Path) -> None:
    run = open_run(grpo / "run")
    names = {series.key: series.name for series in run.series}
    assert names["reward"] == "reward/mean"
    assert names["eval_reward"] == "eval/reward/mean"
    assert names["kl"] == "kl/ref"
    assert names["rewards/even_words/mean"] == "reward/component/even_words/mean"
    kl = run.get("kl/ref")
    assert kl is not None
    assert "k3" in kl.kind


def test_an_earlier_checkpoint_knows_only_its_own_steps(grpo: Path) -> None:
    expected = {
        key: {step: value for step, value in points.items() if step <= 10}
        for key, points in held(grpo).items()
        if key not in CLOSING and not key.startswith("eval_")
    }
    assert differences(read_as(open_run(grpo / "run" / "checkpoint-10")), expected) == []


def test_checkpoints_are_found_and_complete(grpo: Path) -> None:
    found = [(one.step, one.complete) for one in open_run(grpo / "run").checkpoints]
    assert found == [(10, True), (20, True)]


@pytest.mark.parametrize("lost", ["trainer_state.json", "model.safetensors"])
def test_a_checkpoint_without_its_last_file_is_partial(grpo: Path, lost: str, tmp_path: Path) -> None:
    shutil.copytree(grpo / "run", tmp_path / "run")
    (tmp_path / "run" / "checkpoint-20" / lost).unlink()
    found = {one.step: one.complete for one in open_run(tmp_path / "run").checkpoints}
    assert found == {10: True, 20: False}


def test_completions_hold_the_samples_behind_the_reward(grpo: Path) -> None:
    rollouts = open_run(grpo / "run").rollouts
    assert rollouts.steps == tuple(range(1, STEPS + 1))
    rewards = held(grpo)["reward"]
    for step in set(rollouts.steps) - {10, 20}:  # where an evaluation follows, TRL writes its samples over these
        samples = rollouts.at(step)
        assert len(samples) == 4
        assert len({sample.prompt for sample in samples}) == 1
        assert all(set(sample.output.split()) <= {f"w{number}" for number in range(40)} for sample in samples)
        assert sum(sample.score for sample in samples) / 4 == pytest.approx(rewards[step], abs=1e-6)


def test_the_console_holds_every_value_with_the_digits_printed(grpo: Path) -> None:
    run = open_run(grpo / "console.log")
    assert differences(read_as(run), held(grpo), kept=four_digits, without=CLOSING) == []
    assert run.framework == "trl"  # what GRPO prints, RLOO prints too


def test_tensorboard_holds_every_value(grpo: Path) -> None:
    run = open_run(grpo / "tensorboard")
    assert (
        differences(read_as(run), rename(held(grpo), tracker_name), kept=single, without=map(tracker_name, CLOSING))
        == []
    )
    assert run.framework == "trl-grpo"
    assert reward_of(run).keys() == set(range(1, STEPS + 1))


@pytest.mark.parametrize("tracker", ["wandb", "mlflow.db", "trackio"])
def test_trackers_hold_every_value(grpo: Path, tracker: str) -> None:
    run = open_run(grpo / tracker)
    read = read_as(run)
    expected = held(grpo)
    if "train/reward" in read:
        expected = rename(expected, tracker_name)
    assert differences(read, expected, without={*CLOSING, *map(tracker_name, CLOSING)}) == []
    assert run.framework == "trl-grpo"
    assert reward_of(run) == held(grpo)["reward"]


def test_settings_come_from_a_tracker(grpo: Path) -> None:
    config = open_run(grpo / "wandb").config
    assert (config.planned_steps, config.kl_coefficient, config.group_size) == (STEPS, 0.05, 4)
    assert (config.length_cap, config.learning_rate) == (8, 1e-3)


def test_exact_values_win_over_printed_ones_where_both_lie_in_a_folder(grpo: Path, tmp_path: Path) -> None:
    shutil.copytree(grpo / "run", tmp_path / "out")
    shutil.copy(grpo / "console.log", tmp_path / "out" / "train.log")
    assert reward_of(open_run(tmp_path / "out")) == held(grpo)["reward"]


def test_without_a_reference_there_is_no_kl_and_none_is_made_up(trained: Callable[..., Path]) -> None:
    out = trained("grpo", "--beta", "0", "--steps", "6")
    assert "kl" not in held(out)
    for place in ("run", "console.log"):
        run = open_run(out / place)
        assert run.get("kl/ref") is None
        assert run.get("reward/mean") is not None


def test_rloo_is_read_like_it_was_held(trained: Callable[..., Path]) -> None:
    out = trained("rloo", "--steps", "6")
    run = open_run(out / "run")
    assert differences(read_as(run), held(out), without=CLOSING) == []
    printed = open_run(out / "console.log")
    assert differences(read_as(printed), held(out), kept=four_digits, without=CLOSING) == []
    assert (run.framework, printed.framework) == ("trl-rloo", "trl")  # a console does not tell it from GRPO
    estimators = [one.kind for one in (run.get("kl/ref"), printed.get("kl/ref")) if one is not None]
    assert ["k1" in kind for kind in estimators] == [True, False]
    assert not any("k3" in kind for kind in estimators)


def test_rloo_in_a_tracker_is_known_by_its_settings(trained: Callable[..., Path]) -> None:
    out = trained("rloo", "--steps", "6", "--report", "tensorboard")
    (events,) = {file.parent for file in out.rglob("*tfevents*")}
    run = open_run(events)
    assert run.framework == "trl-rloo"
    assert run.config.algorithm == "rloo"


@pytest.mark.parametrize(("trainer", "word"), [("sft", "supervised"), ("dpo", "DPO")])
@pytest.mark.parametrize("place", ["run", "run/checkpoint-6/trainer_state.json", "console.log"])
def test_what_is_no_rl_run_is_called_what_it_is(
    trainer: str, word: str, place: str, trained: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = trained(trainer, "--steps", "6") / place
    assert main(["read", str(path)]) == 3
    out = capsys.readouterr()
    assert out.out == ""
    assert word.lower() in out.err.splitlines()[0].replace(str(path), "").lower()
    assert "Traceback" not in out.err


@pytest.fixture(scope="session")
def resumed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that lost its last steps and was started again from checkpoint-3 of 6; both consoles in one file."""
    out = tmp_path_factory.mktemp("resumed")
    words = ("train_trl", out, "grpo", "--steps", "6", "--report", "tensorboard")
    more = {"TENSORBOARD_LOGGING_DIR": str(out / "tensorboard")}
    first = run_program(*words, **more)
    (out / "held.json").rename(out / "first.json")
    shutil.rmtree(out / "run" / "checkpoint-6")
    (out / "console.log").write_text(first + run_program(*words, "--resume", **more))
    return out


@pytest.mark.parametrize(("place", "kept"), [("run", float), ("console.log", four_digits), ("tensorboard", single)])
def test_after_a_resume_the_later_attempt_stands(resumed: Path, place: str, kept: Callable[[float], float]) -> None:
    run = open_run(resumed / place)
    first, second = held_in(resumed / "first.json"), held_in(resumed / "held.json")
    assert sorted(second["reward"]) == [1, 2, 3, 4, 5, 6]
    rewards = reward_of(run)
    assert {step: kept(value) for step, value in second["reward"].items()} == rewards
    assert first["step_time"] != second["step_time"]
    if place != "run":  # trainer_state.json is cut back on a resume and holds no trace of it
        assert [event.step for event in run.events if event.kind == "resume"] == [4]
