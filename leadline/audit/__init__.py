"""The second reader: a language model, or a person, that grades answers without knowing their score or step
(docs/agents.md). It is asked for, never causes an act, and is heard only where it can be trusted."""

from __future__ import annotations

from .read import audit, prepare, review_of

__all__ = ["audit", "prepare", "review_of"]
