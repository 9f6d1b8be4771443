"""Send alerts by HTTP POST: `webhook:URL`, `webhook:$NAME`, `slack:$NAME`, `discord:$NAME`.

No redirect is followed, and of an answer only its status and a little text is read. The address is a secret: it appears
in no error. A webhook request carries its key as `Idempotency-Key`, so that a receiver can drop duplicates.

Slack (Block Kit): 50 blocks, 150 characters of a header, 3000 of a section, about 13,000 in all; plain text, which it
neither formats nor turns into mentions. Discord: 10 embeds and 6000 characters of them, 256 of a title; mentions off.
"""

from __future__ import annotations

import base64
import re
import ssl
import urllib.request
from collections.abc import Callable, Mapping
from urllib.parse import unquote, urlsplit, urlunsplit

from ... import __version__
from ...errors import BadOrder
from ...records import dataclass
from ...report.data import dump
from ...report.palette import SEVERITIES
from . import words
from .message import Channel, Message, Undelivered, broken_off, for_machines, short_name, within

PATIENCE = 20.0  # seconds for connecting, sending and the answer
WAIT_FOR_A_BYTE = 10.0
ENOUGH = 512  # bytes of an answer
PLAIN_WORDS = re.compile(rb"[a-z][a-z_ ]{2,59}")  # such as Slack's "channel_is_archived": too plain to be a secret
UNFIT = (400, 413, 415, 422)  # the message is at fault; other refusals may pass
PRINTED = re.compile(r"[!-~]+")  # the characters an address may have
GATEWAYS = (502, 504)  # a proxy answered; the receiver may have the message
LONGEST_WAIT = 3600.0  # seconds that a receiver may make us wait
HEADER, SECTION, SLACK_SHOWN = 150, 2000, 6  # characters, characters, alerts in full
TITLE, DESCRIPTION, DISCORD_SHOWN = 120, 900, 5  # 5 x (120 + 900) and a line fit into 6000
MARKUP = frozenset("\\*_~`|<>#[]()@:-")
PICTURE = "run.png"
JSON = {"Content-Type": "application/json"}

Body = tuple[bytes, dict[str, str]]  # content and headers


def webhook_body(message: Message) -> Body:
    """Return the JSON for programs."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": f'"{message.key}"'}
    return dump(for_machines(message), lines=True).encode(), headers


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


@dataclass(frozen=True, slots=True)
class Service:
    """A kind of receiver."""

    body: Callable[[Message], Body]
    is_secret: bool = True  # whoever has the address can post: it must come from the environment, over https
    query: str = ""  # added to the address
    most: int = 10_000
    spacing: float = 30.0
    takes_picture: bool = False


SERVICES = {
    # No picture for a webhook: the same alerts must give the same request.
    "webhook": Service(webhook_body, is_secret=False, most=100, spacing=0.0),
    "slack": Service(lambda message: (dump(slack_payload(message), lines=True).encode(), JSON)),
    # Only with wait=true Discord confirms that it took the message.
    "discord": Service(discord_body, query="wait=true", takes_picture=True),
}


def opened(kind: str, target: str, environ: Mapping[str, str]) -> Channel:
    """Return the channel that posts to `target`, an address or `$NAME`. Raises BadOrder."""
    service = SERVICES[kind]
    address, name = _address(kind, target, environ, is_secret=service.is_secret)
    query = f"{'&' if urlsplit(address).query else '?'}{service.query}" if service.query else ""
    post = Post(address + query)
    return Channel(
        name,
        lambda message: post.send(*service.body(message)),
        most=service.most,
        spacing=service.spacing,
        takes_picture=service.takes_picture,
    )


class Post:
    """An address to post to."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.host = parts.hostname or ""  # the only part of the address that is ever shown
        self._address = address
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler(), urllib.request.HTTPHandler()]
        if parts.scheme == "https":
            handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context()))
        self._opener = urllib.request.OpenerDirector()  # without a handler of redirects
        for handler in handlers:
            self._opener.add_handler(handler)

    def send(self, content: bytes, headers: Mapping[str, str]) -> None:
        """Post it. Raises Undelivered."""
        url, credentials = _without_credentials(self._address)
        headers = {"User-Agent": f"leadline/{__version__}", **credentials, **headers}
        try:
            status, after, said = within(PATIENCE, lambda: self._answer(url, content, headers))
        except Exception as error:  # its text may quote the address
            what, unsure = broken_off(error)
            raise Undelivered(f"{self.host} {what}", unsure=unsure) from None
        if not 200 <= status < 300:
            raise self._refused(status, after, said)

    def _answer(self, url: str, content: bytes, headers: Mapping[str, str]) -> tuple[int, str | None, bytes]:
        request = urllib.request.Request(url, data=content, headers=dict(headers), method="POST")
        with self._opener.open(request, timeout=WAIT_FOR_A_BYTE) as answer:
            said = b"" if 200 <= answer.status < 300 else answer.read(ENOUGH)
            return answer.status, answer.headers.get("Retry-After"), said

    def _refused(self, status: int, after: str | None, said: bytes) -> Undelivered:
        if 300 <= status < 400:
            return Undelivered(f"{self.host} answers {status}: it points to another address, which is not followed")
        plain = PLAIN_WORDS.fullmatch(said.strip())
        reason = plain[0].decode() if plain else ""
        quoted = f" ({reason})" if reason and reason not in self._address else ""
        words = f"{self.host} answers {status}{quoted}"
        return Undelivered(words, lasting=status in UNFIT, unsure=status in GATEWAYS, after=_seconds(after))


def _address(kind: str, target: str, environ: Mapping[str, str], *, is_secret: bool) -> tuple[str, str]:
    """Return the address that `target` is or names, and a channel name that does not reveal it."""
    named = target.startswith("$")
    if is_secret and not named:
        raise BadOrder(
            f"don't pass the {kind} URL on the command line; `ps` shows it.",
            next_step=f"--notify '{kind}:$NAME' with the URL in $NAME (single quotes)",
        )
    address = environ.get(target[1:], "").strip() if named else target
    if named and not address:
        raise BadOrder(
            f"no URL for {kind}: the environment variable {target[1:]} is empty.",
            next_step=f"export {target[1:]}='https://...' before you start leadline",
        )
    try:
        parts = urlsplit(address)
        host = parts.hostname if parts.scheme in ("http", "https") and parts.port != 0 else None
    except ValueError:
        host = None
    if not host or not PRINTED.fullmatch(address):
        raise BadOrder(
            f"{f'The environment variable {target[1:]} holds' if named else 'After --notify there is'}"
            f" no address for {kind}.",
            next_step=f"pass an address such as https://example.org/hook, best as {kind}:$NAME from the environment",
        ) from None
    if is_secret and parts.scheme != "https" and host not in ("localhost", "127.0.0.1", "::1"):
        raise BadOrder(
            f"The address for {kind} is not encrypted: anyone who sees it on the network could post there.",
            next_step="pass its https address",
        )
    return address, f"{kind}:{target if named else f'{host}#{short_name(target)}'}"


def _without_credentials(url: str) -> tuple[str, dict[str, str]]:
    """Return the address without its user and password, and the header that carries them."""
    parts = urlsplit(url)
    if parts.username is None:
        return url, {}
    both = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return bare, {"Authorization": f"Basic {base64.b64encode(both).decode()}"}


def _seconds(after: str | None) -> float | None:
    """Parse a Retry-After header in seconds; a date would trust two clocks."""
    try:
        seconds = float(after or "nan")
    except ValueError:
        return None
    return min(seconds, LONGEST_WAIT) if seconds >= 0 else None
