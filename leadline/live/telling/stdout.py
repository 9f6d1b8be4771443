"""Alerts as text on the standard output, where a terminal or a service's journal shows them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import words
from .message import Channel, Message, Undelivered

NAME = "stdout"
FORM = "stdout"


@dataclass(frozen=True, slots=True)
class Stdout:
    name: str
    write: Callable[[str], None]
    most: int = 1000
    spacing: float = 0.0
    repeats: bool = False
    takes_picture: bool = False

    def tell(self, message: Message) -> None:
        try:
            self.write(f"{words.text(message)}\n\n")
        except (OSError, ValueError):  # ValueError: it was closed
            raise Undelivered("the standard output does not take it") from None


def opened(target: str, environ: Mapping[str, str]) -> Channel:
    return Stdout(NAME, _print)


def _print(text: str) -> None:
    stream = sys.stdout
    stream.write(text.encode(stream.encoding or "utf-8", errors="backslashreplace").decode(stream.encoding or "utf-8"))
    stream.flush()
