"""Which looks are due is told by the log alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leadline.live.schedule import RATIO, Due, Schedule, is_on_schedule, next_points


def taken(steps: np.ndarray, reward: np.ndarray, cuts: list[int]) -> list[Due]:
    schedule = Schedule()
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
    points = next_points(0, 100)
    gaps = np.diff(points)
    assert all(is_on_schedule(one) for one in points)
    assert np.all(gaps[20:] / np.array(points[20:-1]) < RATIO - 0.99)


def test_a_jump_is_looked_at_soon() -> None:
    rng = np.random.default_rng(0)
    reward = 0.1 * rng.standard_normal(300)
    reward[244:] += 1.0
    due = taken(np.arange(1, 301), reward, [])
    (jump,) = [one for one in due if one.why == "jump"]
    assert 245 <= jump.points <= 250


def test_noise_alone_hardly_ever_rings() -> None:
    rung = sum(
        one.why == "jump"
        for seed in range(20)
        for one in taken(np.arange(1, 301), np.random.default_rng(seed).standard_normal(300), [])
    )
    assert rung <= 8  # one in a thousand points is what the alarm is set to


def test_a_log_that_goes_back_is_taken_from_there() -> None:
    steps, reward = np.arange(1, 101), np.zeros(100)
    schedule = Schedule()
    first = schedule.take(steps, reward, 100)
    assert schedule.take(steps, reward, 60) == []
    assert schedule.take(steps, reward, 100) == [one for one in first if one.points > 60]
