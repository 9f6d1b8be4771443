"""Sentences that are made from more than one fact; a fact makes its own. Nothing parses a sentence."""
