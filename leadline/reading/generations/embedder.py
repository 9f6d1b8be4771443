"""Texts as vectors of their meaning. The model itself is loaded by `leadline/embeddings.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Embedder:
    """Turns texts into vectors of length 1, one a row; a text without any meaning becomes a row of zeros."""

    name: str  # of the model: another one gives another reading
    embed: Callable[[Sequence[str]], Floats]


def unit(vectors: Floats) -> Floats:
    """Each row at length 1; rows of zeros stay."""
    lengths = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    scaled: Floats = vectors / np.where(lengths > 0, lengths, 1.0)
    return scaled
