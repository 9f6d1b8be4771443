"""Findings, sections, and the judgement as typed data that makes its own sentences. No computation."""
