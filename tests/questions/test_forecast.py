"""What may still come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from relations import COUNT, U, logged, ramp

from leadline.curve.fit import fit_curve
from leadline.questions.forecast import Forecast, forecast, unforeseen

shares = st.floats(0, 1)


def seen(rising: int, elapsed: float, room: float = 1.0, paths: int = 10) -> Forecast:
    gain = np.where(np.arange(paths) < rising, 1.0, 0.0)
    return Forecast(elapsed, 1.0, gain, gain, 0.05, rise=0.0, lately=0.0, room=room)


@given(shares, shares, st.floats(-9, 9), shares)
def test_an_unforeseen_gain_is_less_likely_the_later_it_is(a: float, b: float, rise: float, lately: float) -> None:
    early, late = sorted((a, b))
    assert 0 <= unforeseen(late, rise, lately) <= unforeseen(early, rise, lately) <= 1


@given(shares, st.floats(-9, 9), st.floats(-9, 9), shares)
def test_and_likelier_where_the_score_rose(elapsed: float, a: float, b: float, lately: float) -> None:
    low, high = sorted((a, b))
    assert unforeseen(elapsed, low, lately) <= unforeseen(elapsed, high, lately)


@given(st.integers(0, 10), shares)
def test_paths_that_gain_count_whole_and_the_others_as_much_as_may_be_unforeseen(rising: int, elapsed: float) -> None:
    said = seen(rising, elapsed)
    assert said.rises == rising / 10
    assert said.p_gain == pytest.approx(said.rises + (1 - said.rises) * unforeseen(elapsed, 0.0, 0.0))


def test_below_a_ceiling_there_is_no_gain_beyond_it() -> None:
    series = logged("reward/mean", ramp(0, 0.99, last=0.4), 0.005)
    curve = fit_curve(series, horizon_step=2 * COUNT)
    free = forecast(curve, end=2 * COUNT, elapsed=0.5, price=0.05)
    bounded = forecast(curve, end=2 * COUNT, elapsed=0.5, price=0.05, ceiling=1.0)
    assert bounded.gain.max() <= 0.02
    assert bounded.p_gain < 0.01
    assert free.p_gain > 0


def test_a_slow_rise_after_a_fast_one_is_likely_to_go_on() -> None:
    course = np.minimum(U / 0.3, 1) * 0.7 + 0.3 * np.clip((U - 0.3) / 0.7, 0, 1)
    curve = fit_curve(logged("reward/mean", course, 0.03), horizon_step=2 * COUNT)
    assert forecast(curve, end=2 * COUNT, elapsed=0.5, price=0.05).p_gain > 0.5
