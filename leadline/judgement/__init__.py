"""Decide to continue, stop, or roll back: facts and probabilities, no words (docs/judgement.md)."""
