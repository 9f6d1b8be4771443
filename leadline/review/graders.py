"""Ask a model, through an OpenAI-compatible endpoint or by files, for grades; take only what was asked for."""

from __future__ import annotations

import http.client
import re
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import orjson

from ..errors import BadOrder
from ..records import dataclass, field
from ..state import replacing
from ..tokens import cost
from ..words.review import GRADER
from .blind import Shown

BATCH = 17  # responses per request: few enough that a model keeps each in mind
GRADES = (0, 1, 2, 3, 4)
REPLY = 2500  # tokens a reply may have
LARGEST = 1 << 20  # bytes of a reply
REDACTED = "[redacted]"
FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)


class Unusable(Exception):
    """Raised if no reply came, or one that is not what was asked for; the text says why."""


@dataclass(frozen=True, slots=True)
class GradingRequest:
    """One batch to grade, named by its content: the same request has the same name and is paid for once."""

    number: int
    text: str  # ids, prompts, and responses as JSON
    ids: tuple[str, ...]

    @property
    def name(self) -> str:
        told = f"{GRADER}\0{self.text}".encode("utf-8", "replace")
        return f"grade-{self.number:02d}-{blake2b(told, digest_size=8).hexdigest()}"

    @property
    def tokens(self) -> int:
        return cost(GRADER) + cost(self.text)

    def body(self, model: str | None = None, *, shaped: bool = True) -> dict[str, Any]:
        """Return the request as an OpenAI-compatible endpoint takes it."""
        body: dict[str, Any] = {
            "messages": [{"role": "system", "content": GRADER}, {"role": "user", "content": self.text}],
            "temperature": 0,
            "max_tokens": REPLY,
        }
        if shaped:
            grade = _object(id={"enum": list(self.ids)}, grade={"enum": list(GRADES)})
            reply = _object(task={"type": "string"}, grades={"type": "array", "items": grade})
            shape = {"name": "grade", "strict": True, "schema": reply}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        return body if model is None else {"model": model, **body}


def grading(shown: Sequence[Shown], redact: Sequence[re.Pattern[str]] = ()) -> tuple[GradingRequest, ...]:
    """Return the responses in batches, without text that a pattern of `redact` matches."""

    def clean(text: str) -> str:
        for pattern in redact:
            text = pattern.sub(REDACTED, text)
        return text.encode("utf-8", "replace").decode()  # a log may hold lone surrogates

    requests = []
    for number, start in enumerate(range(0, len(shown), BATCH), 1):
        batch = [(one.id, one.rollout) for one in shown[start : start + BATCH]]
        answers = [{"id": id, "prompt": clean(one.prompt), "answer": clean(one.output)} for id, one in batch]
        text = orjson.dumps({"answers": answers}).decode()
        requests.append(GradingRequest(number, text, tuple(id for id, _ in batch)))
    return tuple(requests)


def _object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def grades_of(request: GradingRequest, raw: bytes) -> tuple[str, dict[str, float]]:
    """Return the task as the grader understood it, and the grades from 0 to 1: every id once, in the given scale."""
    told = _loaded(_content(raw))
    if not isinstance(told, dict) or set(told) != {"task", "grades"}:
        raise Unusable("not an object with task and grades")
    if not isinstance(told["task"], str) or not isinstance(told["grades"], list):
        raise Unusable("task or grades of a wrong type")
    grades: dict[str, float] = {}
    for entry in told["grades"]:
        if not isinstance(entry, dict) or not {"id", "grade"} <= set(entry):
            raise Unusable("an entry without id or grade")
        name, grade = entry["id"], entry["grade"]
        if not isinstance(name, str) or name not in request.ids or name in grades:
            raise Unusable("an id that was not shown, or twice")
        if isinstance(grade, bool) or not isinstance(grade, int) or grade not in GRADES:
            raise Unusable("a grade outside the scale")
        grades[name] = grade / GRADES[-1]
    if len(grades) < len(request.ids):
        raise Unusable(f"{len(request.ids) - len(grades)} responses were not graded")
    return told["task"], grades


def _content(raw: bytes) -> bytes:
    """Return the reply inside the response of an endpoint; a bare reply as it is, without a code fence."""
    if len(raw) > LARGEST:
        raise Unusable("the reply is too long")
    text = raw.decode("utf-8", "replace")
    if '"choices"' in text:
        told = _loaded(raw)
        try:
            text = told["choices"][0]["message"]["content"]
        except (LookupError, TypeError):
            raise Unusable("a response without a message") from None
        if not isinstance(text, str):
            raise Unusable("a message without text")
    fenced = FENCED.match(text)
    return (fenced[1] if fenced else text).encode("utf-8", "replace")


def _loaded(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise Unusable("not JSON") from None


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
            with replacing(self.cache / f"{request.name}.json") as file:
                file.write(raw)

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
