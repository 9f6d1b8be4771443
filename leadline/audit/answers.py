"""What came back, taken only as far as it is what was asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import orjson

from ..facts.audit import Claim
from ..report.plain import line
from .requests import ANSWERS, GRADES, MARKS, Request

LARGEST = 1 << 20  # bytes
TASK = 300  # characters
FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)


class Unusable(ValueError):
    """An answer that is not what was asked for; the text says why."""


@dataclass(frozen=True, slots=True)
class Graded:
    """The grades of one request by id, 0 to 1."""

    task: str
    grades: dict[str, float] = field(default_factory=dict)
    marks: dict[str, tuple[str, ...]] = field(default_factory=dict)


def content_of(raw: bytes) -> bytes:
    """The answer inside what an endpoint or a person gave: the whole response, or the bare object."""
    if len(raw) > LARGEST:
        raise Unusable("longer than an answer can be")
    try:
        told = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw  # the bare answer in a fence, or none: its reader says which
    if isinstance(told, dict) and isinstance(told.get("choices"), list):
        try:
            content = told["choices"][0]["message"]["content"]
        except (LookupError, TypeError):
            raise Unusable("a response without a message") from None
        if not isinstance(content, str):
            raise Unusable("a message without text")
        return content.encode("utf-8", "replace")
    return raw


def grades_of(request: Request, raw: bytes) -> Graded:
    """The grades of a request; every id asked for, each once, in the closed scale."""
    told = _answer(raw, ("task", "grades"))
    if not isinstance(told["task"], str) or not isinstance(told["grades"], list):
        raise Unusable("task or grades of a wrong type")
    grades: dict[str, float] = {}
    marks: dict[str, tuple[str, ...]] = {}
    for entry in told["grades"]:
        name, grade = _field(entry, "id"), _field(entry, "grade")
        marked = entry.get("marks", [])
        if not isinstance(name, str) or name not in request.ids:
            raise Unusable("a grade of something that was not shown")
        if name in grades:
            raise Unusable("two grades of one answer")
        if isinstance(grade, bool) or not isinstance(grade, int) or grade not in GRADES:
            raise Unusable("a grade outside of the scale")
        if not isinstance(marked, list) or any(mark not in MARKS for mark in marked):
            raise Unusable("a mark that does not exist")
        grades[name] = grade / GRADES[-1]
        marks[name] = tuple(dict.fromkeys(marked))
    if len(grades) < len(request.ids):
        raise Unusable(f"{len(request.ids) - len(grades)} answers were not graded")
    return Graded(line(told["task"], TASK), grades, marks)


def claims_of(request: Request, raw: bytes) -> tuple[Claim, ...]:
    """What is said of our findings; every id that is cited has been shown."""
    told = _answer(raw, ("claims",))
    if not isinstance(told["claims"], list):
        raise Unusable("claims of a wrong type")
    claims: dict[str, Claim] = {}
    for entry in told["claims"]:
        name, answer, cited = _field(entry, "finding"), _field(entry, "answer"), _field(entry, "evidence")
        if name not in request.ids or name in claims:
            raise Unusable("a claim that was not made, or twice")
        if answer not in ANSWERS:
            raise Unusable("an answer that does not exist")
        if not isinstance(cited, list) or any(mark not in request.citable for mark in cited if isinstance(mark, str)):
            raise Unusable("evidence that was not shown")
        if not all(isinstance(mark, str) for mark in cited):
            raise Unusable("evidence of a wrong type")
        claims[name] = Claim(name, answer, tuple(dict.fromkeys(cited)))
    return tuple(claims[name] for name in request.ids if name in claims)


def _answer(raw: bytes, keys: tuple[str, ...]) -> dict[str, Any]:
    text = content_of(raw).decode("utf-8", "replace")
    if fenced := FENCED.match(text):
        text = fenced[1]
    told = _parsed(text.encode())
    if not isinstance(told, dict) or set(told) != set(keys):
        raise Unusable(f"not an object with {' and '.join(keys)}")
    return told


def _parsed(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise Unusable("no JSON") from None


def _field(entry: object, name: str) -> Any:
    if not isinstance(entry, dict) or name not in entry:
        raise Unusable(f"an entry without {name}")
    return entry[name]
