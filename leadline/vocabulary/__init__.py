"""What a number is: the canonical name and kind behind a framework's own key.

One CSV a framework, one row a key or regular expression (it then starts with `^`). A file may hold several dialects:
the first is the base, later ones are more special and list only what they write differently. A new framework is a new
CSV and no code; where the logged number needs turning into the canonical one, its row names a rule (`rules.py`).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

HERE = Path(__file__).parent
SIGNS = {"yes": 4, "weak": 1, "only": 4, "only weak": 1}  # how much seeing a key says for its family
ENOUGH = 4  # one key that only this dialect writes, or as many common ones
DEEPEST = 4  # how often one key may stand for another: a hostile one could do so without end
# Canonical names of numbers that a rule turns into the plain ones: percent into fraction, the other sign, a count.
TURNED = {"negate": ("_neg", ""), "percent": ("_pct", "_frac"), "share_of_groups": ("_count", "_frac")}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one native key stands for."""

    canonical: str  # "kl/ref"
    kind: str  # "nats/token, k3, >=0, token mean"
    rank: int  # its place in the dialect: where two keys mean the same, the lower one takes the name
    rule: str = ""  # how the logged numbers become canonical ones; "" as they are


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
    def kind(self) -> str:
        first_clause = self.caveat.split(";")[0].strip()
        return ", ".join(word for word in (self.unit.strip("-"), first_clause) if word)


@cache
def families() -> dict[str, tuple[Entry, ...]]:
    """The rows of every dialect file, by file name."""
    return {file.stem: _entries(file) for file in sorted(HERE.glob("*.csv"))}


def dialects(family: str) -> tuple[str, ...]:
    """The dialects of one file, the base first."""
    return tuple(dict.fromkeys(entry.dialect for entry in families()[family]))


def detect(keys: Iterable[str], *, algorithm: str | None = None, family: str | None = None) -> str | None:
    """The dialect these keys are written in, or None. The algorithm decides between dialects that keys cannot tell.
    `family` is given where the file itself proves the framework: then common words are enough.

    >>> detect(["actor/pg_loss", "critic/score/mean"])
    'verl'
    >>> detect(["reward", "kl"], algorithm="rloo", family="trl")
    'trl-rloo'
    >>> detect(["reward", "kl"], family="trl")  # GRPO and RLOO write the same keys
    'trl'
    >>> detect(["reward", "kl"]) is None  # anybody's loop may call its numbers so
    True
    """
    return _detected(frozenset(keys), algorithm, family)


@lru_cache(maxsize=256)  # a run that is followed is asked about again and again
def _detected(keys: frozenset[str], algorithm: str | None, family: str | None) -> str | None:
    forms = [_forms(key) for key in keys]
    scores = {name: _score(name, forms) for name in ([family] if family else families())}
    for name in scores:  # a framework built on another one passes its keys on
        if scores[name] >= ENOUGH and (base := _builds_on(name)) in scores:
            scores[name] += scores[base]
    best = max(scores, key=lambda name: scores[name], default=None)
    if best is None or scores[best] < (1 if family else ENOUGH):
        return None
    signs = {name: _own_signs(best, name) for name in dialects(best)}
    written = {form for key in forms for form in key}
    seen = [
        name
        for name, (exact, expressions) in signs.items()
        if exact & written or any(pattern.fullmatch(form) for pattern in expressions for form in written)
    ]
    # A dialect without signs of its own can only be told by the algorithm, and only from a less special one.
    told = [name for name in list(signs)[list(signs).index(seen[-1]) :] if not any(signs[name])]
    if named := next((name for name in told if algorithm and name.endswith(f"-{algorithm}")), None):
        return named
    # Where nothing tells a dialect from those like it, the family's name stands, if the family has rows for that.
    alike = algorithm is None and best in told and seen[-1] != dialects(best)[0]
    return best if alike and not _only(best, seen[-1]) & written else seen[-1]


def _forms(key: str) -> tuple[str, ...]:
    """A key as it may stand in a dialect file: trackers put a prefix before it, consoles leave one out."""
    bare = key.removeprefix("train/").removeprefix("eval/").removeprefix("eval_")
    return tuple(dict.fromkeys((key, bare, f"train/{key}")))


def _score(family: str, forms: Iterable[tuple[str, ...]]) -> float:
    """How much the keys speak for a family; what breaks a tie is how many of them it knows."""
    score = 0.0
    exact, expressions = _signs(family)
    for key in forms:
        weight = max((exact.get(form, 0) for form in key), default=0)
        if weight < SIGNS["yes"] and any(pattern.fullmatch(form) for pattern in expressions for form in key):
            weight = SIGNS["yes"]
        score += weight
        if any(form in exact for form in key):
            score += 0.01
    return score


@cache
def _signs(family: str) -> tuple[dict[str, int], tuple[re.Pattern[str], ...]]:
    """The weight of every exact key of a family, and the expressions that tell it."""
    exact: dict[str, int] = {}
    expressions = []
    for entry in families()[family]:
        weight = SIGNS.get(entry.signature, 0)
        if not entry.key.startswith("^"):
            exact[entry.key] = max(weight, exact.get(entry.key, 0))
        elif weight == SIGNS["yes"]:
            expressions.append(re.compile(entry.key))
    return exact, tuple(expressions)


@cache
def _own_signs(family: str, dialect: str) -> tuple[frozenset[str], tuple[re.Pattern[str], ...]]:
    """The exact keys and the expressions that tell one dialect of a family."""
    own = [entry.key for entry in families()[family] if entry.dialect == dialect and entry.signature]
    expressions = tuple(re.compile(key) for key in own if key.startswith("^"))
    return frozenset(key for key in own if not key.startswith("^")), expressions


@cache
def _only(family: str, dialect: str) -> frozenset[str]:
    """The keys that tell a dialect from those that are otherwise like it."""
    own = (entry for entry in families()[family] if entry.dialect == dialect)
    return frozenset(entry.key for entry in own if entry.signature.startswith("only"))


@cache
def _builds_on(family: str) -> str:
    """The family whose keys this one passes on, or ""."""
    for entry in families()[family]:
        if inner := re.fullmatch(r"<as\((.+)\)>", entry.canonical):
            return next((name for name in families() if name != family and inner[1] in dialects(name)), "")
    return ""


@cache
def translate(key: str, dialect: str) -> Meaning | None:
    """What `key` means in `dialect`; None when nobody told us. Exact keys go before expressions, the dialect's own
    rows before those of its family.

    >>> translate("kl", "trl-grpo").canonical, translate("kl", "trl-asyncgrpo").canonical
    ('kl/ref', 'kl/update')
    >>> translate("eval_reward", "trl-grpo").canonical
    'eval/reward/mean'
    """
    return _translate(key, dialect, DEEPEST)


def _translate(key: str, dialect: str, deepest: int) -> Meaning | None:
    if deepest == 0:
        return None
    exact, expressions = _tables(dialect)
    if key in exact:
        rank, entry = exact[key]
        return Meaning(_turned(entry.canonical, entry.rule), entry.kind, rank, entry.rule)
    for rank, pattern, entry in expressions:
        if match := pattern.fullmatch(key):
            return _from_expression(entry, match, rank, dialect, deepest - 1)
    return None


def _from_expression(entry: Entry, match: re.Match[str], rank: int, dialect: str, deepest: int) -> Meaning | None:
    canonical, kind, rule = entry.canonical, entry.kind, entry.rule
    for group, text in match.groupdict().items():
        canonical = canonical.replace(f"<{group}>", "mean" if text == "avg" else text or "")
    if other := re.fullmatch(r"<as\((.+)\)>", canonical):
        return _translate(match[0], other[1], deepest)
    if inner := re.search(r"<map\((.+)\)>", canonical):
        mapped = _translate(inner[1], dialect, deepest)
        if mapped is None:
            return None
        canonical, rule = canonical.replace(inner[0], mapped.canonical), mapped.rule
        kind = f"held-out, {mapped.kind}" if canonical.startswith("eval/") else mapped.kind
    return Meaning(_turned(canonical, rule), kind, rank, rule)


def _turned(canonical: str, rule: str) -> str:
    """The canonical name once the rule has been followed: "kl/update_neg" is "kl/update" with its sign turned."""
    before, after = TURNED.get(rule, ("", ""))
    return canonical.removesuffix(before) + after if before and canonical.endswith(before) else canonical


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
    columns = ("dialect", "key", "canonical", "unit", "caveat", "signature", "rule")
    with file.open(newline="", encoding="utf-8") as rows:
        return tuple(Entry(*(row[column] for column in columns)) for row in csv.DictReader(rows))
