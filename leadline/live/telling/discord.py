"""Alerts to a Discord channel by a webhook: `discord:$NAME`, where NAME holds the webhook's address.

Limits are those of Discord's reference: 10 embeds and 6000 characters of them in a message, 256 of a title.
Mentions are switched off. The picture goes along as a file that the first embed shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ...report.data import dump
from ...report.palette import SEVERITIES
from . import words
from .message import Channel, Message, Secret
from .posting import Post, secret_address

NAME = "discord"
FORM = "discord:$NAME"

SHOWN = 5  # alerts in full
TITLE = 120
DESCRIPTION = 900  # 5 x (120 + 900) and a line fit into 6000
MARKUP = frozenset("\\*_~`|<>#[]()@:-")
PICTURE = "run.png"


@dataclass(frozen=True, slots=True)
class Discord:
    name: str
    post: Post
    most: int = 10_000
    spacing: float = 30.0
    repeats: bool = True
    takes_picture: bool = True

    def tell(self, message: Message) -> None:
        content = dump(payload(message), lines=True).encode()
        if message.picture is None:
            self.post.send(content, {"Content-Type": "application/json"})
        else:
            boundary = f"leadline-{message.key}"
            form = _form(boundary, content, message.picture)
            self.post.send(form, {"Content-Type": f"multipart/form-data; boundary={boundary}"})


def payload(message: Message) -> dict[str, object]:
    """The message in Discord's form."""
    alerts = message.gravest
    embeds: list[dict[str, object]] = [
        {
            "title": _cut(words.title(alert), TITLE),
            "description": _cut(words.body(alert, bullet="• "), DESCRIPTION),
            "color": int(SEVERITIES[alert.severity].light[1:], 16),
        }
        for alert in alerts[:SHOWN]
    ]
    if message.picture is not None:
        embeds[0]["image"] = {"url": f"attachment://{PICTURE}"}
    if rest := alerts[SHOWN:]:
        embeds.append({"description": _cut(words.counted(rest), DESCRIPTION)})
    opening = words.AGAIN if message.again else ""
    return {"content": opening, "embeds": embeds, "allowed_mentions": {"parse": []}}


def _cut(text: str, most: int) -> str:
    """`text` with Discord's markup made harmless, within `most` characters of Discord's count (UTF-16)."""
    shown, left = "", most - 1
    for char in text:
        piece = f"\\{char}" if char in MARKUP else char
        left -= len(piece) + (ord(char) > 0xFFFF)
        if left < 0:
            return f"{shown}…"
        shown += piece
    return shown


def _form(boundary: str, content: bytes, picture: bytes) -> bytes:
    """A form with the message and a file, as RFC 7578 has it."""
    parts = (
        ('name="payload_json"', "application/json", content),
        (f'name="files[0]"; filename="{PICTURE}"', "image/png", picture),
    )
    lines = [
        f"--{boundary}\r\nContent-Disposition: form-data; {name}\r\nContent-Type: {kind}\r\n\r\n".encode() + data
        for name, kind, data in parts
    ]
    return b"\r\n".join([*lines, f"--{boundary}--\r\n".encode()])


def opened(target: str, environ: Mapping[str, str]) -> Channel:
    address, name = secret_address(target, environ, what=NAME)
    return Discord(name, Post(_waiting(address)))


def _waiting(address: Secret) -> Secret:
    """The address with `wait=true`: only then Discord says whether it took the message."""
    parts = urlsplit(address.reveal())
    query = {**dict(parse_qsl(parts.query)), "wait": "true"}
    return Secret(urlunsplit(parts._replace(query=urlencode(query))))
