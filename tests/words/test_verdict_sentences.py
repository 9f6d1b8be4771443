"""What is printed about going on: each verdict from its facts."""

from __future__ import annotations

from typing import get_args

import pytest

from leadline.facts.judgement import (
    REVIEW,
    Advice,
    BestCheckpoint,
    Condition,
    Horizon,
    Judgement,
    Reason,
    ReasonKind,
    Risk,
    Upside,
    Verdict,
)
from leadline.facts.sections import TurningPoint
from leadline.words.verdict import WIDEST, headline, judgement_lines, keep_says

HALF_WAY = Horizon(1, 0.3, 1000, True)
TO_READ = Advice("responses", "review", f"they changed: {REVIEW}", "generation.changed")
AFTER_THE_PLAN = Horizon(1, 1.0, 2000, False)

SAID: list[tuple[str, Judgement, str]] = [
    (
        "stop",
        Judgement(
            "stop",
            Reason("no_trend", p=0.95, level=0.468),
            0.004,
            best_checkpoint=BestCheckpoint(170, 0.4, None, None),
        ),
        "STOP, no step stands out · reward flat at 0.468 since the start · <1% chance of gain if continued. Keep: Any "
        "checkpoint: none is clearly better than the others.",
    ),
    (
        "stop",
        Judgement("stop", Reason("flat", p=0.4, clear=False, start=1.09, level=1.92), 0.06),
        "STOP · reward 1.09 → 1.92, trend unclear · 6% chance of gain if continued.",
    ),
    (
        "continue",
        Judgement("continue", Reason("rising", start=0.2, level=0.6), 0.9, advice=(TO_READ,)),
        "CONTINUE, review responses · reward rising, 0.200 → 0.600 · 90% chance of gain. Next: Review the "
        "responses (they changed): leadline review PATH.",
    ),
    (
        "roll_back",
        Judgement(
            "roll_back",
            Reason("gamed", p=0.999, since_step=3, level=2.9, findings=("reward.gamed",)),
            0.001,
            horizon=HALF_WAY,
            best_checkpoint=BestCheckpoint(1, 0.8, None, None),
        ),
        "RESTART · reward hacking since step ~3 · >99% sure of hacking. Outlook: Continuing to step 1000: 1000 more "
        "steps, <1% chance to help. Keep: None: no later step is better than the start.",
    ),
    (
        "roll_back",
        Judgement(
            "roll_back",
            Reason("fallen", p=0.89, since_step=44, high=0.714, level=0.554),
            0.07,
            best_checkpoint=BestCheckpoint(21, 0.8, None, None),
        ),
        "ROLL BACK to step 21 · reward dropped 0.714 → 0.554 since step ~44 · 89% sure it dropped. Keep: Step 21. No "
        "checkpoint found on disk: use the nearest one.",
    ),
    (
        "undecided",
        Judgement(
            "undecided",
            Reason("flat", p=0.9, level=0.54),
            0.19,
            horizon=HALF_WAY,
            would_change=(
                Condition("rise", "continue", "reward/mean", 0.7, 1000),
                Condition("no_rise", "stop", "reward/mean", 0.7, 1000),
            ),
            next_look_step=400,
        ),
        "UNDECIDED, check at step 400 · reward flat at 0.540 · 19% chance of gain if continued. Outlook: Continuing to "
        "step 1000: 1000 more steps. Decides: Worth continuing only if reward passes 0.700 by step 1000.",
    ),
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
        "CONTINUE · reward rising, 0.200 → 0.480 · 83% chance of +0.020. Outlook: Continuing to step 1000: "
        "1000 more steps, 4% risk of regression. Best: checkpoints/global_step_290 (step 290 so far).",
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
        "STOP, keep step 280 · reward flat at 0.610 since step ~140 · 6% chance of +0.020 if continued. "
        "Outlook: Continuing to step 1000: 1000 more steps, 9% risk of regression. Keep: "
        "checkpoints/global_step_280 (step 280). Near-tie: 240.",
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
        "ROLL BACK to step 160 · training reward up, eval down since step ~180 · 96% sure it overfits. "
        "Outlook: Continuing to step 1000: 1000 more steps, 1% chance to help. Keep: "
        "checkpoints/global_step_160 (step 160).",
    ),
    (
        "undecided",
        Judgement("undecided", Reason("too_few", points=4, more_points=2, key="reward")),
        "UNDECIDED · too early: 4 points of reward logged, 6 needed.",
    ),
    (
        "continue",
        Judgement(
            "continue",
            Reason("rising", p=0.99, clear=True, start=0.2, level=0.6),
            0.02,
            nearly_through=True,
        ),
        "CONTINUE to the end of the plan · reward rising, 0.200 → 0.600 · 99% sure it is rising.",
    ),
    (
        "continue",
        Judgement(
            "continue",
            Reason("rising", p=0.99, clear=True, start=0.589, turn=TurningPoint(0.037, 77), level=0.34),
            0.39,
        ),
        "CONTINUE · reward rising again since step ~77, 0.589 → 0.037 → 0.340 · 39% chance of gain.",
    ),
    (
        "continue",
        Judgement("continue", Reason("rising", p=0.7, clear=False, start=0.6, turn=TurningPoint(0.2, None), level=0.5)),
        "CONTINUE · reward likely rising again, 0.600 → 0.200 → 0.500.",
    ),
    (
        "roll_back",
        Judgement("roll_back", Reason("fallen", p=0.97, high=0.95, turn=TurningPoint(0.037, 77), level=0.34)),
        "ROLL BACK · reward dropped 0.950 → 0.037 and recovered to 0.340 · 97% sure it dropped.",
    ),
    (
        "undecided",
        Judgement("undecided", Reason("flat", p=0.95, clear=True, level=0.6), 0.12, leans_to_stop=True),
        "UNDECIDED, leaning to stop · reward flat at 0.600 · 12% chance of gain if continued.",
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
        "FINISHED, keep step 1000 · reward saturated at 0.991 of 1 · 1% chance of +0.020 if extended. "
        "Outlook: Extending to step 2000: 2000 more steps, 1% risk of regression. Keep: "
        "checkpoints/global_step_1000 (step 1000).",
    ),
]


@pytest.mark.parametrize(("verdict", "judgement", "said"), SAID)
def test_a_verdict_is_said_from_its_facts(verdict: str, judgement: Judgement, said: str) -> None:
    assert judgement.verdict == verdict
    assert judgement_lines(judgement).text == said


def test_no_gain_of_zero_is_promised() -> None:
    near_the_top = Judgement("stop", Reason("ceiling", level=0.9996, high=1.0), 0.01, Upside(0.0, 0.0, 0.0, 4e-4, 1.0))
    assert headline(near_the_top) == "STOP · reward saturated at 1.000 of 1 · 1% chance of gain if continued"


@pytest.mark.parametrize(("finding", "said"), [("reward.gamed", True), ("signal.train_eval_gap", False)])
def test_a_step_kept_before_the_text_proves_hacking_says_why(finding: str, said: bool) -> None:
    reason = Reason("gamed", 0.99, 102, level=0.94, findings=(finding,))
    judgement = Judgement("roll_back", reason, 0.01, best_checkpoint=BestCheckpoint(30, 0.6, None, None))
    assert ("Quality drops before the text shows it." in keep_says(judgement)) is said


@pytest.mark.parametrize(
    ("reason", "says", "outcome"),
    [
        (Reason("time_left", since_step=51, start=0.2, level=0.9), "flat", "plateaued"),
        (Reason("time_left", p=0.9, level=0.9), "flat", "no_trend"),
        (Reason("time_left", clear=False, level=0.9), "unclear", "unclear"),
        (Reason("flat", p=0.95, level=0.9), "flat", "plateaued"),
        (Reason("flat", p=0.7, clear=False, level=0.9), "likely flat", "plateaued"),
        (Reason("flat", p=0.6, clear=False, start=0.1, level=0.9), "unclear", "unclear"),
        (Reason("no_trend", p=0.95, level=0.9), "since the start", "no_trend"),
        (Reason("no_trend", p=0.6, clear=False, level=0.9), "unclear", "unclear"),
    ],
)
def test_the_outcome_and_the_headline_agree_on_what_is_flat(reason: Reason, says: str, outcome: str) -> None:
    judged = Judgement("undecided", reason, 0.1)
    assert says in headline(judged)
    assert judged.outcome == outcome


def test_every_verdict_has_an_example() -> None:
    assert set(get_args(Verdict)) == {verdict for verdict, _, _ in SAID}


@pytest.mark.parametrize("kind", get_args(ReasonKind))
@pytest.mark.parametrize("verdict", get_args(Verdict))
def test_a_headline_fits_one_line_whatever_the_metrics_are_called(verdict: Verdict, kind: ReasonKind) -> None:
    long = "eval/" + "very/long/" * 12 + "score"
    reason = Reason(
        kind, 0.97, 123456, (123000, 124000), start=-0.000123, high=12345.6, level=0.0123, points=3, more_points=3,
        more_steps=1234, key=long, candidates=(long, long), findings=("reward.gamed",), training_rises=True,
    )  # fmt: skip
    judged = Judgement(
        verdict, reason, 0.42, Upside(0.1, 0.02, 0.19, 0.02, 0.9), Risk(0.04, 0.01), HALF_WAY,
        best_checkpoint=BestCheckpoint(123456, 0.6, None, None), judged=long, judged_since=120000,
        judged_because="outside", next_look_step=140000, leans_to_stop=verdict == "undecided",
    )  # fmt: skip
    said = headline(judged)
    assert len(said) <= WIDEST
    assert not said.endswith("…") or kind in ("no_reward", "too_few", "lost_numbers")  # they name a key of the log
    assert said.split(" · ")[0].split(",")[0].split(" to ")[0].isupper()
