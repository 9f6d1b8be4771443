"""Embeds texts as `leadline read --embeddings` does: python embed.py OUT. The network is closed before anything loads,
and what this does to the process is told beside the vectors."""

from __future__ import annotations

import json
import logging
import socket
import sys
from pathlib import Path


def closed(*_: object, **__: object) -> None:
    raise OSError("the network was asked")


socket.socket.connect = closed  # type: ignore[assignment, method-assign]
socket.getaddrinfo = closed  # type: ignore[assignment]

from leadline.embeddings import load_embedder  # noqa: E402 - only once the network is closed

TEXTS = [
    "a dog runs in the park",
    "the puppy sprints across the garden",
    "stock prices fell sharply on monday",
    "",
    "\ud800 lone",
    "\x00\x1b[31m",
    "犬が公園を走る",
    "w" * 5000,
    *(f"the answer to question {number} is {number * number}" for number in range(200)),
]

held = {
    "vectors": [row.hex() for row in map(bytes, load_embedder().embed(TEXTS))],
    "handlers": len(logging.getLogger().handlers),
    "level": logging.getLogger().level,
    "loaded": sorted({"wordllama", "torch", "requests"} & set(sys.modules)),
}
Path(sys.argv[1], "held.json").write_text(json.dumps(held))
