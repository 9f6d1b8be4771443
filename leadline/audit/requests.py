"""The exact requests, one at a time answerable by anybody: a grading of some answers, or a check of our claims."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

import orjson

from ..contract import Finding
from ..facts.audit import Shown
from ..report.data import plain
from ..run import Rollout
from ..tokens import cost
from ..words import sentence
from ..words.audit import AUDITOR, GRADER
from .choose import shortened

BATCH = 17  # answers a request: few enough that a model keeps each in mind
CLAIMS = 6  # findings that are checked
CARD = 6  # samples a card shows
GRADES = (0, 1, 2, 3, 4)
MARKS = ("copying", "padding", "looping", "format_only")
ANSWERS = ("supported", "not_supported", "cannot_tell")
REPLY = 2500  # tokens an answer may have
REDACTED = "[redacted]"

Kind = Literal["grade", "claims"]
Plain = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked once, named by its content: the same question has the same name, and is paid for once."""

    kind: Kind
    number: int
    messages: tuple[tuple[str, str], ...]  # role and text
    schema: Mapping[str, Any]
    ids: tuple[str, ...]  # what has to be answered
    citable: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        told = "\0".join(text for _, text in self.messages).encode("utf-8", "replace")
        return f"{self.kind}-{self.number:02d}-{blake2b(told, digest_size=8).hexdigest()}"

    @property
    def tokens(self) -> int:
        return sum(cost(text) for _, text in self.messages)

    def body(self, model: str | None = None, *, shaped: bool = True) -> Plain:
        """The request as an OpenAI-compatible endpoint takes it."""
        body: Plain = {
            "messages": [{"role": role, "content": text} for role, text in self.messages],
            "temperature": 0,
            "max_tokens": REPLY,
        }
        if shaped:
            shape = {"name": self.kind, "strict": True, "schema": self.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        return body if model is None else {"model": model, **body}


@dataclass(frozen=True, slots=True)
class Redaction:
    """Texts that are not to be sent."""

    patterns: tuple[re.Pattern[str], ...] = ()

    def clean(self, text: str) -> str:
        for pattern in self.patterns:
            text = pattern.sub(REDACTED, text)
        return text


def grading(shown: Sequence[Shown], redaction: Redaction) -> tuple[Request, ...]:
    """The answers in batches."""
    return tuple(
        _graded(number, shown[start : start + BATCH], redaction)
        for number, start in enumerate(range(0, len(shown), BATCH), 1)
    )


def _graded(number: int, batch: Sequence[Shown], redaction: Redaction) -> Request:
    answers = [
        {
            "id": shown.id,
            "prompt": redaction.clean(shown.rollout.prompt),
            "answer": redaction.clean(shown.rollout.output),
        }
        for shown in batch
    ]
    ids = tuple(shown.id for shown in batch)
    grade = _object(id={"enum": list(ids)}, grade={"enum": list(GRADES)}, marks=_list({"enum": list(MARKS)}))
    schema = _object(task={"type": "string"}, grades=_list(grade))
    return Request("grade", number, (("system", GRADER), ("user", _data({"answers": answers}))), schema, ids)


def checking(findings: Sequence[Finding], redaction: Redaction, *, samples: bool) -> tuple[Request, dict[str, Rollout]]:
    """Our serious findings on cards, and the samples on them by id; no request text where there is no finding."""
    serious = [finding for finding in findings if finding.severity != "note"][:CLAIMS]
    cited: dict[str, Rollout] = {}
    cards = []
    for finding in serious:
        rollouts = [rollout for spot in finding.evidence for rollout in spot.samples] if samples else []
        ordered = sorted(dict.fromkeys(rollouts), key=lambda rollout: rollout.step)
        half = CARD // 2
        shown = ordered if len(ordered) <= CARD else [*ordered[:half], *ordered[-half:]]
        card: Plain = {
            "finding": finding.id,
            "claim": redaction.clean(sentence(finding)),
            "facts": _bare(plain(finding.facts)),
        }
        for when, part in (("early", shown[: (len(shown) + 1) // 2]), ("late", shown[(len(shown) + 1) // 2 :])):
            card[when] = [_cited(rollout, cited, redaction) for rollout in part]
        cards.append(card)
    ids = tuple(finding.id for finding in serious)
    entry = _object(finding={"enum": list(ids)}, answer={"enum": list(ANSWERS)}, evidence=_list({"type": "string"}))
    messages = (("system", AUDITOR), ("user", _data({"cards": cards})))
    return Request("claims", 1, messages, _object(claims=_list(entry)), ids, frozenset(cited)), cited


def _cited(rollout: Rollout, cited: dict[str, Rollout], redaction: Redaction) -> Plain:
    name = next((name for name, known in cited.items() if known == rollout), f"e{len(cited) + 1}")
    cited[name] = rollout
    return {
        "id": name,
        "prompt": redaction.clean(shortened(rollout.prompt)),
        "answer": redaction.clean(shortened(rollout.output)),
    }


def _bare(value: Any) -> Any:
    """Facts without the samples, which stand on the card by themselves."""
    if isinstance(value, dict):
        return {key: _bare(item) for key, item in value.items() if not (isinstance(item, dict) and "output" in item)}
    return [_bare(item) for item in value] if isinstance(value, list) else value


def _data(value: object) -> str:
    return orjson.dumps(_whole(value)).decode()


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # a log may hold lone surrogates
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value


def _object(**properties: object) -> Plain:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(items: object) -> Plain:
    return {"type": "array", "items": items}
