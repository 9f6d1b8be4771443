"""What a number is: the canonical name and kind behind a framework's own key.

One CSV a framework, one row a key or regular expression (it then starts with `^`). A file may hold several dialects:
the first is the base, later ones are more special and list only what they write differently. A new framework is a new
CSV and no code.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one native key stands for."""

    canonical: str  # "kl/ref"
    kind: str  # "nats/token, k3, >=0, token mean"
    rank: int  # its place in the dialect: where two keys mean the same, the lower one takes the name


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a dialect file."""

    dialect: str
    key: str  # exact, or a regular expression that starts with ^
    canonical: str  # may hold <group> of the expression, and <map(...)>: translate what stands inside
    unit: str
    caveat: str
    signature: bool  # only this dialect writes such a key, so seeing it tells the dialect

    @property
    def kind(self) -> str:
        first_clause = self.caveat.split(";")[0].strip()
        return ", ".join(word for word in (self.unit.strip("-"), first_clause) if word)

    def matches(self, key: str) -> re.Match[str] | None:
        return re.fullmatch(self.key if self.key.startswith("^") else re.escape(self.key), key)


@cache
def families() -> dict[str, tuple[Entry, ...]]:
    """The rows of every dialect file, by file name."""
    return {file.stem: _entries(file) for file in sorted(HERE.glob("*.csv"))}


def dialects(family: str) -> tuple[str, ...]:
    """The dialects of one file, the base first."""
    return tuple(dict.fromkeys(entry.dialect for entry in families()[family]))


def detect(keys: Iterable[str], *, algorithm: str | None = None) -> str | None:
    """The dialect these keys are written in, or None. The algorithm decides between dialects that keys cannot tell.

    >>> detect(["actor/pg_loss", "critic/score/mean"])
    'verl'
    >>> detect(["reward", "kl"], algorithm="rloo")
    'trl-rloo'
    """
    bare = {key.removeprefix("eval_") for key in keys}
    for family, entries in families().items():
        signs = {name: [one for one in entries if one.dialect == name and one.signature] for name in dialects(family)}
        seen = [name for name in signs if any(sign.matches(key) for sign in signs[name] for key in bare)]
        if seen:
            # A dialect without signs of its own can only be told by the algorithm, and only from a less special one.
            told = [name for name in list(signs)[list(signs).index(seen[-1]) :] if not signs[name]]
            return next((name for name in told if name.endswith(f"-{algorithm}")), seen[-1])
    return None


@cache
def translate(key: str, dialect: str) -> Meaning | None:
    """What `key` means in `dialect`; None when nobody told us. Exact keys go before expressions, the dialect's own
    rows before those of its family.

    >>> translate("kl", "trl-grpo").canonical, translate("kl", "trl-asyncgrpo").canonical
    ('kl/ref', 'kl/update')
    >>> translate("eval_reward", "trl-grpo").canonical
    'eval/reward/mean'
    """
    exact, expressions = _tables(dialect)
    if key in exact:
        rank, entry = exact[key]
        return Meaning(entry.canonical, entry.kind, rank)
    for rank, pattern, entry in expressions:
        if match := pattern.fullmatch(key):
            return _from_expression(entry, match, rank, dialect)
    return None


def _from_expression(entry: Entry, match: re.Match[str], rank: int, dialect: str) -> Meaning | None:
    canonical, kind = entry.canonical, entry.kind
    for group, text in match.groupdict().items():
        canonical = canonical.replace(f"<{group}>", text or "")
    if inner := re.search(r"<map\((.+)\)>", canonical):
        mapped = translate(inner[1], dialect)
        if mapped is None:
            return None
        canonical = canonical.replace(inner[0], mapped.canonical)
        kind = f"held-out, {mapped.kind}" if canonical.startswith("eval/") else mapped.kind
    return Meaning(canonical, kind, rank)


@cache
def _tables(dialect: str) -> tuple[dict[str, tuple[int, Entry]], tuple[tuple[int, re.Pattern[str], Entry], ...]]:
    """The rows of a dialect and then of its family: exact keys, and expressions in order."""
    family = next((entries for entries in families().values() if any(one.dialect == dialect for one in entries)), ())
    ordered = sorted(family, key=lambda entry: entry.dialect != dialect)  # stable: own rows first, then file order
    exact: dict[str, tuple[int, Entry]] = {}
    expressions = []
    for rank, entry in enumerate(ordered):
        if entry.key.startswith("^"):
            expressions.append((rank, re.compile(entry.key), entry))
        else:
            exact.setdefault(entry.key, (rank, entry))
    return exact, tuple(expressions)


def _entries(file: Path) -> tuple[Entry, ...]:
    with file.open(newline="", encoding="utf-8") as rows:
        return tuple(
            Entry(row["dialect"], row["key"], row["canonical"], row["unit"], row["caveat"], row["signature"] == "yes")
            for row in csv.DictReader(rows)
        )
