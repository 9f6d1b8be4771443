"""Messages in the forms of Slack and Discord, within their documented limits and without their markup.

Slack (Block Kit): 50 blocks, 150 characters of a header, 3000 of a section, about 13,000 in all; plain text, which it
neither formats nor turns into mentions. Discord: 10 embeds and 6000 characters of them, 256 of a title; mentions off.
"""

from __future__ import annotations

from ...report.data import dump
from ...report.palette import SEVERITIES
from . import words
from .message import Message

HEADER, SECTION, SLACK_SHOWN = 150, 2000, 6  # characters, characters, alerts in full
TITLE, DESCRIPTION, DISCORD_SHOWN = 120, 900, 5  # 5 x (120 + 900) and a line fit into 6000
MARKUP = frozenset("\\*_~`|<>#[]()@:-")
PICTURE = "run.png"
JSON = {"Content-Type": "application/json"}


def slack_payload(message: Message) -> dict[str, object]:
    """Return the message in Slack's form. Incoming webhooks take no files."""
    alerts = message.gravest
    blocks: list[dict[str, object]] = [_section(words.AGAIN)] if message.again else []
    for alert in alerts[:SLACK_SHOWN]:
        blocks.append({"type": "header", "text": _plain(words.clipped(words.title(alert), HEADER))})
        blocks.append(_section(words.body(alert, bullet="• ")))
    if rest := alerts[SLACK_SHOWN:]:
        blocks.append(_section(words.counted(rest)))
    return {
        "text": words.escaped(words.subject(message)),  # for notifications; `<!channel>` would call everyone
        "mrkdwn": False,
        "unfurl_links": False,
        "unfurl_media": False,
        "blocks": blocks,
    }


def _section(text: str) -> dict[str, object]:
    return {"type": "section", "text": _plain(words.clipped(text, SECTION))}


def _plain(text: str) -> dict[str, object]:
    return {"type": "plain_text", "text": text, "emoji": False}


def discord_body(message: Message) -> tuple[bytes, dict[str, str]]:
    """Return the payload, as a form (RFC 7578) if a picture goes along."""
    content = dump(discord_payload(message), lines=True).encode()
    if message.picture is None:
        return content, JSON
    boundary = f"leadline-{message.key}"
    parts = (
        ('name="payload_json"', "application/json", content),
        (f'name="files[0]"; filename="{PICTURE}"', "image/png", message.picture),
    )
    lines = [
        f"--{boundary}\r\nContent-Disposition: form-data; {name}\r\nContent-Type: {kind}\r\n\r\n".encode() + data
        for name, kind, data in parts
    ]
    form = b"\r\n".join([*lines, f"--{boundary}--\r\n".encode()])
    return form, {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def discord_payload(message: Message) -> dict[str, object]:
    """Return the message in Discord's form."""
    alerts = message.gravest
    embeds: list[dict[str, object]] = [
        {
            "title": _cut(words.title(alert), TITLE),
            "description": _cut(words.body(alert, bullet="• "), DESCRIPTION),
            "color": int(SEVERITIES[alert.severity].light[1:], 16),
        }
        for alert in alerts[:DISCORD_SHOWN]
    ]
    if message.picture is not None:
        embeds[0]["image"] = {"url": f"attachment://{PICTURE}"}
    if rest := alerts[DISCORD_SHOWN:]:
        embeds.append({"description": _cut(words.counted(rest), DESCRIPTION)})
    return {"content": words.AGAIN if message.again else "", "embeds": embeds, "allowed_mentions": {"parse": []}}


def _cut(text: str, most: int) -> str:
    """Return `text` with Discord's markup escaped, within `most` UTF-16 units."""
    shown, left = "", most - 1
    for char in text:
        piece = f"\\{char}" if char in MARKUP else char
        left -= len(piece) + (ord(char) > 0xFFFF)
        if left < 0:
            return f"{shown}…"
        shown += piece
    return shown
