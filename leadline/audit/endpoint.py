"""An OpenAI-compatible endpoint over plain HTTP: timeouts, retries, a budget; no redirect is followed, since the key
would follow it."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener
from urllib.request import Request as HttpRequest

import orjson

from ..errors import BadOrder
from .answers import LARGEST
from .requests import REPLY, Request

AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)  # may be better the next time
TRIES = 4
LONGEST_WAIT = 30.0  # seconds before the next try, whatever the server asks for


class NoAnswer(Exception):
    """No answer could be had; the text says why."""


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *told: object) -> None:
        return None


@dataclass(slots=True)
class Endpoint:
    """Where requests go, and what they may cost."""

    address: str
    model: str
    key: str | None = field(default=None, repr=False)
    timeout: float = 120.0
    calls: int = 40
    tokens: int = 200_000
    wait: Callable[[float], None] = time.sleep
    called: int = 0
    spent: int = 0

    def __post_init__(self) -> None:
        parts = urlsplit(self.address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadOrder(
                f"{self.address!r} is no address of an endpoint.",
                tried="to read it as http:// or https://",
                next_step="pass the part before /chat/completions, such as http://localhost:8000/v1",
            )

    @property
    def name(self) -> str:
        return f"{self.model} at {self.address}"

    def ask(self, request: Request) -> bytes:
        """The raw response to a request."""
        shaped = True
        for attempt in range(TRIES):
            if self.called >= self.calls or self.spent + request.tokens + REPLY > self.tokens:
                raise NoAnswer("the budget is spent")
            self.called += 1
            self.spent += request.tokens
            try:
                answer = self._post(request.body(self.model, shaped=shaped))
            except HTTPError as error:
                error.close()
                if error.code in (400, 422) and shaped:
                    shaped = False  # an older server that knows no schemas: validation is ours anyhow
                    continue
                if error.code not in AGAIN or attempt + 1 == TRIES:
                    raise NoAnswer(f"the server says {error.code}") from None
                self.wait(_pause(error.headers, attempt))
            except (TimeoutError, URLError, OSError, http.client.HTTPException) as error:
                if attempt + 1 == TRIES:
                    raise NoAnswer(f"the server cannot be reached ({type(error).__name__})") from None
                self.wait(_pause({}, attempt))
            else:
                self.spent += REPLY if len(answer) > 4 * REPLY else len(answer) // 3
                return answer
        raise NoAnswer("the server takes no such request")

    def _post(self, body: Mapping[str, Any]) -> bytes:
        headers = {"Content-Type": "application/json", "User-Agent": "leadline"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        local = urlsplit(self.address).hostname in ("localhost", "127.0.0.1", "::1")
        opener = build_opener(_NoRedirect, *([ProxyHandler({})] if local else []))
        post = HttpRequest(f"{self.address.rstrip('/')}/chat/completions", orjson.dumps(body), headers)
        begun = time.monotonic()
        with opener.open(post, timeout=self.timeout) as response:
            taken = bytearray()
            while piece := response.read1(65536):
                taken += piece
                if len(taken) > LARGEST:
                    raise NoAnswer("the answer is longer than one can be")
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
