"""Questions that can be asked of any curve, each answered in one place."""

from __future__ import annotations

from .peak import Peak, peak_of
from .shape import AGREED, WORDS, Shape, shape_of

__all__ = ["AGREED", "WORDS", "Peak", "Shape", "peak_of", "shape_of"]
