"""What came of what was said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from leadline.facts.judgement import Judgement, Reason, ReasonKind, Verdict
from leadline.live.history import Past, as_data, history_lines
from leadline.live.records import Look
from leadline.live.screen import urgency
from leadline.report import palette
from leadline.shelf.row import NEEDS


def look(step: int, verdict: str, level: float, life: int = 0) -> Look:
    reading = json.dumps({"judgement": {"judged": "reward/mean", "reason": {"level": level}}}).encode()
    return Look("run", life, step, step, "schedule", 1e9 + step, verdict, 0.5, 10, f"{verdict}.", "", reading)


def past(*looks: Look) -> Past:
    return Past("run", Path("state.db"), looks, (), ())


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
