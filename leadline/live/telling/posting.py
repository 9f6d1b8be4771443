"""Send alerts by HTTP POST: `webhook:URL`, `webhook:$NAME`, `slack:$NAME`, `discord:$NAME`.

No redirect is followed, and of an answer only its status and a little text is read. The address is a secret: it appears
in no error. A webhook request carries its key as `Idempotency-Key`, so that a receiver can drop duplicates.

Slack (Block Kit) takes 50 blocks, 3000 characters of a section, about 13,000 in all; plain text, which it neither
formats nor turns into mentions. Discord takes 10 embeds and 6000 characters of them; its markup is escaped, mentions
are off.
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
from .message import (
    Channel,
    Message,
    Undelivered,
    blocks,
    broken_off,
    clipped,
    escaped,
    for_machines,
    short_name,
    subject,
    within,
)

PATIENCE = 20.0  # seconds for connecting, sending and the answer
WAIT_FOR_A_BYTE = 10.0
ENOUGH = 512  # bytes of an answer
PLAIN_WORDS = re.compile(rb"[a-z][a-z_ ]{2,59}")  # such as Slack's "channel_is_archived": too plain to be a secret
UNFIT = (400, 413, 415, 422)  # the message is at fault; other refusals may pass
PRINTED = re.compile(r"[!-~]+")  # the characters an address may have
LONGEST_WAIT = 3600.0  # seconds that a receiver may make us wait
SHOWN = 5  # alerts in full in a chat
SECTION, DESCRIPTION = 2000, 900  # characters of each, in Slack and in Discord
MARKUP = frozenset("\\*_~`|<>#[]()@:-")


def slack_payload(message: Message) -> dict[str, object]:
    """Return the message in Slack's form."""
    texts = [clipped(text, SECTION) for text in blocks(message, SHOWN)]
    return {
        "text": escaped(subject(message)),  # for notifications; `<!channel>` would call everyone
        "mrkdwn": False,
        "unfurl_links": False,
        "unfurl_media": False,
        "blocks": [{"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}} for text in texts],
    }


def discord_payload(message: Message) -> dict[str, object]:
    """Return the message in Discord's form."""
    embeds = [{"description": _cut(text, DESCRIPTION)} for text in blocks(message, SHOWN)]
    return {"embeds": embeds, "allowed_mentions": {"parse": []}}


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

    payload: Callable[[Message], dict[str, object]]  # what is posted, as JSON
    is_secret: bool = True  # whoever has the address can post: it must come from the environment, over https
    query: str = ""  # added to the address
    most: int = 10_000
    spacing: float = 30.0


SERVICES = {
    "webhook": Service(for_machines, is_secret=False, most=100, spacing=0.0),
    "slack": Service(slack_payload),
    "discord": Service(discord_payload, query="wait=true"),  # only so it confirms that it took the message
}


def opened(kind: str, target: str, environ: Mapping[str, str]) -> Channel:
    """Return the channel that posts to `target`, an address or `$NAME`. Raises BadOrder."""
    service = SERVICES[kind]
    address, name = _address(kind, target, environ, is_secret=service.is_secret)
    if service.query:
        address += f"{'&' if urlsplit(address).query else '?'}{service.query}"
    encrypted = urllib.request.HTTPSHandler(context=ssl.create_default_context())
    opener = urllib.request.OpenerDirector()  # without a handler of redirects
    for handler in (urllib.request.ProxyHandler(), urllib.request.HTTPHandler(), encrypted):
        opener.add_handler(handler)

    def tell(message: Message) -> None:
        headers = {"Content-Type": "application/json", "Idempotency-Key": f'"{message.key}"'}
        _post(opener, address, dump(service.payload(message), lines=True).encode(), headers)

    return Channel(name, tell, most=service.most, spacing=service.spacing)


def _post(opener: urllib.request.OpenerDirector, address: str, content: bytes, headers: Mapping[str, str]) -> None:
    """Post to an address. Raises Undelivered."""
    host = urlsplit(address).hostname  # the only part of the address that is ever shown
    url, credentials = _without_credentials(address)
    headers = {"User-Agent": f"leadline/{__version__}", **credentials, **headers}

    def ask() -> tuple[int, str | None, bytes]:
        request = urllib.request.Request(url, data=content, headers=headers, method="POST")
        with opener.open(request, timeout=WAIT_FOR_A_BYTE) as answer:
            said = b"" if 200 <= answer.status < 300 else answer.read(ENOUGH)
            return answer.status, answer.headers.get("Retry-After"), said

    try:
        status, after, said = within(PATIENCE, ask)
    except Exception as error:  # its text may quote the address
        raise Undelivered(f"{host} {broken_off(error)}") from None
    if 300 <= status < 400:
        raise Undelivered(f"{host} answers {status}: it points to another address, which is not followed")
    if not 200 <= status < 300:
        plain = PLAIN_WORDS.fullmatch(said.strip())
        quoted = f" ({plain[0].decode()})" if plain and plain[0].decode() not in address else ""
        raise Undelivered(f"{host} answers {status}{quoted}", lasting=status in UNFIT, after=_seconds(after))


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
