"""Quality measures that get worse together on a flat reward are a concern, and the kept step precedes it."""

from __future__ import annotations

import numpy as np
from relations import COUNT, U, logged

from leadline.findings.stability_degrading import detect
from leadline.pipeline import read_run
from leadline.reading.view import View
from leadline.run import Config, Run, Series

FLAT = logged("reward/mean", np.clip(U / 0.2, 0, 1), 0.03, 1)
BLOWN_UP = logged("entropy", np.where(U < 0.6, 0.5, 0.5 + 5 * (U - 0.6)), 0.02, 2)
CUT = logged("len/response_clip_frac", np.where(U < 0.6, 0.02, 0.02 + 0.5 * (U - 0.6)), 0.01, 3)


def run(*series: Series) -> Run:
    return Run("here", series=series, config=Config(planned_steps=round(1.2 * COUNT)))


def test_two_measures_that_worsen_together_are_dated() -> None:
    (finding,) = detect(View(run(FLAT, BLOWN_UP, CUT)))
    assert finding.id == "stability.degrading"
    assert finding.severity == "concern"
    assert {one.series for one in finding.facts.measures} == {"entropy", "len/response_clip_frac"}
    assert 0.5 * COUNT < finding.since_step < 0.8 * COUNT


def test_one_measure_alone_is_not_enough() -> None:
    steady = logged("len/response_clip_frac", 0.02 + 0 * U, 0.01, 3)
    assert detect(View(run(FLAT, BLOWN_UP, steady))) == ()


def test_a_reward_that_rises_meanwhile_is_learning() -> None:
    assert detect(View(run(logged("reward/mean", U, 0.03, 1), BLOWN_UP, CUT))) == ()


def test_the_kept_step_precedes_it() -> None:
    judgement = read_run(run(FLAT, BLOWN_UP, CUT), charts="main").judgement
    assert judgement.best_checkpoint is not None
    assert judgement.best_checkpoint.step < 0.8 * COUNT
    assert "stability.degrading" in judgement.because
    assert judgement.reason.kind != "gamed"
