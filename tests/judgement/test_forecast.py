"""What may still come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.questions.forecast import COMES, EARLY, Forecast, still_to_come

shares = st.floats(0, 1)


def forecast(rising: int, elapsed: float, paths: int = 10) -> Forecast:
    gain = np.where(np.arange(paths) < rising, 1.0, 0.0)
    return Forecast(elapsed, 1.0, gain, gain, 0.05)


@given(shares, shares)
def test_a_rise_that_nothing_announces_is_less_likely_the_later_it_is(one: float, other: float) -> None:
    early, late = sorted((one, other))
    assert 0 <= still_to_come(late, COMES, EARLY) <= still_to_come(early, COMES, EARLY) <= COMES


def test_it_is_all_of_its_share_at_the_start_and_nothing_at_the_end() -> None:
    assert still_to_come(0.0, COMES, EARLY) == pytest.approx(COMES)
    assert still_to_come(1.0, COMES, EARLY) == 0.0
    assert still_to_come(0.5, 0.4, 1.0) == pytest.approx(0.25)  # evenly: .2 of .8 still wait


@given(st.integers(0, 10), shares)
def test_paths_that_gain_count_whole_and_the_others_as_much_as_may_still_come(rising: int, elapsed: float) -> None:
    said = forecast(rising, elapsed)
    assert said.rises == rising / 10
    assert said.p_gain == pytest.approx(said.rises + (1 - said.rises) * still_to_come(elapsed, COMES, EARLY))
    assert said.rises <= said.p_gain <= 1
