"""Channels for alerts: `--notify` names one of CHANNELS, each with the form it takes and how it is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ...errors import BadOrder
from . import local, mail, posting
from .message import Channel, Message, Undelivered

__all__ = ["CHANNELS", "Channel", "Message", "Undelivered", "open_channels"]

CHANNELS: dict[str, tuple[str, Callable[[str, Mapping[str, str]], Channel]]] = {
    "stdout": ("stdout", local.stdout),
    "webhook": ("webhook:URL or webhook:$NAME", partial(posting.opened, "webhook")),
    "slack": ("slack:$NAME", partial(posting.opened, "slack")),
    "discord": ("discord:$NAME", partial(posting.opened, "discord")),
    "mail": ("mail:ADDRESS[,ADDRESS...]", mail.opened),
    "command": ("command:PROGRAM [ARGUMENT...]", local.command),
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
