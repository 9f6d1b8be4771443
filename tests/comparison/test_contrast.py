"""Two groups of curves on one grid, made by hand: the test and its walk back from the end."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from leadline.comparison.contrast import ALPHA, CELLS, ENDS, Contrasted, RunLevels, beyond, holm

Floats = NDArray[np.float64]
EVEN = np.array([-1.0, -0.5, 0.5, 1.0])


def levels(*curves: Floats | float, doubt: float = 0.0) -> RunLevels:
    """Runs whose paths lie evenly about a curve, with so much doubt (one standard deviation of the paths)."""
    around = EVEN / EVEN.std() * doubt
    return RunLevels(np.stack([np.broadcast_to(curve, CELLS) + around[:, None] for curve in curves]))


def test_the_test_is_welchs() -> None:
    one, other = np.array([1.0, 1.3, 0.9]), np.array([2.0, 2.6, 1.7, 2.2])
    contrast = Contrasted(levels(*one), levels(*other))
    parts = one.var(ddof=1) / 3, other.var(ddof=1) / 4
    t = (other.mean() - one.mean()) / math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 3)
    assert contrast.final.size == pytest.approx(other.mean() - one.mean())
    assert contrast.final.chance == pytest.approx(beyond(t, freedom))
    assert contrast.whole.chance == pytest.approx(contrast.final.chance)
    assert contrast.chance == pytest.approx(min(1.0, contrast.final.chance / ENDS))


def test_seeds_that_agree_by_luck_are_not_believed() -> None:
    lucky = Contrasted(levels(1.0, 1.0, 1.0), levels(1.1, 1.1, 1.1))
    doubted = Contrasted(levels(1.0, 1.0, 1.0, doubt=0.2), levels(1.1, 1.1, 1.1, doubt=0.2))
    assert lucky.chance < 1e-6
    assert doubted.chance > 0.3


def test_a_lone_run_is_taken_to_scatter_like_the_others() -> None:
    many = np.array([1.0, 1.2, 0.9, 1.1])
    contrast = Contrasted(levels(*many), levels(2.0))
    error = math.sqrt(many.var(ddof=1) * (1 + 1 / 4))
    assert contrast.seeds
    assert contrast.final.chance == pytest.approx(beyond((2.0 - many.mean()) / error, 3))
    mirrored = Contrasted(levels(2.0), levels(*many))
    assert mirrored.final.chance == pytest.approx(contrast.final.chance)


def test_two_runs_have_only_their_own_noise() -> None:
    contrast = Contrasted(levels(1.0, doubt=0.3), levels(2.0, doubt=0.4))
    assert not contrast.seeds
    assert contrast.final.chance == pytest.approx(beyond(1.0 / 0.5, math.inf))
    assert contrast.seeds_needed() is None


def test_the_walk_back_stops_where_the_groups_first_cannot_be_told_apart() -> None:
    gap = np.ones(CELLS)
    gap[15] = 0.0  # apart before it and after it
    base = [np.full(CELLS, level) for level in (-0.05, 0.0, 0.05)]
    contrast = Contrasted(levels(*base), levels(*(gap + one for one in base)))
    assert contrast.sure_from(ALPHA) == 16


def test_the_walk_back_stops_where_the_gap_changes_sides() -> None:
    gap = np.where(np.arange(CELLS) < 20, -1.0, 1.0)
    base = [np.full(CELLS, level) for level in (-0.02, 0.0, 0.02)]
    assert Contrasted(levels(*base), levels(*(gap + one for one in base))).sure_from(ALPHA) == 20


def test_a_gap_all_along_is_sure_from_the_start() -> None:
    contrast = Contrasted(levels(0.0, 0.01, 0.02), levels(1.0, 1.01, 1.02))
    assert contrast.sure_from(ALPHA) == 0
    assert contrast.there_by() is None  # it never was below


def test_no_gap_at_the_end_is_sure_from_nowhere() -> None:
    gap = np.where(np.arange(CELLS) < 30, 1.0, 0.0)
    base = [np.full(CELLS, level) for level in (-0.02, 0.0, 0.02)]
    contrast = Contrasted(levels(*base), levels(*(gap + one for one in base)))
    assert contrast.chance < ALPHA
    assert contrast.sure_from(ALPHA) is None


def test_the_better_one_was_where_the_other_ends_when_its_curve_crosses_it() -> None:
    rise = np.arange(CELLS) / (CELLS - 1)
    slow = [rise / 2 + level for level in (-0.01, 0.0, 0.01)]
    fast = [rise + level for level in (-0.01, 0.0, 0.01)]
    assert Contrasted(levels(*slow), levels(*fast)).there_by() == 20  # the slow one ends at .475 on average


def test_seeds_needed_fall_as_the_gap_grows() -> None:
    base = levels(0.0, 0.2, 0.4)
    needed = [Contrasted(base, levels(gap, gap + 0.2, gap + 0.4)).seeds_needed() for gap in (0.1, 0.3, 0.6, 2.0)]
    known = [one for one in needed if one is not None]
    assert known == sorted(known, reverse=True)
    assert needed[-1] == 3
    assert Contrasted(base, base).seeds_needed() is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_questions_asked_together_never_speak_earlier_than_alone(chances: list[float]) -> None:
    told = holm(chances)
    assert all(together >= alone for (together, _), alone in zip(told, chances, strict=True))
    assert all(share <= ALPHA for _, share in told)
    # Holm rejects where the chance in view of the others is within ALPHA, and then the own chance is within its share.
    assert all(
        alone <= share * (1 + 1e-12)
        for (together, share), alone in zip(told, chances, strict=True)
        if together <= ALPHA
    )
