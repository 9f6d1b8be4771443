"""Plots in text: what is drawn lies where it belongs."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leadline.report.braille import CELLS, NOW, SHADE, Area, Frame, Points, draw, frame

STEPS = np.arange(100.0)
FLAT = Frame(20, 5, (0.0, 99.0), (0.0, 1.0))


def drawn(*marks: Points | Area, within: Frame = FLAT, now: float | None = None) -> list[str]:
    return [line.plain for line in draw(marks, within, now=now)]


def dotted(line: str) -> list[int]:
    return [place for place, glyph in enumerate(line) if glyph in CELLS[1:]]


def test_a_rise_goes_from_the_lower_left_to_the_upper_right() -> None:
    rows = [dotted(line) for line in drawn(Points(STEPS, STEPS / 99))]
    assert rows[0][-1] == 19
    assert rows[-1][0] == 0
    assert all(upper[0] >= lower[-1] for upper, lower in itertools.pairwise(rows))


def test_two_points_are_joined_only_when_asked() -> None:
    ends = np.array([0.0, 99.0])
    assert sum(map(len, map(dotted, drawn(Points(ends, ends / 99))))) == 2
    assert sorted({place for line in drawn(Points(ends, ends / 99, joined=True)) for place in dotted(line)}) == list(
        range(20)
    )


def test_a_band_is_shaded_where_it_runs_and_dots_lie_over_it() -> None:
    lines = drawn(Area(STEPS, np.full(100, 0.45), np.full(100, 0.55)), Points(np.array([50.0]), np.array([0.5])))
    assert set(lines[2]) - {SHADE} != set()
    assert lines[2].count(SHADE) == 19
    assert all(SHADE not in line for line in (lines[0], lines[1], lines[3], lines[4]))


def test_a_band_thinner_than_a_cell_is_still_seen() -> None:
    lines = drawn(Area(STEPS, np.full(100, 0.5), np.full(100, 0.5)))
    assert sum(line.count(SHADE) for line in lines) == 20


def test_now_is_marked_where_the_future_begins() -> None:
    assert {line.index(NOW) for line in drawn(now=49.5)} == {9}
    assert all(NOW not in line for line in drawn(now=99.0))


def test_a_stray_point_stays_in_the_picture_without_flattening_the_rest() -> None:
    values = np.sin(STEPS)
    values[50] = 1e9
    about = frame([Points(STEPS, values)], width=20, height=5)
    assert about is not None
    assert about.values[1] < 2
    assert 10 in dotted(drawn(Points(STEPS, values), within=about)[0])


def test_what_is_not_finite_is_not_drawn() -> None:
    nothing = Points(STEPS, np.full(100, np.nan))
    assert frame([nothing], width=20, height=5) is None
    assert all(line.isspace() for line in drawn(nothing, Area(STEPS, nothing.values, nothing.values)))


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=30),
    st.integers(1, 60),
    st.integers(1, 12),
)
def test_any_numbers_give_a_picture_of_the_size_asked_for(numbers: list[float], width: int, height: int) -> None:
    values = np.array(numbers)
    marks = [
        Area(np.arange(len(values), dtype=float), values, values),
        Points(np.arange(len(values), dtype=float), values),
    ]
    about = frame(marks, width=width, height=height)
    if about is None:
        assert not np.isfinite(values).any()
        return
    lines = drawn(*marks, within=about)
    assert [len(line) for line in lines] == [width] * height
