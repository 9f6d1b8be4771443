"""Which looks are due is told by the log alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leadline.live.schedule import RATIO, SCHEDULED, Due, LookSchedule


def taken(steps: np.ndarray, reward: np.ndarray, cuts: list[int]) -> list[Due]:
    schedule = LookSchedule()
    found: list[Due] = []
    for settled in sorted({*cuts, len(steps)}):
        found += schedule.take(steps, reward, settled)
    return found


@given(
    st.lists(st.floats(-1e6, 1e6) | st.just(float("nan")), min_size=1, max_size=80),
    st.lists(st.integers(0, 80), max_size=5),
    st.integers(1, 1000),
)
def test_the_same_looks_are_due_however_the_log_arrives(values: list[float], cuts: list[int], unit: int) -> None:
    reward = np.array(values)
    steps = np.arange(1, len(values) + 1)
    at_once = taken(steps, reward, [])
    assert taken(steps, reward, [min(cut, len(values)) for cut in cuts]) == at_once
    other = [Due(one.step // unit, one.points, one.why) for one in taken(steps * unit, reward, [])]
    assert other == at_once  # what a step is counted in does not matter


def test_looks_are_a_ratio_apart() -> None:
    points = sorted(SCHEDULED)[:100]
    gaps = np.diff(points)
    assert np.all(gaps[20:] / np.array(points[20:-1]) < RATIO - 0.99)


def test_a_clean_collapse_is_looked_at_within_three_rows() -> None:
    """Where the curve is cleanest a fall is clearest: its size in noise does not matter, nor does the unit."""
    for seed in range(20):
        for noise in (0.0, 0.002, 0.02, 0.1):
            rng = np.random.default_rng([seed, int(1000 * noise)])
            reward = np.where(np.arange(1, 121) > 80, 0.125, 0.63) + noise * rng.standard_normal(120)
            due = taken(np.arange(1, 121), 1000 * reward, [])
            assert any(82 <= one.points <= 83 for one in due), (seed, noise)


def test_noise_alone_hardly_ever_rings() -> None:
    rung = sum(
        one.why == "jump"
        for seed in range(10)
        for one in taken(np.arange(1, 501), np.random.default_rng(seed).standard_normal(500), [])
    )
    assert rung <= 2  # bench/live_alarm.py: less than one in ten thousand rows


def test_one_wild_row_is_no_jump() -> None:
    reward = 0.1 * np.random.default_rng(0).standard_normal(300)
    reward[200] -= 3.0
    assert not [one for one in taken(np.arange(1, 301), reward, []) if one.why == "jump"]


def test_a_log_that_goes_back_is_taken_from_there() -> None:
    steps, reward = np.arange(1, 101), np.zeros(100)
    schedule = LookSchedule()
    first = schedule.take(steps, reward, 100)
    assert schedule.take(steps, reward, 60) == []
    assert schedule.take(steps, reward, 100) == [one for one in first if one.points > 60]
