"""Graders: an OpenAI-compatible endpoint, or files. No redirect is followed, since the key would follow it."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import orjson

from ..errors import BadOrder
from ..records import dataclass, field
from .requests import LARGEST, REPLY, GradingRequest, Unusable

AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)  # may be better the next time
TRIES = 4
LONGEST_WAIT = 30.0  # seconds before the next try, whatever the server asks for


class Grader(Protocol):
    """A model or a folder that is asked to grade."""

    @property
    def name(self) -> str: ...

    def ask(self, request: GradingRequest) -> bytes:
        """Return the raw reply; raise Unusable if there is none."""


@dataclass(frozen=True, slots=True)
class Folder:
    """Replies in a folder, under the names of their requests."""

    place: Path
    name: str = "grades by file"

    def ask(self, request: GradingRequest) -> bytes:
        file = self.place / f"{request.name}.json"
        if not file.is_file() or file.stat().st_size > LARGEST:
            raise Unusable("no reply was given")
        return file.read_bytes()


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *told: object) -> None:
        return None


@dataclass(slots=True)
class Endpoint:
    """An address that requests go to, and the most they may cost. Usable replies are kept in `cache`, so that none is
    paid for twice."""

    address: str
    model: str
    key: str | None = field(default=None, repr=False)
    timeout: float = 120.0
    max_calls: int = 40
    max_tokens: int = 200_000
    cache: Path | None = None
    wait: Callable[[float], None] = time.sleep
    called: int = 0
    spent: int = 0

    def __post_init__(self) -> None:
        parts = urlsplit(self.address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadOrder(
                f"{self.address!r} is not an endpoint.",
                next_step="pass the part before /chat/completions, such as http://localhost:8000/v1",
            )

    @property
    def name(self) -> str:
        return self.model

    def ask(self, request: GradingRequest) -> bytes:
        if self.cache is not None:
            try:
                return Folder(self.cache).ask(request)
            except Unusable:
                pass
        return self._called(request)

    def keep(self, request: GradingRequest, raw: bytes) -> None:
        """Remember a usable reply."""
        if self.cache is not None:
            self.cache.mkdir(parents=True, exist_ok=True)
            part = self.cache / f"{request.name}.part"
            part.write_bytes(raw)
            part.replace(part.with_suffix(".json"))

    def _called(self, request: GradingRequest) -> bytes:
        shaped = True
        for attempt in range(TRIES):
            if self.called >= self.max_calls or self.spent + request.tokens + REPLY > self.max_tokens:
                raise Unusable("the budget is spent")
            self.called += 1
            self.spent += request.tokens
            try:
                reply = self._post(request.body(self.model, shaped=shaped))
            except HTTPError as error:
                error.close()
                if error.code in (400, 422) and shaped:
                    shaped = False  # an older server that knows no schemas: replies are checked here anyway
                    continue
                if error.code not in AGAIN or attempt + 1 == TRIES:
                    raise Unusable(f"the server says {error.code}") from None
                self.wait(_pause(error.headers, attempt))
            except (TimeoutError, URLError, OSError, http.client.HTTPException) as error:
                if attempt + 1 == TRIES:
                    raise Unusable(f"the server cannot be reached ({type(error).__name__})") from None
                self.wait(_pause({}, attempt))
            else:
                self.spent += min(REPLY, len(reply) // 3)
                return reply
        raise Unusable("the server refuses the request")

    def _post(self, body: Mapping[str, Any]) -> bytes:
        headers = {"Content-Type": "application/json", "User-Agent": "leadline"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        local = urlsplit(self.address).hostname in ("localhost", "127.0.0.1", "::1")
        opener = build_opener(_NoRedirect, *([ProxyHandler({})] if local else []))
        post = Request(f"{self.address.rstrip('/')}/chat/completions", orjson.dumps(body), headers)
        begun = time.monotonic()
        with opener.open(post, timeout=self.timeout) as response:
            taken = bytearray()
            while piece := response.read1(65536):
                taken += piece
                if len(taken) > LARGEST:
                    raise Unusable("the reply is too long")
                if time.monotonic() - begun > self.timeout:
                    raise TimeoutError  # a byte now and then keeps a socket busy for ever
            length = response.headers.get("Content-Length")
            if length is not None and length.isdecimal() and len(taken) < int(length):
                raise http.client.IncompleteRead(bytes(taken))
        return bytes(taken)


def _pause(headers: Any, attempt: int) -> float:
    told = headers.get("Retry-After") if headers else None
    asked = float(told) if told is not None and told.isdecimal() else 2.0**attempt
    return min(asked, LONGEST_WAIT)
