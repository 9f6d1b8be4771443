"""What can be compared with now is decided once, and every finding is handed that part."""

from __future__ import annotations

import numpy as np
from relations import COUNT, STEPS, U, logged, ramp, step

from leadline.facts.finding import Finding
from leadline.findings import found_in
from leadline.pipeline import read_run
from leadline.reading.view import View
from leadline.run import Config, Run
from leadline.words.verdict import headline

# The reward steps down at 150 and nothing of the policy moves there; entropy has sunk all along.
STILL = tuple(logged(name, 1.0, 0.1, seed) for seed, name in enumerate(("kl/ref", "grad_norm"), 5))
ANEW = Run(
    "here",
    series=(logged("reward/mean", step(0.8, 0.4, 150), 0.02, 1), logged("entropy", ramp(2.0, 0.5), 0.05, 2), *STILL),
)


def test_every_series_is_handed_out_from_where_the_reward_was_set_anew() -> None:
    view = View(ANEW)
    assert view.stretch.first is not None
    for name in ("reward/mean", "entropy", "kl/ref"):
        trace = view.of(name)
        assert trace is not None
        assert trace.series.steps[0] >= view.stretch.first
        assert trace.curve.grid[0] == trace.series.steps[0]


def test_a_held_out_score_counts_whole_unless_it_stepped_there_too() -> None:
    steady, stepped = logged("eval/accuracy", 0.5, 0.02, 3), logged("eval/accuracy", step(0.8, 0.4, 150), 0.02, 3)
    starts = []
    for score in (steady, stepped):
        trace = View(Run("here", series=(*ANEW.series, score))).of("eval/accuracy")
        assert trace is not None
        starts.append(int(trace.series.steps[0]))
    assert starts[0] == STEPS[0]
    assert starts[1] > STEPS[0]


def test_no_finding_says_that_reward_dropped_where_its_level_was_set_anew() -> None:
    said = {finding.id for finding in found_in(View(ANEW))}
    assert "reward.break" in said
    assert not said & {"reward.declining", "reward.peaked", "stability.entropy", "kl.destructive"}


def test_a_trace_as_it_stood_is_that_of_the_run_cut_there() -> None:
    run = Run("here", series=(logged("reward/mean", U, 0.05, 1),))
    whole, cut = View(run).of("reward/mean"), View(run.until(200)).of("reward/mean")
    then = None if whole is None else whole.until(200.9)
    assert then is not None
    assert cut is not None
    assert (then.curve.paths == cut.curve.paths).all()


def break_in(run: Run) -> Finding:
    return next(finding for finding in found_in(View(run)) if finding.id == "reward.break")


def test_a_stretch_that_has_only_begun_is_not_judged_yet() -> None:
    """Entropy is flat here: nothing of the policy moves at the drop, seven points before the end."""
    entropy = logged("entropy", 1.0, 0.02, 2)
    run = Run("here", series=(logged("reward/mean", step(0.8, 0.4, COUNT - 6), 0.02, 1), entropy, *STILL))
    said = read_run(run, now=0.0).judgement
    assert said.reason.kind == "too_few"
    assert "too early: 7 points" in headline(said)


def test_a_gain_in_a_gap_of_the_log_begins_no_stretch_and_has_no_cause() -> None:
    steps = np.r_[1:81, 140:220]
    still = [logged(name, 1.0, 0.02, seed, steps) for seed, name in enumerate(("entropy", "grad_norm", "kl/ref"), 5)]
    run = Run("here", series=(logged("reward/mean", np.where(steps < 100, 0.3, 0.7), 0.02, 1, steps), *still))
    assert View(run).stretch.first is None
    assert break_in(run).say().endswith("Cause unknown: the log has a gap there.")
    unbroken = Run("here", series=tuple(logged(one.name, one.values, steps=STEPS[: len(steps)]) for one in run.series))
    assert View(unbroken).stretch.first is not None


def test_what_never_moved_since_a_step_is_not_said_to_be_flat_since_the_start() -> None:
    entropy = logged("entropy", 1.0, 0.02, 2)
    series = (logged("reward/mean", step(0.3, 0.6, 90), 0.03, 1), entropy, *STILL)
    reading = read_run(Run("here", series=series, config=Config(planned_steps=COUNT + 10)), now=0.0)
    since = reading.judgement.judged_since
    assert since is not None
    said = [headline(reading.judgement), *(finding.say() for finding in reading.findings)]
    assert f"since step {since}" in said[0]
    assert not any("since the start" in one for one in said)
