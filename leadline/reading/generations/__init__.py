"""Generations: what the policy writes, read against the run's own early samples."""

from __future__ import annotations

from ..finding import Finding
from ..view import View
from . import length
from .witnesses import read_witnesses


def read(view: View) -> tuple[Finding, ...]:
    """What changed in length, diversity and coherence, and what high reward goes with."""
    batches = view.batches
    return (*length.read(view, batches), *read_witnesses(view, batches))
