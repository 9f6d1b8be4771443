"""Samples to measures: what the policy writes, and whether it proves that the reward is broken."""
