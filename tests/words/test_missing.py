"""What could not be seen, and the setting that would show it, by framework."""

from __future__ import annotations

import math

import pytest

from leadline.facts.finding import side_by_side
from leadline.facts.sections import Missing, hidden
from leadline.findings.reward_gamed import Gamed
from leadline.run import Rollout


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
    assert setting in hidden((Missing("telemetry", framework), lacking))
    assert setting in lacking.why


def test_only_the_first_gap_says_what_it_hides() -> None:
    said = hidden((Missing("telemetry", "verl"), Missing("checkpoints", "verl"), Missing("held-out reward", "verl")))
    assert said == "held-out eval (hacking on train prompts would look like progress), checkpoints, telemetry"


def test_an_early_and_a_late_answer_stand_side_by_side() -> None:
    old, new = Rollout(1, "anna met boris =", "anna boris .", 0.5), Rollout(80, "x" * 99, "", math.nan)
    then, now = side_by_side(Gamed(False, (), 1, 1, 1, old, new))
    assert then == ("then", "step 1, scored 0.5: anna met boris = → anna boris .")
    assert now == ("now", f"step 80: …{'x' * 60} → (nothing)")
    assert side_by_side(Gamed(False, (), 1, 1, 1)) == []
