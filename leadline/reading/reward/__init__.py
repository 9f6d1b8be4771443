"""The reward and the scores beside it: which of them counts, over which stretch, and what broke it."""

from __future__ import annotations

from ..view import HEADLINE

__all__ = ["HEADLINE"]
