"""What came of what was said."""

from __future__ import annotations

import json
from pathlib import Path

from leadline.live.aftermath import Point, spells
from leadline.live.history import Past
from leadline.live.records import Look, Prediction, Score


def look(step: int, verdict: str, level: float, life: int = 0) -> Look:
    reading = json.dumps({"judgement": {"judged": "reward/mean", "reason": {"level": level}}}).encode()
    return Look("run", life, step, step, "schedule", 1e9 + step, verdict, 0.5, 10, f"{verdict}.", "", reading)


def expected(made: int, pit: float) -> Prediction:
    return Prediction(1, 1, 0, 1, "reward/mean", made, made + 10, {}, Score(1, made + 10, 0.4, pit, 0.1))


def past(*looks: Look, scored: tuple[Prediction, ...] = ()) -> Past:
    return Past("run", Path("state.db"), looks, scored, (), ())


def test_looks_of_one_verdict_are_told_once_with_what_followed() -> None:
    told = spells(
        past(
            look(10, "continue", 0.3),
            look(20, "continue", 0.6),
            look(40, "roll_back", 0.2),
            scored=(expected(10, 0.5), expected(20, 0.99), expected(40, 0.5)),
        )
    )
    later, first = told
    assert (first.first.step, first.last.step, first.looks) == (10, 20, 2)
    assert first.then == Point(40, "roll_back", 0.2, "reward/mean", 10)
    assert (first.due, first.kept) == (2, 1)
    assert (later.then, later.end.step) == (None, 40)


def test_a_row_that_is_newer_than_the_last_look_says_how_it_went_on() -> None:
    (same,) = spells(past(look(10, "stop", 0.3)), Point(50, "stop", 0.31, "reward/mean", 10))
    assert (same.then, same.end.step, same.end.level) == (None, 50, 0.31)
    (other,) = spells(past(look(10, "stop", 0.3)), Point(50, "continue", 0.9, "reward/mean", 10))
    assert other.then is not None
    assert (other.then.verdict, other.end.level) == ("continue", 0.9)
    (older,) = spells(past(look(10, "stop", 0.3)), Point(5, "continue", 0.1, "reward/mean", 10))
    assert older.then is None


def test_nothing_comes_of_a_verdict_on_a_run_that_was_begun_anew() -> None:
    later, first = spells(past(look(90, "stop", 0.3), look(5, "undecided", 0.1, life=1)))
    assert (first.anew, first.then) == (True, None)
    assert not later.anew
