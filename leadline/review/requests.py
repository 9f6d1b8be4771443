"""Grading requests for a model or a person, and what came back, accepted only as far as it was asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import orjson

from ..records import dataclass
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
class Redaction:
    """Patterns of text that is not sent."""

    patterns: tuple[re.Pattern[str], ...] = ()

    def clean(self, text: str) -> str:
        for pattern in self.patterns:
            text = pattern.sub(REDACTED, text)
        return text.encode("utf-8", "replace").decode()  # a log may hold lone surrogates


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


def grading(shown: Sequence[Shown], redaction: Redaction) -> tuple[GradingRequest, ...]:
    """Return the responses in batches."""
    batches = [shown[start : start + BATCH] for start in range(0, len(shown), BATCH)]
    return tuple(_request(number, batch, redaction) for number, batch in enumerate(batches, 1))


def _request(number: int, batch: Sequence[Shown], redaction: Redaction) -> GradingRequest:
    clean = redaction.clean
    answers = [
        {"id": shown.id, "prompt": clean(shown.rollout.prompt), "answer": clean(shown.rollout.output)}
        for shown in batch
    ]
    return GradingRequest(number, orjson.dumps({"answers": answers}).decode(), tuple(shown.id for shown in batch))


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
