"""Has it fallen, from where, since when: one answer for everybody who asks."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import PEAK, REST, RISE, clock, curve, noise, trace

from leadline.questions.direction import peak_of, since_of
from leadline.questions.fall import fall_of, p_fallen, top_step
from leadline.questions.level import last_before


def test_a_tent_has_fallen_from_its_peak() -> None:
    values = 8 * PEAK["tent"](clock(1000)) + noise(1000)
    read = trace(values)
    fall, peak = fall_of(read), peak_of(read.curve)
    assert fall is not None
    assert fall.peak == peak
    assert fall.p > 0.9
    assert fall.from_step == top_step(read)  # the peak is the best step: one fact
    assert fall.from_step == pytest.approx(peak.step, abs=5)
    assert fall.high == read.at(fall.from_step)
    assert fall.now == read.now
    assert fall.from_step <= fall.since_step < 1000


def test_a_slide_from_the_start_has_no_peak() -> None:
    values = 8 * (1 - clock(1000)) + noise(1000)
    fall = fall_of(trace(values))
    assert fall is not None
    assert fall.peak is None
    assert fall.high == pytest.approx(8, abs=1)
    assert fall.ruined


@pytest.mark.parametrize("shape", [*RISE.values(), *REST.values()])
def test_what_rises_or_rests_has_not_fallen(shape) -> None:
    values = 8 * shape(clock(1000)) + noise(1000)
    assert p_fallen(curve(values)) < 0.2


def test_what_cannot_be_told_has_not_fallen() -> None:
    assert p_fallen(None) == 0.0
    assert p_fallen(curve([3.0, 2.0, 1.0])) == 0.0


def test_levels_stay_within_what_was_logged_and_next_to_nothing_is_zero() -> None:
    values = np.concatenate([np.linspace(1, 0, 200), np.zeros(300)])
    read = trace(values)
    assert 0 <= read.now <= 1
    assert read.start == pytest.approx(1, abs=0.05)
    assert all(0 <= read.at(step) <= 1 for step in (1, 100, 500))


def test_what_is_said_of_the_start_does_not_change_with_later_points() -> None:
    values = 0.3 + 0.5 * clock(600) + 0.05 * noise(600)
    told = {trace(values[:seen]).start for seen in (60, 120, 300, 600)}
    assert len(told) == 1
    assert told.pop() == pytest.approx(0.3, abs=0.06)


def test_a_start_that_differs_from_what_follows_is_told_alike_at_every_look() -> None:
    """Its first points stand apart by their own noise; how the rest of the run scatters is nothing to them."""
    values = np.concatenate([np.full(3, 0.3), np.full(57, 0.5), 0.5 + 0.4 * noise(540)]) + 0.01 * noise(600)
    told = {trace(values[:seen]).start for seen in (50, 120, 300, 600)}
    assert len(told) == 1
    assert told.pop() == pytest.approx(0.3, abs=0.03)


def test_a_stray_value_does_not_move_a_date() -> None:
    flags = np.array([False] * 6 + [True] * 10)
    assert last_before(flags) == 5
    strayed = flags.copy()
    strayed[[9, 10]] = False
    assert last_before(strayed) == 5
    strayed[2] = True
    assert last_before(strayed) == 5
    assert (last_before(np.array([True] * 4)), last_before(np.array([False] * 4))) == (0, 3)


def test_a_way_is_dated_only_where_its_paths_agree() -> None:
    at_once = np.where(clock(400) < 0.3, 0.0, 5.0) + noise(400)
    said = since_of(curve(at_once))
    assert said is not None
    assert said == pytest.approx(120, abs=30)
    hardly = 0.6 * clock(200) + noise(200)
    assert since_of(curve(hardly)) is None


def test_a_series_that_has_stuck_stands_where_it_is_stuck() -> None:
    values = np.concatenate([0.7 * np.sqrt(clock(200)) + 0.05 * noise(200), np.full(80, -5.0)])
    assert trace(values).now == -5.0


@pytest.mark.parametrize("length", [4, 30, 120])
def test_a_fall_from_the_first_points_on_begins_before_half_of_it_is_over(length: int) -> None:
    values = np.r_[np.linspace(1.0, 0.0, length), np.zeros(600 - length)] + 0.01 * noise(600)
    fall = fall_of(trace(values))
    assert fall is not None
    assert fall.since_step <= length / 2 + 2
