"""What is printed about going on: each verdict from its facts."""

from __future__ import annotations

import pytest

from leadline.facts.judgement import BestCheckpoint, Horizon, Judgement, Reason, Risk, Upside
from leadline.facts.reward import TurningPoint
from leadline.words.verdict import CALLED, judgement_lines

HALF_WAY = Horizon(1, 0.3, 1000, True)
AFTER_THE_PLAN = Horizon(1, 1.0, 2000, False)

SAID: list[tuple[str, Judgement, str]] = [
    (
        "continue",
        Judgement(
            "continue",
            Reason("rising", start=0.2, level=0.48),
            0.83,
            Upside(0.1, 0.02, 0.19, 0.02),
            Risk(0.04, 0.01),
            HALF_WAY,
            best_checkpoint=BestCheckpoint(290, 0.6, "checkpoints/global_step_290", True),
        ),
        "Continue. Reward is rising: 0.2 at the start, 0.48 now. The remaining 70 % of the plan (to step "
        "1000): 83 % chance of at least +0.02, 4 % of ending clearly lower. Best so far: "
        "checkpoints/global_step_290 (step 290, complete).",
    ),
    (
        "stop",
        Judgement(
            "stop",
            Reason("flat", since_step=140, level=0.61),
            0.06,
            Upside(0.01, 0.0, 0.02, 0.02),
            Risk(0.09, 0.01),
            HALF_WAY,
            best_checkpoint=BestCheckpoint(280, 0.4, "checkpoints/global_step_280", True, (240,)),
        ),
        "Stop. Reward has been flat at 0.61 since about step 140. The remaining 70 % of the plan (to step"
        " 1000): 6 % chance of at least +0.02, 9 % of ending clearly lower. Keep: "
        "checkpoints/global_step_280 (step 280, complete); evaluate 240 too.",
    ),
    (
        "roll_back",
        Judgement(
            "roll_back",
            Reason("gamed", p=0.96, since_step=180, level=0.9),
            0.01,
            Upside(0.0, 0.0, 0.0, 0.03),
            Risk(0.97, 0.2),
            HALF_WAY,
            best_checkpoint=BestCheckpoint(160, 0.7, "checkpoints/global_step_160", True),
        ),
        "Roll back. Reward no longer measures what the policy is worth since about step 180 (p=.96). 1 % "
        "chance that going on pays. Keep: checkpoints/global_step_160 (step 160, complete).",
    ),
    (
        "undecided",
        Judgement("undecided", Reason("too_few", points=4, more_points=2, key="reward")),
        "Undecided. 4 points of reward so far; 2 more are needed before anything can be said.",
    ),
    (
        "continue",
        Judgement(
            "continue",
            Reason("rising", p=0.99, clear=True, start=0.2, level=0.6),
            0.02,
            nearly_through=True,
        ),
        "Continue to the end of the plan. Reward is rising: 0.2 at the start, 0.6 now; ending it now would save next to"
        " nothing.",
    ),
    (
        "continue",
        Judgement(
            "continue",
            Reason("rising", p=0.99, clear=True, start=0.589, turn=TurningPoint(0.037, 77), level=0.34),
            0.39,
        ),
        "Continue. Reward is rising: 0.037 at step 77, 0.34 now (0.589 at the start).",
    ),
    (
        "continue",
        Judgement("continue", Reason("rising", p=0.7, clear=False, start=0.6, turn=TurningPoint(0.2, None), level=0.5)),
        "Continue. Reward is probably rising: 0.2 at its lowest, 0.5 now (0.6 at the start).",
    ),
    (
        "roll_back",
        Judgement("roll_back", Reason("fallen", p=0.97, high=0.95, turn=TurningPoint(0.037, 77), level=0.34)),
        "Roll back. Reward has fallen from 0.95 to 0.34 and rises again from 0.037 at step 77 (p=.97).",
    ),
    (
        "undecided",
        Judgement("undecided", Reason("flat", p=0.95, clear=True, level=0.6), 0.12, leans_to_stop=True),
        "Undecided, leaning to stop. Reward is flat at 0.6.",
    ),
    (
        "finished",
        Judgement(
            "finished",
            Reason("ceiling", level=0.991, high=1.0),
            0.01,
            Upside(0.0, 0.0, 0.01, 0.02),
            Risk(0.01, 0.0),
            AFTER_THE_PLAN,
            "plan",
            BestCheckpoint(1000, 0.5, "checkpoints/global_step_1000", True),
        ),
        "Finished: the planned steps are done. Reward is at its ceiling: 0.991 of 1. Extending it to step"
        " 2000: 1 % chance of at least +0.02, 1 % of ending clearly lower. Keep: "
        "checkpoints/global_step_1000 (step 1000, complete).",
    ),
]


@pytest.mark.parametrize(("verdict", "judgement", "said"), SAID)
def test_a_verdict_is_said_from_its_facts(verdict: str, judgement: Judgement, said: str) -> None:
    assert judgement.verdict == verdict
    assert judgement_lines(judgement).text == said


def test_every_verdict_has_an_example() -> None:
    assert set(CALLED) == {verdict for verdict, _, _ in SAID}
