"""Ways to reach someone. A channel is a module with NAME, FORM and opened, and one entry in CHANNELS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import BadOrder
from . import command, desktop, discord, mail, slack, stdout, webhook
from .children import without_secrets
from .message import Channel, Message, Undelivered

__all__ = ["CHANNELS", "Channel", "Message", "Undelivered", "open_channels"]

CHANNELS = {one.NAME: one for one in (stdout, desktop, webhook, slack, discord, mail, command)}
BARE = (stdout.NAME, desktop.NAME)  # these need no more than their name
SECRETS = ("LEADLINE_SMTP_PASSWORD", "LEADLINE_SMTP_USER")


def open_channels(orders: Sequence[str], environ: Mapping[str, str]) -> tuple[Channel, ...]:
    """The channels that orders (`--tell`) name, each once. Raises BadOrder where one cannot be followed."""
    split = [(order, *order.partition(":")[::2]) for order in orders]
    secrets = [*SECRETS, *(target[1:] for _, _, target in split if target.startswith("$"))]
    found: dict[str, Channel] = {}
    for order, kind, target in split:
        if kind not in CHANNELS or (kind in BARE) == bool(target):
            raise BadOrder(
                f"--tell {_shown(order)} cannot be followed.",
                tried="to read it as a way to tell",
                next_step=f"use one of: {'; '.join(one.FORM for one in CHANNELS.values())}",
            )
        # Programs that are started get an environment without the secrets of the other channels.
        known = without_secrets(environ, secrets) if kind in (command.NAME, desktop.NAME) else environ
        channel = CHANNELS[kind].opened(target, known)
        found[channel.name] = channel
    return tuple(found.values())


def _shown(order: str) -> str:
    """The order as far as it may be repeated: what follows the first word may be an address that is a secret."""
    kind, mark, rest = order.partition(":")
    return f"{kind}{mark}{'...' if rest else ''}" if kind in CHANNELS else "..." if mark else kind
