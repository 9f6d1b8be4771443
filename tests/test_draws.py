"""Draws that are the same everywhere, and are what they are called."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from leadline.draws import Stream, _normal_quantiles

MANY = 100_000
UNIFORMS = [0.6704722626516632, 0.11101463666938172]
INTEGERS = [511, 356, 704, 479]
ORDER = [2, 4, 3, 1, 0, 5]
NORMALS = [1.2529598002917155, 0.17217937919857607, -0.7364760460643638, -0.44761066603146477]
CHI_SQUARES = [5.868715671655704, 7.723537464980448]


def test_the_first_draws_of_a_key_are_these_for_ever() -> None:
    stream = Stream(1, 2, 3)
    assert stream.uniforms(2).tolist() == UNIFORMS
    assert stream.integers(1000, 4).tolist() == INTEGERS
    assert stream.order(6).tolist() == ORDER
    assert stream.normals(2, 2).ravel().tolist() == pytest.approx(NORMALS, rel=1e-14)
    assert stream.chi_squares(5, 2).tolist() == pytest.approx(CHI_SQUARES, rel=1e-13)


def test_streams_of_other_keys_are_other_streams() -> None:
    assert Stream(1, 2).uniforms(1) != Stream(2, 1).uniforms(1)


def test_normals_are_normal() -> None:
    drawn = np.sort(Stream(7).normals(MANY, 1)[:, 0])
    assert abs(drawn.mean()) < 0.01
    assert drawn.std() == pytest.approx(1, abs=0.01)
    expected = [NormalDist().inv_cdf((place + 0.5) / 100) for place in range(100)]
    assert drawn[MANY // 200 :: MANY // 100] == pytest.approx(expected, abs=0.05)


def test_the_table_of_quantiles_is_that_of_the_standard_library() -> None:
    table = _normal_quantiles()
    expected = [NormalDist().inv_cdf((place + 0.5) / len(table)) for place in range(0, len(table), 7)]
    assert table[::7] == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("freedom", [0.7, 1.0, 1.5, 2, 5, 20.3, 63])
def test_chi_squares_have_their_moments(freedom: float) -> None:
    drawn = Stream(3).chi_squares(freedom, MANY)
    assert drawn.min() > 0
    assert drawn.mean() == pytest.approx(freedom, rel=0.02)
    assert drawn.var() == pytest.approx(2 * freedom, rel=0.05)
    assert np.log(drawn).mean() == pytest.approx(
        np.log(np.random.default_rng(0).chisquare(freedom, MANY)).mean(), abs=0.02
    )


def test_an_order_holds_every_place_once_and_none_is_preferred() -> None:
    stream = Stream(4)
    orders = np.stack([stream.order(5) for _ in range(5000)])
    assert (np.sort(orders, axis=1) == np.arange(5)).all()
    assert orders.mean(axis=0) == pytest.approx(np.full(5, 2.0), abs=0.1)


def test_nothing_can_be_drawn_too() -> None:
    stream = Stream(5)
    assert len(stream.uniforms(0)) == len(stream.order(0)) == len(stream.chi_squares(3, 0)) == 0
    assert stream.normals(0, 3).shape == (0, 3)
