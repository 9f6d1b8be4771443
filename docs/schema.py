"""The JSON Schema of a reading, made from the types of the contract: `python docs/schema.py` writes
leadline/schema-2.json, `--check` says whether it is current.

What a field means is the comment beside it; what a thing is, the first sentence of its class.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import reduce
from operator import or_
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
from numpy.typing import NDArray

from leadline.contract import (
    SCHEMA,
    ChartData,
    Facts,
    Finding,
    Judgement,
    KlReward,
    PolicyLoss,
    Reading,
    Regime,
    Resources,
    RewardReading,
    RunSummary,
    Signal,
)
from leadline.findings import FACTS
from leadline.questions.shape import WORDS
from leadline.report.data import ADDED, CALLED, LEFT_OUT, ONLY_IF_THERE

Schema = dict[str, typing.Any]

FILE = Path(__file__).resolve().parent.parent / "leadline" / f"schema-{SCHEMA}.json"
PROBABILITY = re.compile(r"p|p_(?!\d).*")  # fields of that name hold one
REGIMES = [f"{kl}/{reward}" for kl in ("rising", "stable", "falling") for reward in ("rising", "flat", "declining")]
TEXT: Schema = {"type": "string"}
PROBABLE: Schema = {"$ref": "#/$defs/probability"}
NUMBERS: Schema = {"type": "array", "items": {"type": ["number", "null"]}}

# Words out of a list that the type does not name.
WORDS_OF: dict[tuple[type, str], Schema] = {
    (RewardReading, "shape"): {"enum": [*WORDS, "undecided"]},
    (RewardReading, "probabilities"): {
        "type": "object",
        "propertyNames": {"enum": [*WORDS, "undecided"]},
        "additionalProperties": PROBABLE,
    },
    (KlReward, "regime"): {"$ref": "#/$defs/regime"},
    (Regime, "regime"): {"$ref": "#/$defs/regime"},
    (PolicyLoss, "pattern"): {"enum": ["declining", "oscillating", "jumped", "stable", "undecided", "by_construction"]},
    (Finding, "id"): TEXT | {"pattern": r"^[a-z_]+(\.[a-z_]+)*$"},
}
STEPS_AND_VALUES: Schema = {
    "type": "object",
    "properties": {"steps": {"type": "array", "items": {"type": "integer"}}, "values": NUMBERS},
    "required": ["steps", "values"],
}


def schema() -> Schema:
    """The whole of it."""
    types_seen: dict[str, Schema] = {}
    reading = _object(Reading, types_seen)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:leadline:schema:{SCHEMA}",
        "title": f"A reading by Leadline, schema {SCHEMA}",
        "description": "What `leadline read PATH --json` prints. A number that is not finite is written as null. "
        "Made by docs/schema.py.",
        "type": "object",
        "properties": {
            "schema": {"const": SCHEMA},
            **reading["properties"],
        },
        "required": ["schema", *reading["required"]],
        "$defs": {
            "probability": {"type": "number", "minimum": 0, "maximum": 1},
            "regime": {"description": "KL / reward", "enum": [*REGIMES, "undecided", "no_kl"]},
            **dict(sorted(types_seen.items())),
        },
    }


def _object(kind: type, seen: dict[str, Schema]) -> Schema:
    called, left_out, optional = CALLED.get(kind, {}), LEFT_OUT.get(kind, ()), ONLY_IF_THERE.get(kind, ())
    hints, comments = typing.get_type_hints(kind), _comments(kind)
    properties, required = {}, []
    for field in fields(kind):
        if field.name in left_out:
            continue
        name = called.get(field.name, field.name)
        hint = _facts_beside(kind, hints[field.name])
        described = WORDS_OF.get((kind, field.name)) or _type(hint, field.name, seen)
        properties[name] = described | ({"description": comments[field.name]} if field.name in comments else {})
        if field.name not in optional:
            required.append(name)
    for name, added in _added(kind, seen).items():
        properties[name] = added
        if name not in required:
            required.append(name)
    described = {"type": "object", "properties": properties, "required": required}
    if kind is Finding:
        described["allOf"] = _facts_by_id(seen)
    about = inspect.cleandoc(kind.__doc__ or "")
    about = "" if about.startswith(f"{kind.__name__}(") else about  # the one that dataclasses write
    return {"description": " ".join(about.split())} | described if about else described


def _facts_beside(kind: type, hint: typing.Any) -> typing.Any:
    """Which facts a class may carry that only says "facts": those of its own file. A
    finding's go by its id."""
    if kind is Finding or Facts not in (hint, *typing.get_args(hint)):
        return hint
    beside = [facts for facts in _below(Facts) if facts.__module__ == kind.__module__]
    several = typing.Union[(*beside, Facts)]  # made at run time
    return several if hint is Facts else tuple[several, ...]


def _below(kind: type) -> list[type]:
    """Its subclasses and theirs. Of a dataclass with slots only the class itself, not the one it was made from."""
    below = [one for one in kind.__subclasses__() if getattr(sys.modules[one.__module__], one.__name__, None) is one]
    return below + [further for one in below for further in _below(one)]


def _added(kind: type, seen: dict[str, Schema]) -> Mapping[str, Schema]:
    """What report/data.py adds to the fields."""
    if kind is RunSummary:
        comment = {"description": "series by canonical name"}
        return {"signals": {"type": "object", "additionalProperties": _type(Signal, "", seen)} | comment}
    if kind is ChartData:
        comment = {"description": "series that are in no log, such as measures of the samples"}
        return {"derived": {"type": "object", "additionalProperties": STEPS_AND_VALUES} | comment}
    if kind is Resources:
        return {"notes": {"type": "array", "items": TEXT}}
    if kind is Finding:
        return {"says": TEXT}
    names = ["outcome", "headline", "says"] if kind is Judgement else ADDED.get(kind, {})
    return dict.fromkeys(names, TEXT)


def _facts_by_id(seen: dict[str, Schema]) -> list[Schema]:
    """Which facts a finding of each id carries."""
    return [
        {"if": {"properties": {"id": {"const": name}}}, "then": {"properties": {"facts": _type(kind, "", seen)}}}
        for name, kind in sorted((name, reduce(or_, kinds)) for name, kinds in FACTS.items())
    ]


def _type(kind: typing.Any, name: str, seen: dict[str, Schema]) -> Schema:
    """The schema of a type; `name` is the field's."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_type(part, name, seen) for part in inside]}
    if origin is typing.Literal:
        return {"enum": list(inside)}
    if origin is tuple:
        if inside[1:] == (...,):
            return {"type": "array", "items": _type(inside[0], "", seen)}
        parts = [part for number, part in enumerate(inside) if part not in inside[:number]]
        items = [_type(part, "", seen) for part in parts]
        length = {"minItems": len(inside), "maxItems": len(inside)}
        return {"type": "array", "items": items[0] if len(items) == 1 else {"anyOf": items}} | length
    if origin in (np.ndarray, NDArray):  # an alias of its own from numpy 2.5 on
        return {"type": "array", "items": {"type": "integer"}} if "int" in str(inside[-1]) else NUMBERS
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _type(inside[1], "", seen)}
    if kind is Facts:
        return {"type": "object"}
    if is_dataclass(kind):
        name = _named(kind)
        if name not in seen:
            seen[name] = {}  # stands while its own fields are looked at
            seen[name] = _object(kind, seen)
        return {"$ref": f"#/$defs/{name}"}
    if kind is float:
        return PROBABLE if PROBABILITY.fullmatch(name) else {"type": ["number", "null"]}
    return {"type": {str: "string", int: "integer", bool: "boolean", type(None): "null", object: "string"}[kind]}


def _named(kind: type, taken: dict[str, type] = {}) -> str:  # noqa: B006 - one table of names for the whole schema
    """The name of a class; with that of its module where another class has it too."""
    first = taken.setdefault(kind.__name__, kind)
    return kind.__name__ if first is kind else f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"


def _comments(kind: type) -> dict[str, str]:
    """The comment beside each field."""
    found = {}
    for base in reversed(kind.__mro__):
        if is_dataclass(base):
            lines = inspect.getsource(base).splitlines()
            matches = (re.match(r"    (\w+): [^#]*?  # (?!TRANSITION)(.+)$", line) for line in lines)
            found |= {match[1]: match[2] for match in matches if match is not None}
    return found


def written() -> str:
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="Write nothing; exit with 1 where it is not current.")
    if parser.parse_args().check:
        return int(FILE.read_text(encoding="utf-8") != written())
    FILE.write_text(written(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
