"""An embedder that needs no model: hashed character triples. Texts that share their spelling lie close."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from leadline.reading.generations.embedder import Embedder, Floats, unit

PLACES = 256


def _embed(texts: Sequence[str]) -> Floats:
    counts = np.zeros((len(texts), PLACES))
    for row, text in enumerate(texts):
        for place in range(len(text) - 2):
            counts[row, crc32(text[place : place + 3].encode("utf-8", "replace")) % PLACES] += 1
    return unit(counts)


TRIPLES = Embedder("character triples", _embed)
