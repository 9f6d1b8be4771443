"""The dialect files as they stand: one CSV a framework, one row a key or regular expression."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
STATISTICS = ("mean", "max", "min", "std")  # what <a> in a name stands for
# Names that words alone may tell (`guess.py`).
ALWAYS = frozenset({
    "reward/mean", "reward/std", "reward/min", "reward/max", "reward/var", "reward/median", "reward/accuracy",
    "loss/policy", "loss/value", "loss/total", "entropy", "grad_norm", "lr", "len/response_mean", "len/episode_mean",
    "clip/frac", "time/step", "advantage/std", "advantage/mean", "kl/coef", "kl/ref", "kl/update", "kl/unidentified",
    "tools/failure_frac", "tools/failures_per_sample", "tools/calls_per_sample",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one native key stands for."""

    canonical: str  # "kl/ref"
    kind: str  # "nats/token, k3, >=0, token mean"
    rank: int  # its place in the dialect: where two keys mean the same, the lower one takes the name
    rule: str = ""  # how the logged numbers become canonical ones; "" as they are
    place: int = 0  # among the keys of one expression, the place of what each stands for
    instead: tuple[str, ...] = ()  # other keys that could mean the same, where this one was chosen by its words


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a dialect file."""

    dialect: str
    key: str  # exact, or a regular expression that starts with ^
    canonical: str  # may hold <group> of the expression, <map(...)>: translate what stands inside, <as(dialect)>
    unit: str
    caveat: str
    # "yes": few others write such a key, so seeing it tells the family; "weak": a common word. "only" before it: and of
    # the dialects that are otherwise alike, no other writes it.
    signature: str
    rule: str

    @property
    def is_expression(self) -> bool:
        return self.key.startswith("^")

    @property
    def kind(self) -> str:
        first_clause = self.caveat.split(";")[0].strip()
        return ", ".join(word for word in (self.unit.strip("-"), first_clause) if word)


@cache
def families() -> dict[str, tuple[Entry, ...]]:
    """The rows of every dialect file, by file name."""
    return {file.stem: _entries(file) for file in sorted(HERE.glob("*.csv"))}


@cache
def canonical_names() -> frozenset[str]:
    """Every name that a key can be given by a dialect or by its words."""
    told = {entry.canonical for entries in families().values() for entry in entries}
    spread = {name.replace("<a>", one) for name in told for one in STATISTICS}
    return frozenset(name for name in spread if "<" not in name and name) | ALWAYS


def dialects(family: str) -> tuple[str, ...]:
    """The dialects of one file, the base first."""
    return tuple(dict.fromkeys(entry.dialect for entry in families()[family]))


@cache
def family_of(dialect: str) -> str | None:
    """The file that a dialect stands in."""
    return next((name for name in families() if dialect in dialects(name)), None)


def _entries(file: Path) -> tuple[Entry, ...]:
    columns = ("dialect", "key", "canonical", "unit", "caveat", "signature", "rule")
    with file.open(newline="", encoding="utf-8") as rows:
        return tuple(Entry(*(row[column] for column in columns)) for row in csv.DictReader(rows))
