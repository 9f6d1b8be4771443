"""Alerts as JSON to an address of the user's: `webhook:https://...` or, better, `webhook:$NAME`.

Every request bears its key as `Idempotency-Key`, and so does every alert in it: a receiver that drops what it has seen
gets each alert once, however often it is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...report.data import dump
from .message import Channel, Message, for_machines
from .posting import Post, address_of

NAME = "webhook"
FORM = "webhook:URL or webhook:$NAME"


@dataclass(frozen=True, slots=True)
class Webhook:
    name: str
    post: Post
    most: int = 100
    spacing: float = 0.0
    repeats: bool = True
    takes_picture: bool = False  # the same alerts must give the same request

    def tell(self, message: Message) -> None:
        headers = {"Content-Type": "application/json", "Idempotency-Key": f'"{message.key}"'}
        self.post.send(dump(for_machines(message), lines=True).encode(), headers)


def opened(target: str, environ: Mapping[str, str]) -> Channel:
    address, name = address_of(target, environ, what=NAME)
    return Webhook(name, Post(address))
