"""What every report format promises: it never raises, obeys nothing a log says, and ends its last line."""

from __future__ import annotations

import dataclasses
from types import ModuleType

import pytest
from found import quoting
from hypothesis import given
from hypothesis import strategies as st

from leadline.contract import Reading, RunSummary
from leadline.facts.finding import Evidence
from leadline.facts.sections import Missing, RewardReading
from leadline.report import data, html, markdown, terminal
from leadline.run import Event, Rollout

RENDERERS = (terminal, data, markdown, html)
every_renderer = pytest.mark.parametrize("report", RENDERERS, ids=lambda report: report.__name__)

EMPTY_RUN = RunSummary("run", None, None, None, None, 0, None, (), (), (), ())
SILENT = RewardReading(shape="undecided", probabilities={}, peak=None)
NASTY = "\x1b[31mred\x07\r\n[bold]\u202e\x9b2J\udcff"


def nasty_reading(text: str) -> Reading:
    evidence = Evidence("rollouts", 1, 2, samples=(Rollout(1, text, text, float("nan")),))
    return Reading(
        run=dataclasses.replace(
            EMPTY_RUN,
            path=text,
            framework=text,
            unread_keys=(text,) * 9,
            missing=(Missing(text),),
            events=(Event("resume", 3, text),) * 9,
            notes=(text,),
        ),
        reward=SILENT,
        findings=(quoting(text, "critical", (evidence,)),),
    )


@every_renderer
def test_an_empty_reading_can_be_shown(report: ModuleType) -> None:
    shown = report.render(Reading(run=EMPTY_RUN, reward=SILENT))
    assert shown.endswith("\n")
    assert "NO VERDICT" in shown or "undecided" in shown


@every_renderer
@given(text=st.text(st.characters(), max_size=20), width=st.integers(1, 200))
def test_any_text_can_be_shown(report: ModuleType, text: str, width: int) -> None:
    assert report.render(nasty_reading(text), width=width).endswith("\n")


@every_renderer
def test_text_from_a_log_cannot_command_the_terminal(report: ModuleType) -> None:
    shown = report.render(nasty_reading(NASTY))
    assert not set(shown) & set("\x1b\x07\r\x9b")


def test_the_terminal_shows_markup_of_a_log_as_it_stands() -> None:
    assert "[bold]" in RENDERERS[0].render(nasty_reading(NASTY))


@every_renderer
def test_the_same_reading_is_shown_the_same(report: ModuleType) -> None:
    assert report.render(nasty_reading("x")) == report.render(nasty_reading("x"))


def test_color_is_only_used_when_asked_for() -> None:
    assert "\x1b[" in terminal.render(nasty_reading("x"), color=True)
    assert "\x1b[" not in terminal.render(nasty_reading("x"), color=False)
