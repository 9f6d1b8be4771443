"""Channels for alerts: `--notify` names one of CHANNELS, each with the form it takes and how it is opened.

Those on this machine are here. A program is run without a shell. It gets the JSON that a webhook gets on its standard
input, with the text for people in the field `text`, and LEADLINE_KEY in its environment.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from ...errors import BadOrder
from ...report.data import dump
from . import mail, posting
from .message import Channel, Message, Undelivered, for_machines, short_name, text

__all__ = ["CHANNELS", "Channel", "Message", "Undelivered", "open_channels"]

PATIENCE = 30.0  # seconds for a program


def stdout(target: str, environ: Mapping[str, str]) -> Channel:
    """Return the channel that prints text."""
    return Channel("stdout", _print, most=1000)


def _print(message: Message) -> None:
    stream = sys.stdout
    coding = stream.encoding or "utf-8"
    try:
        stream.write(f"{text(message)}\n\n".encode(coding, errors="backslashreplace").decode(coding))
        stream.flush()
    except (OSError, ValueError):  # ValueError: it was closed
        raise Undelivered("standard output is closed") from None


def command(target: str, environ: Mapping[str, str]) -> Channel:
    """Return the channel that runs a program. Raises BadOrder."""
    try:
        split = tuple(shlex.split(target))
    except ValueError as error:
        split, why = (), str(error)
    else:
        why = "it is empty"
    if not split:
        raise BadOrder(
            f"Can't read the command to send alerts to: {why}.", next_step="pass command:PROGRAM [ARGUMENT...]"
        )

    def tell(message: Message) -> None:
        given = dump({**for_machines(message), "text": text(message)}, lines=True).encode()
        _run(split, given, {**environ, "LEADLINE_KEY": message.key})

    return Channel(f"command:{split[0].rpartition('/')[2]}#{short_name(target)}", tell, most=100)


def _run(words: Sequence[str], given: bytes, environ: Mapping[str, str]) -> None:
    """Run a program with `given` on its standard input. Raises Undelivered unless it exits with 0."""
    name = os.path.basename(words[0])  # noqa: PTH119 - of a command, not a path
    try:
        child = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            start_new_session=True,  # so that its own children can be killed with it
        )
    except (OSError, ValueError) as error:
        raise Undelivered(f"can't run {name} ({type(error).__name__})") from None
    try:
        child.communicate(given, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise Undelivered(f"{name} did not exit in {PATIENCE:.0f} s and was killed") from None
    if child.returncode != 0:
        raise Undelivered(f"{name} exited with {child.returncode}")


CHANNELS: dict[str, tuple[str, Callable[[str, Mapping[str, str]], Channel]]] = {
    "stdout": ("stdout", stdout),
    "webhook": ("webhook:URL or webhook:$NAME", partial(posting.opened, "webhook")),
    "slack": ("slack:$NAME", partial(posting.opened, "slack")),
    "discord": ("discord:$NAME", partial(posting.opened, "discord")),
    "mail": ("mail:ADDRESS[,ADDRESS...]", mail.opened),
    "command": ("command:PROGRAM [ARGUMENT...]", command),
}
SECRETS = ("LEADLINE_SMTP_PASSWORD", "LEADLINE_SMTP_USER")


def open_channels(orders: Sequence[str], environ: Mapping[str, str]) -> dict[str, Channel]:
    """Return the channels that `--notify` names, by the order for each. Raises BadOrder."""
    split = [(order, *order.partition(":")[::2]) for order in orders]
    secrets = [*SECRETS, *(target[1:] for _, _, target in split if target.startswith("$"))]
    for_programs = {name: value for name, value in environ.items() if name not in secrets}
    found: dict[str, Channel] = {}
    for order, kind, target in split:
        if kind not in CHANNELS or (kind == "stdout") == bool(target):
            raise BadOrder(
                f"Can't use --notify {_shown(order)}.",
                next_step=f"use one of: {'; '.join(form for form, _ in CHANNELS.values())}",
            )
        found[order] = CHANNELS[kind][1](target, for_programs if kind == "command" else environ)
    return found


def _shown(order: str) -> str:
    """Return the order without what may be a secret address."""
    kind, mark, rest = order.partition(":")
    return f"{kind}{mark}{'...' if rest else ''}" if kind in CHANNELS else "..." if mark else kind
