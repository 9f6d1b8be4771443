"""What a key means in a dialect, however its separators and its case came through."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from .entries import Entry, Meaning, families, family_of
from .names import words

DEEPEST = 4  # how often one key may stand for another: a hostile one could do so without end
# Canonical names of numbers that a rule turns into the plain ones: percent into fraction, the other sign, a count.
TURNED = {"negate": ("_neg", ""), "percent": ("_pct", "_frac"), "share_of_groups": ("_count", "_frac")}
SEPARATOR = r"[/._:@ -]"  # what an export or a database may have made of a slash
Exact = dict[str, tuple[int, Entry]]
Expressions = tuple[tuple[int, re.Pattern[str], Entry], ...]


@cache
def translate(key: str, dialect: str) -> Meaning | None:
    """What `key` means in `dialect`; None when nobody told us. Exact keys go before expressions, the dialect's own
    rows before those of its family, the key as it is written before its words alone.

    >>> translate("kl", "trl-grpo").canonical, translate("kl", "trl-asyncgrpo").canonical
    ('kl/ref', 'kl/update')
    >>> translate("eval_reward", "trl-grpo").canonical
    'eval/reward/mean'
    >>> translate("critic_score_mean", "verl").canonical  # a slash that an export flattened
    'reward/mean'
    """
    return _translate(key, dialect, DEEPEST) or _loosely(key, dialect)


@lru_cache(maxsize=4096)
def anywhere(key: str) -> Meaning | None:
    """What a key means in every dialect that has it, written just so or with other separators; None where they differ,
    where nobody has it, or where it is a common word.

    >>> anywhere("actor/pg_loss").canonical, anywhere("kl")
    ('loss/policy', None)
    """
    rows = _rows_by_words().get(words(key), ())
    if not any(entry.signature in ("yes", "only") for entry in rows):
        return None
    if words(key).count("_") < 1 or {entry.canonical for entry in rows} != {rows[0].canonical}:
        return None
    kinds = {entry.kind for entry in rows}
    rules = {entry.rule for entry in rows}
    if len(rules) > 1:
        return None
    entry = rows[0]
    return Meaning(_turned(entry.canonical, entry.rule), entry.kind if len(kinds) == 1 else entry.unit, 0, entry.rule)


def _translate(key: str, dialect: str, deepest: int) -> Meaning | None:
    if deepest == 0:
        return None
    exact, expressions = _tables(dialect)
    if key in exact:
        return _from_row(*exact[key])
    for rank, pattern, entry in expressions:
        if match := pattern.fullmatch(key):
            return _from_expression(entry, match, rank, dialect, deepest - 1)
    return None


def _loosely(key: str, dialect: str) -> Meaning | None:
    """By the words of the key: separators were flattened, or the case changed."""
    exact, expressions = _loose_tables(dialect)
    name = words(key)
    for form in (name, name.removeprefix("train_"), f"train_{name}"):
        if form in exact:
            return _from_row(*exact[form])
    for rank, pattern, entry in expressions:
        if match := pattern.fullmatch(key.lower()):
            return _from_expression(entry, match, rank, dialect, DEEPEST)
    return None


def _from_row(rank: int, entry: Entry) -> Meaning:
    return Meaning(_turned(entry.canonical, entry.rule), entry.kind, rank, entry.rule)


def _from_expression(entry: Entry, match: re.Match[str], rank: int, dialect: str, deepest: int) -> Meaning | None:
    canonical, kind, rule, place = entry.canonical, entry.kind, entry.rule, 0
    for group, text in match.groupdict().items():
        canonical = canonical.replace(f"<{group}>", "mean" if text == "avg" else text or "")
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
    """The canonical name once the rule has been followed: "kl/update_neg" is "kl/update" with its sign turned."""
    before, after = TURNED.get(rule, ("", ""))
    return canonical.removesuffix(before) + after if before and canonical.endswith(before) else canonical


@cache
def _tables(dialect: str) -> tuple[Exact, Expressions]:
    """The rows of a dialect and then of its family: exact keys, and expressions in order."""
    exact: Exact = {}
    expressions = []
    for rank, entry in enumerate(_ordered(dialect)):
        if entry.is_expression:
            expressions.append((rank, re.compile(entry.key), entry))
        else:
            exact.setdefault(entry.key, (rank, entry))
    return exact, tuple(expressions)


@cache
def _loose_tables(dialect: str) -> tuple[Exact, Expressions]:
    """The same by words. Two keys of the same words and different meaning are left out, and so are expressions that
    stand for another key."""
    exact: Exact = {}
    expressions = []
    differ = set()
    for rank, entry in enumerate(_ordered(dialect)):
        if entry.is_expression:
            if "<map(" not in entry.canonical and "<as(" not in entry.canonical:
                expressions.append((rank, re.compile(_loosened(entry.key), re.IGNORECASE), entry))
        else:
            first = exact.setdefault(words(entry.key), (rank, entry))[1]
            if first.dialect == entry.dialect and first.canonical != entry.canonical:
                differ.add(words(entry.key))
    return {name: row for name, row in exact.items() if name not in differ}, tuple(expressions)


def _loosened(expression: str) -> str:
    """The expression with any separator where it asks for a certain one. What stands in [...] or names a group stays.

    >>> re.fullmatch(_loosened(r"^val-core/(?P<ds>.+)/acc$"), "val_core_gsm8k_acc")["ds"]
    'gsm8k'
    """
    parts = re.split(r"(\\.|\[[^\]]*\]|\(\?(?:P<\w+>|[!=:<]+))", expression)
    return "".join(part if number % 2 else re.sub(r"[/@ _-]", SEPARATOR, part) for number, part in enumerate(parts))


def _ordered(dialect: str) -> list[Entry]:
    """The rows of the dialect's file, its own first, in the order of the file."""
    family = family_of(dialect)
    return sorted(families()[family] if family else (), key=lambda entry: entry.dialect != dialect)


@cache
def _rows_by_words() -> dict[str, tuple[Entry, ...]]:
    """The exact keys of every dialect by their words. Records of machines are no metrics of a run."""
    found: dict[str, list[Entry]] = {}
    for entries in families().values():
        for entry in entries:
            if not entry.is_expression and any(other.signature for other in entries):
                found.setdefault(words(entry.key), []).append(entry)
    return {name: tuple(rows) for name, rows in found.items()}
