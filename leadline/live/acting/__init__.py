"""Stopping a run if its user asked for it: when, how, and what is written down about it."""
