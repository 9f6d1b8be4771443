"""Since when it stands where it stands now: what is told must hold of the logged numbers."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import noise, trace

from leadline.questions.direction import p_at_rest
from leadline.questions.shape import Rest, rest_of, shape_of

COUNT = 300
U = np.arange(1, COUNT + 1) / COUNT


def rest(values: np.ndarray) -> Rest | None:
    return rest_of(trace(values))


@pytest.mark.parametrize("seed", range(4))
def test_from_the_step_that_is_told_the_points_lie_about_the_level_now(seed: int) -> None:
    values = 1 - 0.6 * np.exp(-U / 0.05) - 0.2 * np.exp(-U / 0.1) + 0.02 * noise(COUNT, 0.3, seed)
    told = rest(values)
    assert told is not None
    after = values[told.since - 1 :]
    first = after[: len(after) // 4]
    error = 0.02 * np.sqrt((1 + 0.3) / (1 - 0.3) / len(first))
    assert abs(first.mean() - trace(values).now) < 4 * error


def test_nearly_all_of_the_gain_is_not_yet_the_level() -> None:
    """A steep rise and a slow one after it: 90 % of the gain is had long before it is flat."""
    course = np.where(U < 0.1, 8 * U, np.minimum(0.8 + (U - 0.1), 1.0))  # flat from 0.3 on
    values = course + 0.01 * noise(COUNT, 0.3, 1)
    told = rest(values)
    assert told is not None
    assert abs(told.since - 0.3 * COUNT) < 0.05 * COUNT
    assert told.between[0] <= told.since <= told.between[1]


def test_a_jump_is_dated_to_the_step() -> None:
    values = np.where(U > 0.4, 0.8, 0.2) + 0.03 * noise(COUNT, 0.2, 2)
    told = rest(values)
    assert told is not None
    assert abs(told.since - (0.4 * COUNT + 1)) <= 1


def test_what_fell_and_rests_does_so_since_it_fell() -> None:
    values = 1 - np.minimum(U / 0.3, 1.0) * 0.7 + 0.02 * noise(COUNT, 0.2, 3)
    told = rest(values)
    assert told is not None
    assert abs(told.since - 0.3 * COUNT) < 0.06 * COUNT


def test_what_creeps_up_all_along_has_no_such_date() -> None:
    values = 0.7 * (1 - np.exp(-U / 0.03)) + 0.15 * U + 0.01 * noise(COUNT, 0.2, 4)
    assert rest(values) is None


def test_the_date_stays_while_nothing_new_comes() -> None:
    values = np.minimum(U / 0.25, 1.0) + 0.03 * noise(COUNT, 0.3, 5)
    dates = [told for until in (200, 230, 260, 300) if (told := rest(values[:until])) is not None]
    assert len(dates) >= 3
    for told in dates:
        assert told.between[0] <= dates[0].since <= told.between[1]


def test_what_stuck_at_one_number_rests_since_it_did() -> None:
    values = np.r_[np.linspace(1.0, -4.0, 60) + 0.3 * noise(60, 0.2, 6), np.full(120, -5.0)]
    told = rest(values)
    assert told is not None
    assert told.since == 61


def test_a_spike_does_not_move_the_date() -> None:
    values = np.where(U > 0.4, 0.8, 0.2) + 0.03 * noise(COUNT, 0.2, 2)
    spiky = values.copy()
    spiky[250] = 40.0
    told, beside = rest(values), rest(spiky)
    assert told is not None
    assert beside is not None
    assert told.since == beside.since


@pytest.mark.parametrize("seed", range(4))
def test_the_chance_of_rest_is_to_the_last_bit_what_the_word_for_the_shape_rests_on(seed: int) -> None:
    read = trace(1 - np.exp(-U / 0.3) + 0.1 * noise(COUNT, 0.0, seed))
    p = shape_of(read).probabilities
    assert p_at_rest(read.curve) == p["flat"] + p["noise"]  # both are held against the same bar
