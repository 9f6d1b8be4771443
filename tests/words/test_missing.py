"""What could not be seen, and the setting that would show it, by framework."""

from __future__ import annotations

import math

import pytest

from leadline.facts.missing import Missing
from leadline.findings.reward_gamed import Gamed, side_by_side
from leadline.run import Rollout
from leadline.words.missing import blind, why


@pytest.mark.parametrize(
    ("framework", "setting"),
    [
        ("trl-grpo", "log_completions=True"),
        ("trl", "log_completions=True"),
        ("verl", "trainer.rollout_data_dir=DIR"),
        ("nemo-rl", "train_data_step*.jsonl"),
        ("openrlhf", "rollouts/STEP.jsonl"),
        (None, "rollouts/STEP.jsonl"),
    ],
)
def test_a_run_without_samples_is_told_how_to_keep_them(framework: str | None, setting: str) -> None:
    lacking = Missing("rollouts", framework)
    assert setting in blind((Missing("telemetry", framework), lacking))
    assert setting in why(lacking)


def test_a_run_with_samples_is_not_called_blind() -> None:
    assert blind((Missing("telemetry", "verl"),)) == ""


def test_an_early_and_a_late_answer_stand_side_by_side() -> None:
    old, new = Rollout(1, "anna met boris =", "anna boris .", 0.5), Rollout(80, "x" * 99, "", math.nan)
    then, now = side_by_side(Gamed(False, (), 1, 1, 1, old, new))
    assert then == ("then", "step 1, scored 0.5: anna met boris = → anna boris .")
    assert now == ("now", f"step 80: …{'x' * 60} → (nothing)")
    assert side_by_side(Gamed(False, (), 1, 1, 1)) == []
