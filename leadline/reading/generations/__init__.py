"""Generations: what the policy writes, read against the run's own early samples."""

from __future__ import annotations

from ...facts import Finding
from ..view import View
from . import length, meaning
from .embedder import Embedder
from .witnesses import read_witnesses


def read(view: View, embedder: Embedder | None = None) -> tuple[Finding, ...]:
    """Read what changed in length, truncation and the responses to one prompt, and what high reward goes with; with an
    embedder also whether the responses still mean different things."""
    batches = view.batches
    meant = () if embedder is None else meaning.read(view, batches, embedder)
    return (*length.read(view, batches), *read_witnesses(view, batches), *meant)
