"""The dialect files, one CSV a framework and one row a key or regular expression, and what a key means in a dialect,
however its separators and its case came through."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..records import dataclass
from .names import listed, words

HERE = Path(__file__).parent
STATISTICS = ("mean", "max", "min", "std")  # what <a> in a name stands for
ALWAYS = frozenset(listed("always"))  # names that words alone may tell (`guess.py`)
DEEPEST = 4  # how often one key may stand for another: a hostile one could do so without end
# Canonical names of numbers that a rule turns into the plain ones: percent into fraction, the other sign, a count.
TURNED = {"negate": ("_neg", ""), "percent": ("_pct", "_frac"), "share_of_groups": ("_count", "_frac")}
SEPARATOR = r"[/._:@ -]"  # what an export or a database may have made of a slash
Exact = dict[str, tuple[int, "Entry"]]
Expressions = tuple[tuple[int, re.Pattern[str], "Entry"], ...]


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of one native key."""

    canonical: str  # "kl/ref"
    kind: str  # "nats/token, k3, >=0, token mean"
    rank: int  # its place in the dialect: where two keys mean the same, the lower one takes the name
    rule: str = ""  # how the logged numbers become canonical ones; "" as they are
    place: int = 0  # among the keys of one expression, the place of what each stands for
    instead: tuple[str, ...] = ()  # other keys that could mean the same, where this one was chosen by its words


class Entry(NamedTuple):
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
    """Return the rows of every dialect file, by file name."""
    found = {}
    for file in sorted(HERE.glob("*.csv")):
        with file.open(newline="", encoding="utf-8") as opened:
            _, *rows = csv.reader(opened)
        found[file.stem] = tuple(Entry(*row[:-1]) for row in rows)  # the last column says where a row is from
    return found


@cache
def canonical_names() -> frozenset[str]:
    """Return every name that a key can be given by a dialect or by its words."""
    told = {entry.canonical for entries in families().values() for entry in entries}
    spread = {name.replace("<a>", one) for name in told for one in STATISTICS}
    return frozenset(name for name in spread if "<" not in name and name) | ALWAYS


def dialects(family: str) -> tuple[str, ...]:
    """Return the dialects of one file, the base first."""
    return tuple(dict.fromkeys(entry.dialect for entry in families()[family]))


@cache
def family_of(dialect: str) -> str | None:
    """Return the file that a dialect stands in."""
    return next((name for name in families() if dialect in dialects(name)), None)


@cache
def translate(key: str, dialect: str) -> Meaning | None:
    """Return what `key` means in `dialect`; None if no row says. Exact keys go before expressions, the dialect's own
    rows before those of its family, the key as it is written before its words alone.

    >>> translate("kl", "trl-grpo").canonical, translate("kl", "trl-asyncgrpo").canonical
    ('kl/ref', 'kl/update')
    >>> translate("eval_reward", "trl-grpo").canonical
    'eval/reward/mean'
    >>> translate("critic_score_mean", "verl").canonical  # a slash that an export flattened
    'reward/mean'
    """
    return _translate(key, dialect, DEEPEST) or _translate(key, dialect, DEEPEST, loosely=True)


def _translate(key: str, dialect: str, deepest: int, *, loosely: bool = False) -> Meaning | None:
    """Return what a key means; `loosely`: by its words, as separators were flattened or the case changed."""
    if deepest == 0:
        return None
    exact, expressions = _tables(dialect, loosely)
    name = words(key) if loosely else key
    for form in (name, name.removeprefix("train_"), f"train_{name}") if loosely else (key,):
        if form in exact:
            rank, entry = exact[form]
            return Meaning(_turned(entry.canonical, entry.rule), entry.kind, rank, entry.rule)
    for rank, pattern, entry in expressions:
        if match := pattern.fullmatch(key.lower() if loosely else key):
            return _from_expression(entry, match, rank, dialect, deepest - 1)
    return None


def _from_expression(entry: Entry, match: re.Match[str], rank: int, dialect: str, deepest: int) -> Meaning | None:
    canonical, kind, rule, place = entry.canonical, entry.kind, entry.rule, 0
    for group, text in match.groupdict().items():
        canonical = canonical.replace(f"<{group}>", "mean" if text == "avg" else (text or "").strip(" /"))
    if other := re.fullmatch(r"<as\((.+)\)>", canonical):
        return _translate(match[0], other[1], deepest)
    if inner := re.search(r"<map\((.+)\)>", canonical):
        mapped = _translate(inner[1], dialect, deepest)
        if mapped is None:
            return None
        canonical, rule, place = canonical.replace(inner[0], mapped.canonical), mapped.rule, mapped.rank
        kind = f"held-out, {mapped.kind}" if canonical.startswith("eval/") else mapped.kind
    return Meaning(_turned(canonical, rule), kind, rank, rule, place)


def _turned(canonical: str, rule: str) -> str:
    """Return the canonical name once the rule has been followed: "kl/update_neg" becomes "kl/update"."""
    before, after = TURNED.get(rule, ("", ""))
    return canonical.removesuffix(before) + after if before and canonical.endswith(before) else canonical


@cache
def _tables(dialect: str, loosely: bool) -> tuple[Exact, Expressions]:
    """Return the rows of a dialect and then of its family: exact keys, and expressions in order. By words, two keys of
    the same words and different meaning are left out, and so are expressions that stand for another key."""
    exact: Exact = {}
    expressions = []
    differ = set()
    family = family_of(dialect)
    own_first = sorted(families()[family] if family else (), key=lambda entry: entry.dialect != dialect)
    for rank, entry in enumerate(own_first):
        if entry.is_expression and not loosely:
            expressions.append((rank, re.compile(entry.key), entry))
        elif entry.is_expression:
            if "<map(" not in entry.canonical and "<as(" not in entry.canonical:
                expressions.append((rank, re.compile(_loosened(entry.key), re.IGNORECASE), entry))
        else:
            name = words(entry.key) if loosely else entry.key
            held = exact.setdefault(name, (rank, entry))[1]
            if held.dialect == entry.dialect and held.canonical != entry.canonical:
                differ.add(name)
    return {name: row for name, row in exact.items() if name not in differ}, tuple(expressions)


def _loosened(expression: str) -> str:
    """Return the expression with any separator instead of a certain one. What stands in [...] or names a group stays.

    >>> re.fullmatch(_loosened(r"^val-core/(?P<ds>.+)/acc$"), "val_core_gsm8k_acc")["ds"]
    'gsm8k'
    """
    parts = re.split(r"(\\.|\[[^\]]*\]|\(\?(?:P<\w+>|[!=:<]+))", expression)
    return "".join(part if number % 2 else re.sub(r"[/@ _-]", SEPARATOR, part) for number, part in enumerate(parts))
