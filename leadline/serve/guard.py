"""Check who may ask, and say what a browser may do with the answer: before every page, and before the MCP server.

A page on loopback can be reached by any page in the user's browser: by a name that was rebound (hence the exact Host),
or by a form of a foreign page (hence the Origin: every browser says it with a form, and what says none is refused).
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import BadOrder
from ..records import dataclass, field
from ..words.serve import NOT_SIGNED_IN, OTHER_PAGE, UNKNOWN_PAGE, not_called_so

COOKIE = "leadline"
MONTH = 30 * 86400
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
WILDCARDS = ("0.0.0.0", "::")
SHORTEST_TOKEN = 16
SAFE = ("GET", "HEAD")
HEADERS = {  # of every answer that has no other
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # without any, a browser calls the origin of our own forms null
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Doors:
    """The conditions for entry."""

    hosts: frozenset[str]  # exactly as a browser sends them, with the port
    token: str | None = None  # demanded of everyone where there is one
    may_act: bool = False
    cookie: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)  # of whoever showed the token once

    @property
    def origins(self) -> frozenset[str]:
        return frozenset(f"{scheme}://{host}" for scheme in ("http", "https") for host in self.hosts)


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
    return Doors(frozenset(hosts), token, may_act)


class Guard:
    """ASGI app that refuses what may not come in, and tells browsers what they may do with an answer."""

    def __init__(self, app: ASGIApp, doors: Doors) -> None:
        self._app, self._doors = app, doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, rule in HEADERS.items():
                    headers.setdefault(name, rule)
            await send(message)

        await (self._answer(Request(scope)) or self._app)(scope, receive, sent)

    def _answer(self, request: Request) -> Response | None:
        """Return the answer to a request that may not come in, or to a first visit; None: it may come in."""
        refused = self._refused(request.method, request.headers)
        if refused is not None:
            return PlainTextResponse(refused[1], refused[0])
        token, cookie = self._doors.token, self._doors.cookie
        if token is None:
            return None
        if request.scope["path"] == "/" and request.method == "GET" and "token" in request.query_params:
            # The token of a first visit is in the address once and never again.
            if not _same(request.query_params["token"], token):
                return PlainTextResponse(NOT_SIGNED_IN, 403)
            answer = RedirectResponse("/", 303)
            answer.set_cookie(COOKIE, cookie, max_age=MONTH, httponly=True, samesite="strict")
            return answer
        bearer = request.headers.get("authorization", "")
        if bearer.startswith("Bearer "):
            known = _same(bearer[7:], token)
        else:
            known = _same(request.cookies.get(COOKIE, ""), cookie)
        return None if known else PlainTextResponse(NOT_SIGNED_IN, 401)

    def _refused(self, method: str, headers: Headers) -> tuple[int, str] | None:
        host, origin, site = headers.get("host", ""), headers.get("origin"), headers.get("sec-fetch-site")
        if host not in self._doors.hosts:
            return 421, not_called_so(host)
        if origin is not None and origin not in self._doors.origins:
            return 403, OTHER_PAGE
        if site == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return 403, OTHER_PAGE
        if method in SAFE or origin is not None or site == "same-origin" or "authorization" in headers:
            return None
        # No form of a foreign page sends JSON or deletes: a browser would have to ask first, and is refused.
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        return None if method == "DELETE" or (method == "POST" and kind == "application/json") else (403, UNKNOWN_PAGE)


def _same(told: str, secret: str) -> bool:
    return hmac.compare_digest(told.encode("utf-8", "replace"), secret.encode())
