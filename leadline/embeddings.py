"""The model that turns texts into vectors of their meaning: a small one that a package carries; nothing is fetched."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .errors import MissingExtra, need
from .reading.generations.embedder import Embedder, Floats, unit

PACKAGE, EXTRA, PURPOSE = "wordllama", "embeddings", "compare answers by their meaning"
MODEL = "l2_supercat_256"
FILES = (f"weights/{MODEL}.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")
TABLE = "embedding.weight"


def load_embedder() -> Embedder:
    """The model of the `embeddings` extra (docs/decisions/0012): a vector a token, averaged over the text."""
    weights, tokenizer = _files()
    tensors = need("safetensors.numpy", extra=EXTRA, to=PURPOSE).load_file(weights)
    table = tensors[TABLE].astype(np.float32)
    tokens = need("tokenizers", extra=EXTRA, to=PURPOSE).Tokenizer.from_file(str(tokenizer))
    tokens.no_padding()
    tokens.no_truncation()

    def embed(texts: Sequence[str]) -> Floats:
        means = np.zeros((len(texts), table.shape[1]))
        for row, text in enumerate(texts):  # one by one: in a batch the tokenizer would start threads of its own
            ids = tokens.encode(_valid(text), add_special_tokens=False).ids
            if ids:
                means[row] = table[np.minimum(ids, len(table) - 1)].mean(axis=0, dtype=np.float64)
        return unit(means)

    return Embedder(f"{PACKAGE} {MODEL}", embed)


def _files() -> tuple[Path, Path]:
    """Where the model lies. Its package is found but not imported: it would set up logging for the whole process, and
    its own loader looks for the tokenizer in the wrong folder and then on a hub."""
    spec = importlib.util.find_spec(PACKAGE)
    home = Path((spec.origin if spec is not None else None) or need(PACKAGE, extra=EXTRA, to=PURPOSE).__file__ or "")
    weights, tokenizer = (home.parent / file for file in FILES)
    for file in (weights, tokenizer):
        if not file.is_file():
            raise MissingExtra(
                f"The package `{PACKAGE}` is here, but without the model that is needed to {PURPOSE}.",
                tried=str(file),
                next_step=f"pip install --force-reinstall 'leadline[{EXTRA}]'",
            )
    return weights, tokenizer


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # a lone surrogate is no text to the tokenizer
