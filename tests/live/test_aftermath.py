"""What came of what was said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from leadline.facts.judgement import Judgement, Reason, ReasonKind, Verdict
from leadline.live.history import Past, Point, as_data, history_lines, spells
from leadline.live.records import Look
from leadline.live.screen import urgency
from leadline.report import palette
from leadline.shelf.row import NEEDS


def look(step: int, verdict: str, level: float, life: int = 0) -> Look:
    reading = json.dumps({"judgement": {"judged": "reward/mean", "reason": {"level": level}}}).encode()
    return Look("run", life, step, step, "schedule", 1e9 + step, verdict, 0.5, 10, f"{verdict}.", "", reading)


def past(*looks: Look) -> Past:
    return Past("run", Path("state.db"), looks, (), ())


def test_looks_of_one_verdict_are_told_once_with_what_followed() -> None:
    later, first = spells(past(look(10, "continue", 0.3), look(20, "continue", 0.6), look(40, "roll_back", 0.2)))
    assert (first.first.step, first.last.step, first.looks) == (10, 20, 2)
    assert first.then == Point(40, "roll_back", 0.2, "reward/mean")
    assert (later.then, later.end.step) == (None, 40)


def test_a_row_that_is_newer_than_the_last_look_says_how_it_went_on() -> None:
    (same,) = spells(past(look(10, "stop", 0.3)), Point(50, "stop", 0.31, "reward/mean"))
    assert (same.then, same.end.step, same.end.level) == (None, 50, 0.31)
    (other,) = spells(past(look(10, "stop", 0.3)), Point(50, "continue", 0.9, "reward/mean"))
    assert other.then is not None
    assert (other.then.verdict, other.end.level) == ("continue", 0.9)
    (older,) = spells(past(look(10, "stop", 0.3)), Point(5, "continue", 0.1, "reward/mean"))
    assert older.then is None


def test_nothing_comes_of_a_verdict_on_a_run_that_was_begun_anew() -> None:
    later, first = spells(past(look(90, "stop", 0.3), look(5, "undecided", 0.1, life=1)))
    assert (first.anew, first.then) == (True, None)
    assert not later.anew


def finished(outcome: str | None) -> Look:
    judgement = {"judged": "reward/mean", "reason": {"level": 0.1}, **({} if outcome is None else {"outcome": outcome})}
    body = json.dumps({"judgement": judgement, "findings": []}).encode()
    return replace(look(100, "finished", 0.1), says="FINISHED", reading=body)


@pytest.mark.parametrize(
    ("outcome", "color"), [("collapsed", "roll_back"), ("saturated", "finished"), (None, "finished")]
)
def test_the_history_shows_a_finished_collapse_as_a_roll_back(outcome: str | None, color: str) -> None:
    one = past(finished(outcome))
    (shown,) = [text for name, text in history_lines([one]) if name == "check"]
    assert str(shown.style) == palette.VERDICTS[color].terminal
    assert as_data([one])[0]["outcome"] == outcome


def test_the_list_of_a_watch_is_ordered_as_the_page_of_all_runs() -> None:
    def place(verdict: Verdict, kind: ReasonKind, *, silent: bool = False) -> int:
        reading = SimpleNamespace(judgement=Judgement(verdict=verdict, reason=Reason(kind)), findings=())
        return urgency(SimpleNamespace(made=SimpleNamespace(reading=reading), silent=silent))  # type: ignore[arg-type]

    hacked, fallen, flat = place("finished", "gamed"), place("roll_back", "fallen"), place("stop", "flat")
    rising, silent = place("continue", "rising"), place("continue", "rising", silent=True)
    assert hacked < fallen < silent < flat < rising == len(NEEDS)
    assert place("roll_back", "fallen", silent=True) == fallen
    assert urgency(SimpleNamespace(made=None, silent=False)) == len(NEEDS)  # type: ignore[arg-type]
