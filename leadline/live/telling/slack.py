"""Alerts to a Slack channel by an incoming webhook: `slack:$NAME`, where NAME holds the webhook's address.

Text goes as plain text, which Slack neither formats nor turns into mentions or links. Limits are those of Slack's Block
Kit reference: 50 blocks, 150 characters of a header, 3000 of a section. Incoming webhooks take no files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...report.data import dump
from . import words
from .message import Channel, Message
from .posting import Post, secret_address

NAME = "slack"
FORM = "slack:$NAME"

SHOWN = 6  # alerts in full: all blocks together may hold about 13,000 characters
HEADER = 150
SECTION = 2000


@dataclass(frozen=True, slots=True)
class Slack:
    name: str
    post: Post
    most: int = 10_000
    spacing: float = 30.0
    repeats: bool = True
    takes_picture: bool = False

    def tell(self, message: Message) -> None:
        self.post.send(dump(payload(message), lines=True).encode(), {"Content-Type": "application/json"})


def payload(message: Message) -> dict[str, object]:
    """The message in Slack's form."""
    alerts = message.gravest
    blocks: list[dict[str, object]] = [_section(words.AGAIN)] if message.again else []
    for alert in alerts[:SHOWN]:
        blocks.append({"type": "header", "text": _plain(words.clipped(words.title(alert), HEADER))})
        blocks.append(_section(words.body(alert, bullet="• ")))
    if rest := alerts[SHOWN:]:
        blocks.append(_section(words.counted(rest)))
    return {
        "text": _escaped(words.subject(message)),  # what a notification shows
        "mrkdwn": False,
        "unfurl_links": False,
        "unfurl_media": False,
        "blocks": blocks,
    }


def _section(text: str) -> dict[str, object]:
    return {"type": "section", "text": _plain(words.clipped(text, SECTION))}


def _plain(text: str) -> dict[str, object]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _escaped(text: str) -> str:
    """Slack reads these three characters as markup even in plain messages: `<!channel>` calls everyone."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def opened(target: str, environ: Mapping[str, str]) -> Channel:
    address, name = secret_address(target, environ, what=NAME)
    return Slack(name, Post(address))
