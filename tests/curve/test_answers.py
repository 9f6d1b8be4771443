"""What is said of a curve: right on clear cases, and by the laws that no case may break."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import PEAK, REST, RISE, Floats, clock, curve, noise, series, trace

from leadline.curve.curve import Curve
from leadline.curve.fit import fit_curve
from leadline.questions.direction import p_about_zero, p_flat, p_going_down, p_moved, p_rising
from leadline.questions.level import Trace
from leadline.questions.shape import AGREED, shape_of

ZERO = ("about zero", "changed sign")  # these depend on where zero is
Shape = Callable[[Floats], Floats]


@pytest.mark.parametrize("shape", RISE.values(), ids=RISE.keys())
def test_a_clear_rise_is_rising(shape: Shape) -> None:
    said = shape_of(trace(8 * shape(clock(2000)) + noise(2000)))
    assert said.word in ("accelerating", "rising", "decelerating")


def test_a_take_off_accelerates_and_a_square_root_slows() -> None:
    faster = shape_of(trace(20 * RISE["take-off"](clock(3000)) ** 2 + noise(3000)))
    slower = shape_of(trace(40 * (1 - np.exp(-2 * clock(3000))) + noise(3000)))
    assert (faster.word, slower.word) == ("accelerating", "decelerating")


@pytest.mark.parametrize("shape", REST.values(), ids=REST.keys())
def test_a_clear_plateau_is_flat(shape: Shape) -> None:
    assert shape_of(trace(8 * shape(clock(2000)) + noise(2000))).word == "flat"


@pytest.mark.parametrize("scatter", [0.005, 0.02, 0.05])
def test_a_rise_that_saturates_is_not_rising(scatter: float) -> None:
    words = [
        shape_of(trace(1 - np.exp(-clock(240) / 0.15) + scatter * noise(240, 0.3, seed))).word for seed in range(12)
    ]
    assert "rising" not in words
    assert words.count("flat") > 8


@pytest.mark.parametrize("shape", PEAK.values(), ids=PEAK.keys())
def test_a_clear_peak_is_dated(shape: Shape) -> None:
    truth = shape(clock(2000))
    said = shape_of(trace(8 * truth + noise(2000)))
    assert said.word == "peaked"
    assert said.peak is not None
    assert said.peak.step == pytest.approx(truth.argmax(), abs=100)
    assert said.peak.interval[0] <= truth.argmax() <= said.peak.interval[1]


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_noise_has_no_direction(phi: float) -> None:
    for seed in range(4):
        assert shape_of(trace(noise(600, phi, seed))).word in ("noise", "flat", "undecided")


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_handful_of_points_decides_nothing(count: int) -> None:
    said = shape_of(trace(np.arange(count)))
    assert said.word == "undecided"
    assert set(said.probabilities.values()) == {0.0}


def recorded() -> Floats:
    return 3 * PEAK["tent"](clock(400)) + noise(400, seed=9)


def broken() -> Floats:
    values = noise(400, seed=10) + 4
    values[250:] -= 8
    return values


@pytest.mark.parametrize("values", [recorded(), broken()], ids=["peaked", "broken"])
@settings(max_examples=8)
@given(scale=st.floats(1e-6, 1e6), shift=st.floats(-100, 100))
def test_rescaling_a_metric_changes_no_answer(values: Floats, scale: float, shift: float) -> None:
    here, there = trace(values), trace(scale * (values + shift))
    one, other = here.curve, there.curve
    assert shape_of(there).probabilities == pytest.approx(shape_of(here).probabilities, abs=1e-9)
    assert [each.step for each in other.breaks] == pytest.approx([each.step for each in one.breaks])
    assert p_about_zero(curve(scale * values)) == pytest.approx(p_about_zero(one), abs=1e-9)


@settings(max_examples=12)
@given(scale=st.floats(1e-6, 1e6), shift=st.floats(-100, 100))
def test_levels_and_forecasts_rescale_with_the_metric(scale: float, shift: float) -> None:
    values = recorded()
    one = curve(values, horizon_step=700)
    other = curve(scale * values + scale * shift, horizon_step=700)
    for step in (1, 200, 400, 550, 700):
        expected = scale * (one.at(step).mean() + shift)
        assert other.at(step).mean() == pytest.approx(expected, rel=1e-9, abs=1e-9 * scale)


def test_a_mirrored_metric_swaps_rising_and_declining() -> None:
    values = 4 * clock(500) + noise(500)
    up, down = curve(values), curve(-values)
    assert p_rising(up) == pytest.approx(p_going_down(down), abs=0.06)  # as close as the drawn paths are
    assert p_moved(up) == pytest.approx(p_moved(down), abs=0.02)


def test_the_unit_of_steps_does_not_matter() -> None:
    values = recorded()
    one = Trace(series(values))
    other = Trace(series(values, steps=1000 * np.arange(1, len(values) + 1)))
    assert shape_of(one).probabilities == pytest.approx(shape_of(other).probabilities, abs=1e-9)
    assert shape_of(other).peak.step == pytest.approx(1000 * shape_of(one).peak.step)  # type: ignore[union-attr]


def test_the_same_series_gives_the_same_paths_whatever_is_read_before_it() -> None:
    values = recorded()
    alone = fit_curve(series(values))
    fit_curve(series(noise(400), "kl/ref"))
    assert np.array_equal(alone.paths, fit_curve(series(values)).paths)


@pytest.mark.parametrize("shape", [RISE["line"], REST["saturated"], PEAK["bump"], lambda u: 0 * u])
def test_logging_means_of_five_steps_does_not_flip_a_word(shape: Shape) -> None:
    values = 5 * shape(clock(2000)) + noise(2000, seed=21)
    each, means = shape_of(trace(values)), shape_of(trace(values.reshape(-1, 5).mean(axis=1)))
    rising = {"accelerating", "rising", "decelerating"}
    spoken = [one.p for one in (each, means) if one.word != "undecided"]
    assert each.word == means.word or {each.word, means.word} <= rising or max(spoken) < AGREED + 0.1


ANSWERS = (p_rising, p_flat, p_moved, p_going_down, p_about_zero)


@pytest.mark.parametrize("ask", ANSWERS)
@given(values=st.lists(st.floats(allow_nan=True, allow_infinity=True, width=64), max_size=40))
def test_every_series_has_an_answer(ask: Callable[[Curve], float], values: list[float]) -> None:
    assert 0.0 <= ask(curve(values)) <= 1.0
    assert 0.0 <= shape_of(trace(values)).p <= 1.0


def test_probabilities_of_the_shapes_add_up() -> None:
    assert sum(shape_of(trace(recorded())).probabilities.values()) == pytest.approx(1.0)


def test_a_loss_about_zero_oscillates_and_a_shifted_one_does_not() -> None:
    values = noise(800, phi=0.2, seed=6)
    assert p_about_zero(curve(values)) > 0.9
    assert p_about_zero(curve(values + 3)) < 0.1
