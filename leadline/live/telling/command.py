"""Alerts to a program of the user's: `command:notify --team rl`, run without a shell.

It gets on its standard input the JSON that a webhook gets, with the text for people in the field `text`, and
LEADLINE_KEY in its environment.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...errors import BadOrder
from ...report.data import dump
from . import children, words
from .message import Channel, Message, for_machines, short_name

NAME = "command"
FORM = "command:PROGRAM [ARGUMENT...]"


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    words: tuple[str, ...] = field(repr=False)  # may hold what should not be seen
    environ: Mapping[str, str] = field(repr=False)
    most: int = 100
    spacing: float = 0.0
    repeats: bool = True
    takes_picture: bool = False

    def tell(self, message: Message) -> None:
        given = dump({**for_machines(message), "text": words.text(message)}, lines=True).encode()
        children.run(self.words, given=given, environ={**self.environ, "LEADLINE_KEY": message.key})


def opened(target: str, environ: Mapping[str, str]) -> Channel:
    try:
        split = tuple(shlex.split(target))
    except ValueError as error:
        split, why = (), str(error)
    else:
        why = "it is empty"
    if not split:
        raise BadOrder(
            f"The command to tell by cannot be read: {why}.",
            tried="to split it into words as a shell would",
            next_step=f"give {FORM}",
        )
    return Command(f"{NAME}:{split[0].rpartition('/')[2]}#{short_name(target)}", split, environ)
