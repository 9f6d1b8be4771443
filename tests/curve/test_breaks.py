"""Sudden changes: found, dated, and not invented."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import REST, clock, curve, noise, series

from leadline.curve.fit import breaks_in, fit_curve
from leadline.questions.changes import scale_series
from leadline.questions.level import Trace
from leadline.questions.shape import shape_of


@pytest.mark.parametrize("phi", [0.0, 0.5])
@pytest.mark.parametrize("count", [300, 2000, 20000])
def test_one_break_is_found_and_dated(phi: float, count: int) -> None:
    place = int(0.6 * count)
    values = noise(count, phi, seed=count)
    values[place:] -= 5
    (found,) = curve(values).breaks
    assert abs(found.step - (place + 1)) <= 0.01 * count
    assert found.interval[0] <= found.step <= found.interval[1]
    assert found.size == pytest.approx(-5, abs=1.5)


def test_several_breaks_are_each_found_and_each_side_is_read() -> None:
    values = noise(1500, seed=5)
    values[400:] += 6
    values[800:] -= 9
    values[1200:] += 5
    read = curve(values)
    assert [round(one.step, -1) for one in read.breaks] == [400, 800, 1200]
    assert [round(float(segment.paths[:, 30].mean())) for segment in read.segments] == pytest.approx(
        [0, 6, -3, 2], abs=1
    )


@pytest.mark.parametrize(("count", "scatter"), [(60, 0.02), (120, 0.02), (120, 0.05), (300, 0.02), (300, 0.05)])
def test_a_level_that_was_lost_and_came_back_is_read_by_its_own_noise(count: int, scatter: float) -> None:
    """Who sees both ways at once sees a curve with much noise that stands in between."""
    share = np.arange(count) / count
    back = 0.97 * -np.expm1(-np.maximum(share - 0.48, 0) / 0.02)
    course = np.where(share < 0.33, 0.95, np.where(share < 0.48, 0.0, back))
    read = curve(course + scatter * np.random.default_rng(0).standard_normal(count))
    assert any(found.size < -0.8 and abs(found.step / count - 0.33) < 0.05 for found in read.breaks)
    assert float(read.seen[:, -1].mean()) == pytest.approx(0.97, abs=2 * scatter)
    assert read.noise < 0.06


def test_a_dip_of_few_points_is_found_where_it_is_known_that_something_happened() -> None:
    """A held-out score logged every ten steps, where the training reward broke."""
    held_out = np.r_[np.full(11, 0.95), np.zeros(5), 0.6, np.full(17, 0.97)]
    held_out = held_out + 0.02 * np.random.default_rng(0).standard_normal(len(held_out))
    logged = series(held_out, steps=np.arange(10, 350, 10))
    alone, told = (fit_curve(logged, breaks=events) for events in ([], [119]))
    assert alone.noise > 0.2
    assert told.noise < 0.05
    assert [round(found.step) for found in told.breaks] == [120]
    assert told.breaks[0].size == pytest.approx(-0.95, abs=0.05)
    assert float(told.seen[:, -1].mean()) == pytest.approx(0.97, abs=0.03)


def test_teeth_that_get_smaller_are_found_too() -> None:
    """A reference that is renewed again and again, while less and less is learned."""
    place = np.arange(310)
    teeth = np.asarray([0.028, 0.011, 0.007, 0.006, 0.005, 0.005, 0.005])[place // 50] * (place % 50) / 50
    found = curve(teeth + 0.0006 * np.random.default_rng(0).standard_normal(310)).breaks
    assert {50, 100, 150} <= {round(tooth.step, -1) for tooth in found}


@pytest.mark.parametrize("shape", [*REST.values(), lambda u: u])
def test_a_smooth_rise_is_no_break(shape: object) -> None:
    values = 6 * shape(clock(1000)) + noise(1000, seed=2)  # type: ignore[operator]
    assert curve(values).breaks == ()


def test_noise_has_no_breaks() -> None:
    assert all(curve(noise(500, phi, seed)).breaks == () for phi in (0.0, 0.5, 0.9) for seed in range(5))


def test_a_step_of_a_series_without_any_noise_is_a_break() -> None:
    (found,) = curve([0.0] * 200 + [1.0] * 200).breaks
    assert found.step == 201
    assert [one.step for one in curve([float(k // 100) for k in range(400)]).breaks] == [101, 201, 301]


def test_a_cosine_without_noise_is_no_break_and_costs_few_second_looks() -> None:
    assert curve(np.cos(np.pi * clock(2000)) / 2 + 0.5).breaks == ()


def test_what_happens_after_a_late_break_is_read_by_itself() -> None:
    steps = np.concatenate([100 * np.arange(1, 401), 40_000 + np.arange(1, 101)])
    values = 10 * np.arange(400) / 400 + noise(400, seed=1)
    values = np.concatenate([values, values[-1] - 8 - 6 * clock(100) + noise(100, seed=2)])
    one = series(values, steps=steps)
    read = fit_curve(one)
    assert read.breaks
    assert shape_of(Trace(one)).word != "rising"
    assert float((read.speed > 0).mean()) < 0.1


def test_the_unit_of_steps_moves_a_break_with_it() -> None:
    values = noise(20_000, seed=3)
    values[12_000:] += 6
    (one,) = curve(values).breaks
    tenfold = series(values, steps=10 * np.arange(1, 20_001))
    (other,) = fit_curve(tenfold).breaks
    assert other.step == pytest.approx(10 * one.step)


def test_a_lone_spike_is_no_break() -> None:
    values = noise(500)
    values[250] = 1e9
    assert curve(values).breaks == ()


def test_a_known_event_is_looked_at_more_readily() -> None:
    values = noise(240, phi=0.3, seed=11)
    values[120:] += 2.6
    without, told = curve(values), curve(values, breaks=[121])
    sure = [max(one.probability for one in (*read.breaks, read.suspected) if one) for read in (without, told)]
    assert sure[1] > sure[0]
    assert curve(noise(240, seed=12), breaks=[121]).breaks == ()


def test_swings_that_suddenly_grow_fourfold_are_a_change_of_magnitude() -> None:
    values = noise(1200, phi=0.0, seed=3)
    values[700:] *= 4
    (change,) = breaks_in(scale_series(series(values)))
    assert change.step == pytest.approx(701, abs=40)
    assert np.exp(change.size) == pytest.approx(4, rel=0.4)
    assert breaks_in(scale_series(series(noise(1200, phi=0.0, seed=4)))) == ()


def test_a_constant_series_has_no_magnitude() -> None:
    assert breaks_in(scale_series(series(np.full(50, 2.0)))) == ()
