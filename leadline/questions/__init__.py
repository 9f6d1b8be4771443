"""Questions that can be asked of any curve. A new one is a function Curve -> Statement and a line in STATEMENTS."""

from __future__ import annotations

from collections.abc import Callable

from ..curve import Curve
from .direction import is_accelerating, is_decelerating, is_declining, is_flat, is_noise, is_rising
from .jump import broke, stepped
from .peak import Peak, has_peaked, peak_of
from .shape import AGREED, WORDS, Shape, shape_of
from .statement import Statement
from .zero import has_changed_sign, oscillates_about_zero

STATEMENTS: tuple[Callable[[Curve], Statement], ...] = (
    is_rising,
    is_accelerating,
    is_decelerating,
    is_declining,
    is_flat,
    is_noise,
    has_peaked,
    broke,
    stepped,
    oscillates_about_zero,
    has_changed_sign,
)

__all__ = ["AGREED", "STATEMENTS", "WORDS", "Peak", "Shape", "peak_of", "shape_of"]
