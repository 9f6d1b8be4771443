"""Colours can be told from their ground and, as words, read on it."""

from __future__ import annotations

import pytest
from rich.color import Color, ColorSystem

from leadline.reading.chart_data import SERIES
from leadline.report import palette

LINES = {
    **palette.ROLES,
    **{name: one for name, one in palette.REGIMES.items() if name not in ("undecided", "no_kl")},
}
LINES |= {f"phase {place}": one for place, one in enumerate(palette.PHASES)}
SHOWN = {f"phase {place}": one for place, one in enumerate(palette.PHASES)}
SHOWN |= {name: palette.ROLES[name] for name in ("reward", "held_out", "kl")}
SHOWN |= {f"{name} finding": palette.SEVERITIES[name] for name in ("critical", "concern")}
SHOWN |= {name: one for name, one in palette.VERDICTS.items() if name != "undecided"}
WORDS = {**palette.SEVERITIES, **palette.VERDICTS, "ink": palette.INK, "quiet": palette.QUIET}


def luminance(colour: str) -> float:
    parts = [int(colour[first : first + 2], 16) / 255 for first in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", LINES)
def test_a_line_stands_out_from_its_ground(name: str) -> None:
    for shade, ground in zip(LINES[name][:2], palette.GROUND[:2], strict=True):
        assert contrast(shade, ground) >= 3


@pytest.mark.parametrize("name", WORDS)
def test_a_word_can_be_read_on_its_ground(name: str) -> None:
    for shade, ground in zip(WORDS[name][:2], palette.GROUND[:2], strict=True):
        assert contrast(shade, ground) >= 4.5


@pytest.mark.parametrize("name", SHOWN)
def test_a_terminal_shows_it_on_any_ground(name: str) -> None:
    shown = Color.parse(SHOWN[name].terminal)
    assert shown.downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex == SHOWN[name].terminal  # one of its 256
    for ground in ("#000000", "#1e1e1e", "#ffffff"):
        assert contrast(SHOWN[name].terminal, ground) >= 3.3


def test_no_two_roles_and_no_two_regimes_share_a_colour() -> None:
    roles = [one for name, one in palette.ROLES.items() if name not in ("other", "loss")]  # both are beside the point
    assert len(set(roles)) == len(roles)
    assert len(set(palette.REGIMES.values())) == len(palette.REGIMES)


@pytest.mark.parametrize("chart", [chart for chart in SERIES if chart in palette.ROLES])
def test_what_a_chart_shows_has_the_colour_of_that_chart(chart: str) -> None:
    assert {palette.role(name) for name in SERIES[chart]} == {chart}
