"""Have a model read the blind sheet and grade its stretches, through an OpenAI-compatible endpoint.

It is asked twice: about other samples, in another order, and without steps and scores. Beside each stretch, under a
letter of its own, stand some of its responses under prompts that are not theirs: what is graded well must be graded
worse there. A review comes of it only if both replies say the same by the rule for all grades.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from string import ascii_uppercase
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import orjson

from ..draws import spread
from ..errors import BadOrder, LeadlineError
from ..records import dataclass, replace
from ..run import Grade, Review, Rollout, Run
from ..tokens import cost, cut
from ..words import review as words
from .choose import BLIND, Sheet, draw, prompt_room
from .grades import BAD, decided, dropped, sheet_to_read

CONTROLS = 3  # responses of each stretch that are shown under other prompts
LARGEST = 1 << 20  # bytes of a reply
REDACTED = "[redacted]"

Reader = Callable[[str], str]  # from what is asked to the reply
Marks = Sequence[float | None]  # by stretch


@dataclass(frozen=True, slots=True)
class BlindQuestion:
    """The stretches as a model is shown them."""

    text: str  # letters with prompts and responses, as JSON
    order: tuple[int, ...]  # number of the stretch under each letter; from their count on those of their controls
    responses: int

    @property
    def tokens(self) -> int:
        return cost(words.GRADER) + cost(self.text)


def questions(run: Run, redact: Sequence[re.Pattern[str]] = ()) -> tuple[BlindQuestion, ...]:
    """Return what is asked, without text that a pattern of `redact` matches. Raises if every prompt is the same."""
    sheet = sheet_to_read(run, blind=2 * BLIND)
    stretches = [part.highest for part in sheet.stretches]
    prompts = list(dict.fromkeys(one.prompt for part in stretches for one in part))
    if len(prompts) < 2:
        raise _unused(words.ONE_PROMPT)
    key = b"".join(draw(one) for part in stretches for one in part)
    order = sorted(range(2 * len(stretches)), key=lambda place: blake2b(key + bytes([place])).digest())

    def shown(text: str, room: int) -> str:
        for pattern in redact:
            text = pattern.sub(REDACTED, text)
        return cut(text.encode("utf-8", "replace").decode().strip(), room)  # a log may hold lone surrogates

    asked = []
    for half, turn in enumerate((order, order[::-1])):
        parts = [part[half::2] or part for part in stretches]
        parts += [_under_others(part, prompts) for part in parts]
        told = {
            letter: [
                {"prompt": shown(one.prompt, prompt_room(sheet.room)), "response": shown(one.output, sheet.room)}
                for one in sorted(parts[place], key=draw)
            ]
            for letter, place in zip(ascii_uppercase, turn, strict=False)
        }
        asked.append(BlindQuestion(orjson.dumps(told).decode(), tuple(turn), sum(map(len, parts))))
    return tuple(asked)


def _under_others(part: Sequence[Rollout], prompts: Sequence[str]) -> tuple[Rollout, ...]:
    """Return some responses of a stretch under prompts of other samples."""
    found = []
    for place, one in enumerate(spread(part, CONTROLS)):
        others = [prompt for prompt in prompts if prompt != one.prompt]
        found.append(replace(one, prompt=others[(7 * place + 3) % len(others)]))
    return tuple(found)


def review_by(reader: Reader, run: Run, asked: Sequence[BlindQuestion], *, name: str = "") -> tuple[Review, str]:
    """Return the review that a model's grades amount to, by the rule for all grades, and why. Raises if they can't be
    trusted."""
    sheet = sheet_to_read(run)
    first, second = (_trusted(question, reader(question.text)) for question in asked)
    means = [
        None if one is None or other is None else (one + other) / 2 for one, other in zip(first, second, strict=True)
    ]
    reviews = [decided(_grades(marks, sheet), sheet, reader=name) for marks in (first, second, means)]
    if len({review.answer for review, _ in reviews}) > 1:
        raise _unused(words.NOT_THE_SAME)
    review, says = reviews[-1]
    return replace(review, at=time.time()), f"{says} {words.IF_WRONG}"


def _trusted(question: BlindQuestion, reply: str) -> Marks:
    """Return the grades by stretch, if what is graded well is graded worse under other prompts."""
    by_place = dict(zip(question.order, grades_of(reply, len(question.order)), strict=True))
    count = len(by_place) // 2
    marks = [by_place[place] for place in range(count)]
    last = marks[-1]
    if last is None:
        raise _unused(words.NOT_GRADED)
    best = max(range(count), key=lambda place: marks[place] or 0.0)
    for place in (best, count - 1 if last > BAD else best):
        own, control = marks[place], by_place[count + place]
        if own is None or control is None or not dropped(own, control):
            raise _unused(words.SWAYED)
    return marks


def _grades(marks: Marks, sheet: Sheet) -> tuple[Grade, ...]:
    return tuple(
        Grade(part.first_step, part.last_step, round(mark, 4))
        for part, mark in zip(sheet.stretches, marks, strict=True)
        if mark is not None
    )


def grades_of(reply: str, count: int) -> list[float | None]:
    """Return the grades in the JSON object that a reply ends with: each letter once, from 0 to 1 or null."""
    text = reply.strip().removesuffix("```")
    try:
        told = json.loads(text[text.rindex("{") :], object_pairs_hook=list)
    except (ValueError, RecursionError):
        raise _unused(words.UNUSABLE) from None
    if len(told) != count or {letter for letter, _ in told} != set(ascii_uppercase[:count]):
        raise _unused(words.UNUSABLE)
    grades = [grade for _, grade in sorted(told)]
    for grade in grades:
        is_number = isinstance(grade, int | float) and not isinstance(grade, bool)
        if grade is not None and not (is_number and 0 <= grade <= 1):
            raise _unused(words.UNUSABLE)
    return grades


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *told: object) -> None:
        return None


def asking(endpoint: str, model: str, key: str | None, timeout: float) -> Reader:
    """Return a reader behind an OpenAI-compatible endpoint. No error holds the key."""
    try:
        parts = urlsplit(endpoint)
        is_plain = parts.scheme in ("http", "https") and parts.hostname and not ("@" in parts.netloc or parts.query)
    except ValueError:
        is_plain = False
    if not is_plain:
        raise BadOrder(
            "--endpoint takes an http or https address without user, password, or query.",
            next_step="pass the part before /chat/completions, such as http://localhost:8000/v1",
        )
    if key and not (key.isascii() and key.isprintable()):
        raise BadOrder(
            "The API key holds a character that no header may.", next_step="check the variable that --key-env names"
        )
    is_local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    opener = build_opener(_NoRedirect, *([ProxyHandler({})] if is_local else []))
    headers = {"Content-Type": "application/json", "User-Agent": "leadline"}
    if key:
        headers["Authorization"] = f"Bearer {key}"

    def ask(text: str) -> str:
        messages = [{"role": "system", "content": words.GRADER}, {"role": "user", "content": text}]
        named = model.encode("utf-8", "replace").decode()  # a command line may hold lone surrogates
        body = orjson.dumps({"model": named, "messages": messages})
        try:
            request = Request(f"{endpoint.rstrip('/')}/chat/completions", body, headers)
            with opener.open(request, timeout=timeout) as response:
                reply = orjson.loads(_whole(response))
        except HTTPError as error:
            error.close()
            raise _unused(words.REFUSED.format(error.code)) from None
        except orjson.JSONDecodeError:
            raise _unused(words.UNUSABLE) from None
        except (OSError, ValueError, http.client.HTTPException) as error:  # a timeout and URLError are OSErrors
            cause = reason if isinstance(reason := getattr(error, "reason", None), Exception) else error
            raise _unused(words.UNREACHED.format(type(cause).__name__)) from None
        try:
            content = reply["choices"][0]["message"]["content"]
        except (LookupError, TypeError):
            content = None
        if not isinstance(content, str):
            raise _unused(words.UNUSABLE)
        return content

    return ask


def _whole(response: Any) -> bytes:
    """Return a response that comes whole."""
    taken = bytearray()
    while piece := response.read1(65536):
        taken += piece
        if len(taken) > LARGEST:
            raise _unused(words.UNUSABLE)
    length = response.headers.get("Content-Length")
    if length is not None and length.isdecimal() and len(taken) < int(length):
        raise http.client.IncompleteRead(bytes(taken))
    return bytes(taken)


def _unused(why: str) -> LeadlineError:
    return LeadlineError(why, next_step=words.READ_YOURSELF)
