"""Findings, sections, and the judgement as typed data that makes its own sentences. No computation."""

from __future__ import annotations

from .finding import NEEDS_EYES, Evidence, Facts, Finding, Guide, Meaning, Severity, by_weight

__all__ = ["NEEDS_EYES", "Evidence", "Facts", "Finding", "Guide", "Meaning", "Severity", "by_weight"]
