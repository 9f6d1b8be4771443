"""Student's t against forms that can be written down."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.comparison.contrast import beyond, deviate

SIZES = [0.0, 0.001, 0.3, 1.0, 2.5, 12.0, 300.0]


@pytest.mark.parametrize("t", SIZES)
def test_one_degree_of_freedom_is_cauchy(t: float) -> None:
    assert beyond(t, 1) == pytest.approx(1 - 2 * math.atan(t) / math.pi, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("t", SIZES)
def test_two_degrees_of_freedom_are_algebra(t: float) -> None:
    assert beyond(t, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("t", SIZES)
def test_four_degrees_of_freedom_are_algebra(t: float) -> None:
    x = t / math.sqrt(4 + t * t)
    assert beyond(t, 4) == pytest.approx(1 - 1.5 * x * (1 - x * x / 3), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("t", SIZES[:5])
def test_many_degrees_of_freedom_are_normal(t: float) -> None:
    assert beyond(t, 1e8) == pytest.approx(beyond(t, math.inf), rel=1e-6)


@given(st.floats(1e-6, 0.999), st.floats(1, 1e4))
def test_the_deviate_is_where_the_share_is(share: float, freedom: float) -> None:
    assert beyond(deviate(share, freedom), freedom) == pytest.approx(share, rel=1e-8)


@given(st.floats(0, 1e3), st.floats(0, 1e3), st.floats(1, 1e3))
def test_further_out_is_rarer(one: float, other: float, freedom: float) -> None:
    near, far = sorted((one, other))
    assert beyond(far, freedom) <= beyond(near, freedom) + 1e-12
    assert beyond(-far, freedom) == beyond(far, freedom)


def test_infinitely_far_is_never() -> None:
    assert beyond(math.inf, 1) == 0.0
