"""Generations: what the policy writes, as phrases and samples; and what is cut off."""
