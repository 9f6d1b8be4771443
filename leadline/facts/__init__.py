"""What was seen, as typed data: findings and the facts they carry, which say their own sentence. No computation."""

from __future__ import annotations

from .finding import NEEDS_EYES, Evidence, Facts, Finding, Guide, Meaning, Mentioned, Severity, by_weight

__all__ = ["NEEDS_EYES", "Evidence", "Facts", "Finding", "Guide", "Meaning", "Mentioned", "Severity", "by_weight"]
