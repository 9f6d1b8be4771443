"""The reading as JSON, for other programs: every fact that any report shows, under the contract's names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import orjson

from ..contract import (
    SCHEMA,
    ChartData,
    Condition,
    Conflict,
    Event,
    Evidence,
    Finding,
    KlReward,
    Missing,
    PolicyLoss,
    Reading,
    Regime,
    Resources,
    RewardReading,
    Rollout,
    RunSummary,
    Signal,
)
from ..digits import short, written
from ..facts.chart import Neighbour
from ..words.verdict import condition_says, verdict_lines

OBEYED = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")  # JSON may hold them as they are, a terminal obeys them

SPAN = {"first_step": "from", "last_step": "to"}
# What a field is called in the JSON, where that is not its own name.
CALLED: Mapping[type, Mapping[str, str]] = {
    Evidence: SPAN,
    Regime: SPAN,
    Conflict: {"first_wall": "from", "last_wall": "to"},
    RewardReading: {"probabilities": "p"},
    Rollout: {"prompt": "input"},
}
# What is in the reading at another place, or not of the reading: findings stand together, the log has its own series.
LEFT_OUT: Mapping[type, tuple[str, ...]] = {
    Signal: ("name",),
    Rollout: ("group",),
    Event: ("known_step",),
    ChartData: ("series", "derived"),
}
# Left out where there is none of it.
ONLY_IF_THERE: Mapping[type, tuple[str, ...]] = {Evidence: ("text", "samples")}


def render(reading: Reading, *, color: bool = False, width: int = 100, verbose: bool = False) -> str:
    """Return one JSON object. A number that is not finite is null; invalid Unicode is replaced."""
    return dump(as_data(reading))


def as_data(reading: Reading) -> dict[str, object]:
    """Return the reading as plain data, as `leadline read --json` prints it."""
    data = _fields(reading)
    said = verdict_lines(reading)
    told = {"outcome": reading.judgement.outcome, "headline": said.headline, "says": said.text}
    return {"schema": SCHEMA, **data, "judgement": _fields(reading.judgement) | told}


def plain(value: object) -> Any:
    """Return any value of the contract as plain data: a dataclass by its fields, arrays as lists of few digits, None
    for numbers that are not finite."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind in "iu" else short(value)
    if isinstance(value, float):
        return written(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return _fields(value) | {name: says(value) for name, says in ADDED.get(type(value), {}).items()}
    return value


def _fields(value: object) -> dict[str, object]:
    kind = next((kind for kind in type(value).__mro__ if kind in CALLED or kind in LEFT_OUT), type(value))
    called, left_out, optional = CALLED.get(kind, {}), LEFT_OUT.get(kind, ()), ONLY_IF_THERE.get(kind, ())
    data = {}
    for field in fields(value):  # type: ignore[arg-type]
        content = getattr(value, field.name)
        if field.name in left_out or (field.name in optional and not content):
            continue
        data[called.get(field.name, field.name)] = plain(content)
    return data


def _derived(data: ChartData) -> object:
    """Series that are in no log, such as measures of the samples."""
    shown = (data.series[name] for name in data.derived if name in data.series)
    return {series.name: {"steps": plain(series.steps), "values": plain(series.values)} for series in shown}


# What is said of a fact, beside the fact; and what is told by name.
ADDED: Mapping[type, Mapping[str, Callable[..., object]]] = {
    Finding: {"says": Finding.say},
    Event: {"says": Event.say},
    Missing: {"why_it_matters": lambda missing: missing.why},
    RewardReading: {"says": RewardReading.say},
    KlReward: {"says": KlReward.say},
    PolicyLoss: {"why": PolicyLoss.say},
    Resources: {"notes": lambda machine: [remark.say() for remark in machine.remarks]},
    Conflict: {"effect": lambda conflict: conflict.did.say()},
    Neighbour: {"effect": lambda neighbour: neighbour.did.say()},
    Condition: {"says": condition_says},
    RunSummary: {"signals": lambda summary: {signal.name: plain(signal) for signal in summary.signals}},
    ChartData: {"derived": _derived},
}


def dump(value: object, *, lines: bool = False) -> str:
    """Return plain data as JSON that a terminal may show; `lines`: on one line, for several in a row."""
    options = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY | (0 if lines else orjson.OPT_INDENT_2)
    try:
        text = orjson.dumps(value, option=options).decode()
    except TypeError:
        text = orjson.dumps(_clean(value), option=options).decode()
    return OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _clean(value: object) -> object:
    """File names and logs may hold lone surrogates, which JSON cannot."""
    if isinstance(value, str):
        return value.encode("utf-8", errors="replace").decode()
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value
