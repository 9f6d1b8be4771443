"""How each framework calls its settings: the table behind `config_from`. A new framework is one line of the CSV beside
this file, the most telling signs first. `|` parts names of one thing, of which the first that is set stands; `;` parts
ways to know it.

`updates` and `plan` are products and ratios of settings. `kl` says where the penalty is and what its coefficient is
called: `loss NAME`, `reward NAME`, `? NAME` where that is not told, `if SWITCH loss NAME` where a switch has to be on,
and `off SWITCH` where there is none unless a switch before was on."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .number import as_number, as_step

Flat = Mapping[str, object]  # settings under dotted names
Names = tuple[str, ...]
NAMED = (*("signs", "algorithm", "group_size", "planned_steps", "length_cap", "learning_rate", "reference_sync_steps"),)
TABLE = Path(__file__).with_suffix(".csv")


@dataclass(frozen=True, slots=True)
class ConfigKeys:
    """How one framework calls its settings. `signs`: keys of which one proves it."""

    signs: Names
    algorithm: Names
    group_size: Names
    planned_steps: Names
    length_cap: Names
    learning_rate: Names
    reference_sync_steps: Names
    is_called: str | None  # the algorithm, where the settings do not name it
    places_of_kl: str
    ways_to_updates: str
    ways_to_plan: str

    def kl(self, flat: Flat) -> tuple[float | None, str | None]:
        """The coefficient of the KL penalty, and where it is."""
        for way in filter(None, self.places_of_kl.split("; ")):
            words = way.split()
            if words[0] == "off":
                return (0.0, None) if any(name in flat for name in _names(words[1])) else (None, None)
            switch = _names(words.pop(1)) if words[0] == "if" else ()
            place, names = words[-2:]
            coefficient = number(flat, _names(names))
            if any(flat.get(name) is True for name in switch) or (not switch and coefficient is not None):
                return coefficient, place if place != "?" and (switch or coefficient) else None
        return None, None

    def updates(self, flat: Flat) -> float | None:
        """Updates on one batch of samples: how often it is gone through, in how many parts."""
        return _computed(self.ways_to_updates, flat)

    def plan(self, flat: Flat) -> float | None:
        """The planned steps, where no setting counts the steps themselves."""
        return _computed(self.ways_to_plan, flat)


def _names(told: str) -> Names:
    return tuple(filter(None, told.split("|")))


def number(flat: Flat, keys: Sequence[str]) -> float | None:
    for key in keys:
        value = flat.get(key)
        if value is not None and not isinstance(value, bool):
            found = as_number(value)
            if found is not None and math.isfinite(found):
                return found
    return None


def whole(flat: Flat, keys: Sequence[str]) -> int | None:
    """The first positive whole number; -1 and 0 are how frameworks say "not set"."""
    for key in keys:
        found = as_step(value) if (value := flat.get(key)) is not None else None
        if found is not None and found > 0:
            return found
    return None


def positive(value: float | None) -> float | None:
    return value if value is not None and value > 0 and math.isfinite(value) else None


def _computed(ways: str, flat: Flat) -> float | None:
    """What the first of several products comes to of which every part is known.

    >>> _computed("steps; a|b * c / d", {"b": 6, "c": 2, "d": 4})
    3.0
    """
    for way in filter(None, ways.split("; ")):
        result: float | None = 1.0
        for sign, names in re.findall(r"(^|\* |/ )(\S+)", way):
            found = positive(number(flat, _names(names)))
            result = None if found is None or result is None else result / found if sign == "/ " else result * found
        if result is not None:
            return result
    return None


def _frameworks() -> tuple[ConfigKeys, ...]:
    with TABLE.open(newline="", encoding="utf-8") as rows:
        return tuple(
            ConfigKeys(
                **{name: _names(row[name]) for name in NAMED},
                is_called=row["is_called"] or None,
                places_of_kl=row["kl"],
                ways_to_updates=row["updates"],
                ways_to_plan=row["plan"],
            )
            for row in csv.DictReader(rows)
        )


FRAMEWORKS = _frameworks()
