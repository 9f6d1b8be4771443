"""Check who may ask, and say what a browser may do with the answer: before every page, and before the MCP server.

A page on loopback can be reached by any page in the user's browser: by a name that was rebound (hence the exact Host),
or by a form of a foreign page (hence the Origin and the token of every form).
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import socket
from collections.abc import Awaitable, Callable, Collection, MutableMapping, Sequence
from contextlib import suppress
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from ..errors import BadOrder
from ..records import dataclass, field
from ..words.serve import NOT_SIGNED_IN, ONLY_FORMS, OTHER_PAGE, UNKNOWN_PAGE, not_called_so

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "leadline"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
WILDCARDS = ("0.0.0.0", "::")
SHORTEST_TOKEN = 16
SAFE = ("GET", "HEAD")
RULES = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # without any, a browser calls the origin of our own forms null
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


@dataclass(frozen=True, slots=True)
class Doors:
    """The conditions for entry."""

    hosts: frozenset[str]  # exactly as a browser sends them, with the port
    token: str | None = None  # demanded of everyone where there is one
    may_act: bool = False
    programs: frozenset[str] = frozenset()  # paths that programs ask, which have no Origin
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @property
    def origins(self) -> frozenset[str]:
        return frozenset(f"{scheme}://{host}" for scheme in ("http", "https") for host in self.hosts)

    @property
    def cookie(self) -> str:
        """Return the browser's cookie: made from the token, and not the token itself."""
        return hmac.new(self.secret, f"cookie {self.token}".encode(), hashlib.sha256).hexdigest()

    @property
    def form_token(self) -> str:
        """Return the token in every form of this page, which no other page can know."""
        return hmac.new(self.secret, b"form", hashlib.sha256).hexdigest()


def is_loopback(host: str) -> bool:
    """
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def names_of(host: str) -> tuple[str, ...]:
    """Return what others can call a server that listens at `host`: for a wildcard, this machine's name and addresses,
    those that other machines reach first."""
    if host not in WILDCARDS:
        return (f"[{host}]" if ":" in host else host,)
    name = socket.gethostname()
    found = [name, *_addresses(name)]
    return tuple(f"[{one}]" if ":" in one else one for one in dict.fromkeys(found) if not is_loopback(one))


def _addresses(name: str) -> list[str]:
    """Return the addresses of this machine, the one on the default route first."""
    found = []
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # a documentation address: nothing is sent
        found.append(str(probe.getsockname()[0]))
    with suppress(OSError):
        found += [str(entry[4][0]).partition("%")[0] for entry in socket.getaddrinfo(name, None)]
    return found


def doors_for(
    host: str,
    port: int,
    names: Sequence[str],
    *,
    token: str | None,
    may_act: bool = False,
    programs: Collection[str] = (),
) -> Doors:
    """Return who may come: on loopback those on this machine, else who has the token; one is made if none is given."""
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise BadOrder(
            f"The access token is too short: {len(token)} characters.",
            next_step=f"use at least {SHORTEST_TOKEN}, such as {secrets.token_urlsafe(24)}",
        )
    called = (*LOOPBACK, *names_of(host))
    hosts = {f"{name}:{port}" for name in called} | set(names) | {f"{name}:{port}" for name in names}
    if port in (80, 443):
        hosts |= set(called)
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    return Doors(frozenset(hosts), token, may_act, frozenset(programs))


class Guard:
    """ASGI app that refuses what may not come in, and tells browsers what they may do with an answer."""

    def __init__(self, app: App, doors: Doors) -> None:
        self._app, self._doors = app, doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        refused = self._refused(scope, headers)
        if refused is not None:
            await _answer(send, *refused)
            return
        if (token := self._offered(scope)) is not None:
            if not hmac.compare_digest(token.encode(), (self._doors.token or "").encode()):
                await _answer(send, 403, NOT_SIGNED_IN)
                return
            cookie = f"{COOKIE}={self._doors.cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000"
            await _answer(send, 303, "", (b"location", b"/"), (b"set-cookie", cookie.encode()))
            return
        if self._doors.token is not None and not self._known(headers):
            await _answer(send, 401, NOT_SIGNED_IN)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                named = {key.lower() for key, _ in message["headers"]}
                own = [(b"content-security-policy", RULES.encode()), (b"x-frame-options", b"DENY"), *HEADERS]
                message["headers"] = [*message["headers"], *(one for one in own if one[0] not in named)]
            await send(message)

        await self._app(scope, receive, sent)

    def _refused(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        if headers.get("host", "") not in self._doors.hosts:
            return 421, not_called_so(headers.get("host", ""))
        origin = headers.get("origin")
        if origin is not None and origin not in self._doors.origins:
            return 403, OTHER_PAGE
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return 403, OTHER_PAGE
        if scope["method"] in SAFE or self._from_program(scope, headers):
            return None
        if origin is None and headers.get("sec-fetch-site") != "same-origin" and "authorization" not in headers:
            return 403, UNKNOWN_PAGE
        if scope["method"] != "POST":
            return 405, ONLY_FORMS
        return None

    def _from_program(self, scope: Scope, headers: dict[str, str]) -> bool:
        """No form of a foreign page sends JSON or deletes: a browser would have to ask first, and is refused."""
        if scope["path"] not in self._doors.programs or headers.get("sec-fetch-site", "none") == "cross-site":
            return False
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        return scope["method"] == "DELETE" or (scope["method"] == "POST" and kind == "application/json")

    def _offered(self, scope: Scope) -> str | None:
        """Return the token of a first visit, which is in the address once and never again."""
        if self._doors.token is None or scope["path"] != "/" or scope["method"] != "GET":
            return None
        return next(iter(parse_qs(scope["query_string"].decode("latin-1")).get("token", ())), None)

    def _known(self, headers: dict[str, str]) -> bool:
        bearer = headers.get("authorization", "")
        if bearer.startswith("Bearer "):
            return hmac.compare_digest(bearer[7:].encode(), (self._doors.token or "").encode())
        kept: SimpleCookie = SimpleCookie()
        try:
            kept.load(headers.get("cookie", ""))
        except Exception:  # no cookie of ours
            return False
        return COOKIE in kept and hmac.compare_digest(kept[COOKIE].value.encode(), self._doors.cookie.encode())


async def _answer(send: Send, status: int, says: str, *headers: tuple[bytes, bytes]) -> None:
    body = says.encode()
    plain = (b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())
    frame = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"), (b"x-frame-options", b"DENY")
    await send({"type": "http.response.start", "status": status, "headers": [*plain, *frame, *HEADERS, *headers]})
    await send({"type": "http.response.body", "body": body})
