"""The colours of every report that draws: one meaning, one colour, on light and on dark ground.

The hues are those of Okabe and Ito, which people with any common colour blindness can tell apart; they are darkened for
white paper and lightened for a dark screen until a line stands out from its ground (3 to 1) and a word can be read on
it (4.5 to 1, severities and verdicts). A terminal does not tell its ground, so what is shown there has a third shade in
between: one of its 256 colours that stands out from black, from dark grey and from white alike (3.3 to 1).
tests/report/test_palette.py measures all three. Colour is never the only sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..facts.judgement import calls_for


class Shade(NamedTuple):
    """One colour as `#rrggbb`, for light ground, for dark ground and for a terminal."""

    light: str
    dark: str
    terminal: str = ""  # no terminal shows it


GROUND = Shade("#ffffff", "#14171c")
INK = Shade("#1c2128", "#e8eaed")
QUIET = Shade("#5b6470", "#a4adb8")  # axes, captions, what is beside the point

ROLES: Mapping[str, Shade] = {
    "reward": Shade("#0072b2", "#56b4e9", "#0087d7"),
    "held_out": Shade("#c25100", "#f08a3c", "#d75f00"),
    "kl": Shade("#a04a80", "#dc9ac0", "#af5f87"),
    "loss": Shade("#5b6470", "#a4adb8"),
    "length": Shade("#946200", "#e6b34a"),
    "entropy": Shade("#00795a", "#35c49a"),
    "diversity": Shade("#2b6f9e", "#8ccbf2"),
    "coherence": Shade("#6f5fa8", "#b3a6e6"),
    "grad_norm": Shade("#7a5230", "#cfa27c"),
    "power": Shade("#8a7a00", "#f0e442"),
    "other": QUIET,
}

# The reward decides the hue: green and blue where it gains, amber and grey where it rests, red where it loses.
REGIMES: Mapping[str, Shade] = {
    "rising/rising": Shade("#008a65", "#2fbf95"),
    "stable/rising": Shade("#0072b2", "#56b4e9"),
    "falling/rising": Shade("#3d93c4", "#9ad3f5"),
    "rising/flat": Shade("#b37a00", "#e6b34a"),
    "stable/flat": Shade("#525b67", "#7d8794"),
    "falling/flat": Shade("#8b94a1", "#c2c9d2"),
    "rising/declining": Shade("#c25100", "#f08a3c"),
    "stable/declining": Shade("#a04a80", "#dc9ac0"),
    "falling/declining": Shade("#75305c", "#b9749c"),
    "undecided": Shade("#c9ced6", "#454c57"),
    "no_kl": Shade("#e2e5ea", "#2c323b"),
}

SEVERITIES: Mapping[str, Shade] = {
    "critical": Shade("#a63a00", "#ff9a5c", "#d75f00"),
    "concern": Shade("#7d5300", "#e6b34a", "#af8700"),
    "note": Shade("#4a5361", "#b4bcc7"),
}

VERDICTS: Mapping[str, Shade] = {
    "continue": Shade("#00664b", "#35c49a", "#00875f"),
    "stop": Shade("#7d5300", "#e6b34a", "#af8700"),
    "roll_back": Shade("#a63a00", "#ff9a5c", "#d75f00"),
    "undecided": Shade("#4a5361", "#b4bcc7"),
    "finished": Shade("#00609a", "#56b4e9", "#0087d7"),
}


def outcome(verdict: str, outcome: str | None) -> Shade:
    """Return the color of a verdict: that of what the run came to, where it has ended badly."""
    return VERDICTS[calls_for(verdict, outcome)]


# Phases of a step, stacked in this order and begun again when there are more.
PHASES: tuple[Shade, ...] = (
    Shade("#0072b2", "#56b4e9", "#0087d7"),
    Shade("#c25100", "#f08a3c", "#d75f00"),
    Shade("#00795a", "#35c49a", "#00875f"),
    Shade("#a04a80", "#dc9ac0", "#af5f87"),
    Shade("#946200", "#e6b34a", "#af8700"),
    Shade("#6f5fa8", "#b3a6e6", "#875fd7"),
    Shade("#5b6470", "#a4adb8", "#767676"),
)

_ROLE_OF = {
    "reward/mean": "reward",
    "eval/reward/mean": "held_out",
    "entropy": "entropy",
    "grad_norm": "grad_norm",
    "text/alike": "diversity",
    "text/looped": "coherence",
}
_ROLE_OF_FAMILY = {"eval": "held_out", "reward": "reward", "kl": "kl", "loss": "loss", "len": "length"}


def role(name: str) -> str:
    """Return the role a series plays, by its canonical name: its key in ROLES.

    >>> role("kl/ref"), role("eval/reward/mean"), role("anything/else")
    ('kl', 'held_out', 'other')
    """
    return _ROLE_OF.get(name) or _ROLE_OF_FAMILY.get(name.split("/", 1)[0], "other")
