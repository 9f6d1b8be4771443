"""Scores beside the trained reward: which are another measure, on how many problems, which are of the same samples."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from leadline.reading.scores import grain, independent, missing, problems, second_scores
from leadline.reading.view import View
from leadline.sources import open_run

STEPS = range(10, 410, 10)
UP: Callable[[int], float] = lambda step: step / 500  # noqa: E731
DOWN: Callable[[int], float] = lambda step: 0.9 - step / 500 + (step % 30) / 1000  # noqa: E731


def view_of(folder: Path, keys: Mapping[str, Callable[[int], float]], every: int = 1) -> View:
    rows = [{"step": step, "reward_mean": UP(step)} for step in STEPS]
    for row in rows[::every]:
        row |= {key: value(int(row["step"])) for key, value in keys.items()}
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return View(open_run(folder))


@pytest.mark.parametrize(
    ("keys", "name", "expected"),
    [
        ({"eval_reward": DOWN}, "eval/reward/mean", False),
        ({"eval_em": DOWN}, "eval/em/mean", True),
        ({"eval_accuracy": UP}, "eval/acc/mean", False),
        ({"gold_reward": UP}, "eval/gold/reward/mean", True),
        ({"eval_reward": DOWN, "eval_accuracy": lambda step: (DOWN(step) + 1) / 2}, "eval/acc/mean", False),
        ({"eval_accuracy": DOWN}, "eval/none", False),
    ],
    ids=[
        "the reward by name",
        "exact match",
        "the reward by value",
        "gold",
        "the reward in another unit",
        "not logged",
    ],
)
def test_a_held_out_score_is_independent_unless_it_is_the_trained_reward(
    tmp_path: Path, keys: Mapping[str, Callable[[int], float]], name: str, expected: bool
) -> None:
    run = view_of(tmp_path, keys, every=4).run
    assert independent(run, name) is expected


@pytest.mark.parametrize(
    ("keys", "lacks"),
    [
        ({"eval_reward": UP}, True),
        ({"eval_accuracy": UP}, True),  # the reward by value
        ({"eval_reward": DOWN}, True),  # the reward by name
        ({"eval_reward": UP, "eval_em": DOWN}, False),
        ({"eval_em": DOWN}, False),
        ({"eval_loss": DOWN}, False),
        ({}, False),
    ],
)
def test_an_independent_score_is_missed_where_every_held_out_one_is_the_reward(
    tmp_path: Path, keys: Mapping[str, Callable[[int], float]], lacks: bool
) -> None:
    found = [one.what for one in missing(view_of(tmp_path, keys, every=4).run, None)]
    assert ("independent score" in found) is lacks


def test_the_log_says_on_how_many_problems(tmp_path: Path) -> None:
    view = view_of(tmp_path, {"eval_accuracy": DOWN, "eval/n_problems": lambda step: 50}, every=4)
    assert problems(view, "eval/acc/mean") == 50


@pytest.mark.parametrize("unit", [1, 100])
def test_few_problems_tell_no_small_difference(unit: int, tmp_path: Path) -> None:
    view = view_of(
        tmp_path, {"eval_accuracy": lambda step: unit * (24 + step % 3) / 50, "eval/n_problems": lambda step: 50}
    )
    series = view.run.get("eval/acc/mean")
    assert series is not None
    assert grain(view, series) == pytest.approx(unit * (0.5 * 0.5 / 50) ** 0.5, rel=0.01)


@pytest.mark.parametrize("keys", [{}, {"eval/n_problems": lambda step: 50.0}])
def test_without_their_number_or_a_unit_nothing_is_known_about_luck(
    keys: dict[str, Callable[[int], float]], tmp_path: Path
) -> None:
    view = view_of(tmp_path, {"eval_accuracy": lambda step: 3 + step / 70, **keys})
    series = view.run.get("eval/acc/mean")
    assert series is not None
    assert grain(view, series) == 0.0


def test_where_nothing_says_how_many_it_is_unknown(tmp_path: Path) -> None:
    assert problems(view_of(tmp_path, {"eval_accuracy": DOWN}), "eval/acc/mean") is None


def test_an_accuracy_of_the_training_samples_is_a_second_score(tmp_path: Path) -> None:
    assert second_scores(view_of(tmp_path, {"accuracy": DOWN})) == ("reward/accuracy",)


def test_a_component_for_right_answers_is_a_second_score(tmp_path: Path) -> None:
    view = view_of(tmp_path, {"rewards/correctness": DOWN, "rewards/format": UP})
    assert second_scores(view) == ("reward/component/correct/mean",)


def test_the_reward_in_another_unit_is_no_second_score(tmp_path: Path) -> None:
    assert second_scores(view_of(tmp_path, {"accuracy": lambda step: (UP(step) + 1) / 2})) == ()
