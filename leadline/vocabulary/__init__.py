"""The meaning of a number: the canonical name and kind behind a framework's own key.

One CSV a framework, one row a key or regular expression (it then starts with `^`). A file may hold several dialects:
the first is the base, later ones are more special and list only what they write differently. A new framework is a new
CSV and no code; if the logged number is not the canonical one, its row names a rule (`rules.py`). `framework.py` tells
which framework wrote a set of keys, `dialect.py` what a key means in it, `guess.py` what any other key means by its
words.
"""

from __future__ import annotations

from .dialect import TURNED, Meaning, canonical_names, dialects, families, family_of, translate
from .framework import SIGNS, detect, knows_rl

__all__ = [
    "SIGNS", "TURNED", "Meaning", "canonical_names", "detect", "dialects", "families", "family_of",
    "knows_rl", "translate",
]  # fmt: skip
