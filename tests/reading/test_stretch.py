"""What can be compared with now is decided once, and every finding is handed that part."""

from __future__ import annotations

from relations import STEPS, U, logged, ramp, step

from leadline.findings import found_in
from leadline.reading.view import View
from leadline.run import Run

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
