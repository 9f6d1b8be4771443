"""What looks expect of the next ones, and how that is scored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from live.growing import settle, write_rows

from leadline.live import ledger
from leadline.live.calibration import Calibration, calibrations, replayed
from leadline.live.ledger import LEVELS, is_far, promises, score, surprise
from leadline.live.records import Prediction, Score
from leadline.live.schedule import next_points
from leadline.live.watch import Watch
from leadline.reading.view import View
from leadline.run import Run, Series
from leadline.sources import open_run


def a_run(values: object, *, name: str = "reward/mean", every: int = 1, more: tuple[Series, ...] = ()) -> Run:
    column = np.asarray(values, dtype=np.float64)
    steps = every * np.arange(1, len(column) + 1)
    return Run("run", series=(Series(name, "key", "test", steps, column), *more))


def scattered(count: int, seed: int = 0, noise: float = 0.1) -> np.ndarray:
    return 1 - np.exp(-np.arange(count) / 40) + noise * np.random.default_rng(seed).standard_normal(count)


def kept(run: Run, points: int) -> list[Prediction]:
    return list(promises(View(run), points))


def test_the_next_looks_are_predicted_where_they_will_be() -> None:
    made = promises(View(a_run(scattered(100))), 100)
    assert [one.for_step for one in made] == list(next_points(100, 3))
    run = a_run(scattered(100), every=10)
    assert [one.for_step for one in promises(View(run), 100)] == [10 * points for points in next_points(100, 3)]


def test_the_same_look_makes_the_same_predictions() -> None:
    run = a_run(scattered(60))
    assert promises(View(run), 60) == promises(View(run), 60)


def test_what_is_expected_includes_the_noise_of_the_log() -> None:
    """A level that is known well still scatters by what single rows scatter."""
    quiet, noisy = (promises(View(a_run(scattered(200, noise=noise))), 200)[0] for noise in (0.01, 0.2))
    widths = [np.ptp(np.quantile(one.expects["values"], (0.1, 0.9))) for one in (quiet, noisy)]
    assert widths[1] > 5 * widths[0]


def test_a_series_that_is_logged_rarely_is_predicted_at_its_next_point() -> None:
    steps = 20 * np.arange(1, 11)
    held_out = Series("eval/reward", "eval/reward", "test", steps, scattered(10))
    made = promises(View(a_run(scattered(200), more=(held_out,))), 200)
    assert {one.for_step for one in made if one.series == "eval/reward"} <= {220, *next_points(200, 3)}
    assert sum(one.series == "eval/reward" for one in made) == 3


def test_scores_are_what_they_are_called() -> None:
    run = a_run(scattered(100))
    (first, *_) = kept(run, 100)
    values = np.asarray(first.expects["values"])
    later = a_run([*scattered(100), *np.full(20, values[25])])
    (outcome,) = score([first], later.until(first.for_step))
    assert outcome.score is not None
    assert outcome.score.observed == pytest.approx(values[25])
    assert outcome.score.pit == pytest.approx(0.255, abs=0.006)
    spread = np.abs(values[:, None] - values[None, :]).mean()
    crps = np.abs(values - values[25]).mean() - spread / 2  # its definition, for a sample
    assert outcome.score.crps == pytest.approx(crps, rel=0.02)
    assert len(LEVELS) == len(values)


def test_nothing_is_scored_before_its_time() -> None:
    run = a_run(scattered(100))
    made = kept(run, 100)
    assert score(made, run) == ()
    assert len(score(made, a_run(scattered(130)).until(made[0].for_step))) == 1


def test_a_fall_that_nobody_expected_is_a_surprise_and_the_next_look_is_not() -> None:
    values = scattered(160)
    values[126:] -= 1.0
    fallen = a_run(values)
    first, second = fallen.until(112), fallen.until(125)
    made = [*kept(first, 112), *kept(second, 125)]
    notice = surprise(score(made, fallen.until(141)))
    assert notice is not None
    assert notice.about == "surprise"
    assert notice.says.startswith("reward/mean is -0.099 at step 132; forecast at step 125: ")
    third = [*made, *kept(fallen.until(141), 141)]
    assert surprise(score([one for one in third if one.for_step > 141], fallen.until(158))) is None


def test_noise_is_no_surprise() -> None:
    for seed in range(20):
        run = a_run(scattered(160, seed))
        made = [*kept(run.until(112), 112), *kept(run.until(125), 125)]
        assert surprise(score(made, run.until(141))) is None


def test_one_look_alone_surprises_nobody() -> None:
    values = scattered(160)
    values[126:] -= 1.0
    assert surprise(score(kept(a_run(values).until(125), 125), a_run(values).until(141))) is None


def test_a_replay_predicts_what_a_watch_did(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    log = tmp_path / "metrics.jsonl"
    write_rows(log, range(1, 13))
    one = watch(log)
    settle(one)
    write_rows(log, range(13, 42))
    settle(one)
    (number,) = one.store.names().values()
    live = {
        (two.series, two.made_step, two.for_step): (two.expects, two.score.observed)
        for two in one.store.scored_predictions(number)
        if two.score is not None
    }
    steps = {look.step for look in one.store.looks(number)}
    again = {
        (two.series, two.made_step, two.for_step): (two.expects, two.score.observed)
        for two in replayed(open_run(log))
        if two.made_step in steps and two.score is not None
    }
    both = live.keys() & again.keys()
    assert len(both) > 20
    assert {key: live[key] for key in both} == {key: again[key] for key in both}


def test_calibration_counts_hits() -> None:
    def one(pit: float, series: str = "reward/mean") -> tuple[object, Prediction]:
        return "run", Prediction(series, 1, 2, {}, Score(2, 0.0, pit, 0.0))

    found = calibrations([one(0.5), one(0.3), one(0.06), one(0.01), one(0.99, "kl/ref")])
    assert found[0] == Calibration(
        "reward", 1, 4, (0.5, 0.5, 0.75), pytest.approx(0.2175), (2, 0, 0, 1, 0, 1, 0, 0, 0, 0)
    )
    assert [each.sort for each in found] == ["reward", "KL", "all"]


def test_far_is_far_from_the_edge_of_what_was_expected() -> None:
    expects = {"after": 1, "to": 2, "roots": False, "range": 3.0, "values": np.linspace(0.0, 1.0, 100).tolist()}
    two = Prediction("reward/mean", 1, 2, expects, Score(2, 0.5 - 0.4 * (ledger.SURPRISE + 0.1), 0.0, 0.0))
    assert is_far(two)
    assert not is_far(replace(two, score=Score(2, 0.5 - 0.4 * (ledger.SURPRISE - 0.1), 0.0, 0.0)))
    trifle = replace(two, expects={**expects, "range": 100.0})  # the series has been through far more
    assert not is_far(trifle)
