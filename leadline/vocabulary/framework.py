"""Which framework wrote these keys, told from what only it writes. A wrong name is worse than none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from .entries import dialects, families
from .names import tokens, words
from .translation import translate

SIGNS = {"yes": 4, "weak": 1, "only": 4, "only weak": 1}  # how much seeing a key says for its family
ENOUGH = 4  # one key that only this framework writes, or two that few do
APART = 1  # by how much the best has to lead
FEW_WORDS = 2  # a key of so few words and no separator may be anybody's
MOSTLY = 0.45  # share of the keys that a framework must know; those that copied from it know less
PARTLY = 0.2  # the same where many keys are telling: a loop that logs much of its own
MANY = 10
ASIDE = ("_", "system", "gpu", "source/")  # of trackers and machines
COMMON = 4  # common words that tell a framework where there is nothing else
COVERED = 0.9  # share of the keys that it must know for that


def detect(keys: Iterable[str], *, algorithm: str | None = None, family: str | None = None) -> str | None:
    """The dialect these keys are written in, or None. The algorithm decides between dialects that keys cannot tell.
    `family` is given where the file itself proves the framework: then common words are enough.

    >>> detect(["actor/pg_loss", "critic/score/mean"])
    'verl'
    >>> detect(["actor_pg_loss", "critic_score_mean", "actor_ppo_kl"])  # separators flattened by an export
    'verl'
    >>> detect(["reward", "kl"], algorithm="rloo", family="trl")
    'trl-rloo'
    >>> detect(["reward", "kl"], family="trl")  # GRPO and RLOO write the same keys
    'trl'
    >>> detect(["reward", "kl"]) is None  # anybody's loop may call its numbers so
    True
    """
    return _detected(frozenset(keys), algorithm, family)


def knows_rl(keys: Iterable[str]) -> bool:
    """Whether some key is one that only RL frameworks write, whichever of them."""
    return any(
        weight[0] >= SIGNS["yes"] / 2
        for key in keys
        for name in families()
        if (weight := _weight(name, _forms(key))) is not None
    )


@lru_cache(maxsize=256)  # a run that is followed is asked about again and again
def _detected(keys: frozenset[str], algorithm: str | None, family: str | None) -> str | None:
    forms = [_forms(key) for key in keys]
    if family is None:
        best = _best(forms)
    else:
        best = family if family in families() and _scores(forms, [family])[family] >= 1 else None
    if best is None:
        return None
    signs = {name: _own_signs(best, name) for name in dialects(best)}
    written = {form for key in forms for form in key}
    seen = [
        name
        for name, (exact, expressions) in signs.items()
        if exact & written or any(pattern.fullmatch(form) for pattern in expressions for form in written)
    ]
    if not seen:  # told by the words of its keys alone
        return dialects(best)[0] if best not in dialects(best) else best
    # A dialect without signs of its own can only be told by the algorithm, and only from a less special one.
    told = [name for name in list(signs)[list(signs).index(seen[-1]) :] if not any(signs[name])]
    if named := next((name for name in told if algorithm and name.endswith(f"-{algorithm}")), None):
        return named
    # Where nothing tells a dialect from those like it, the family's name stands, if the family has rows for that.
    alike = algorithm is None and best in told and seen[-1] != dialects(best)[0]
    return best if alike and not _only(best, seen[-1]) & written else seen[-1]


def _best(forms: list[tuple[str, ...]]) -> str | None:
    """The family that leads, if one does."""
    scores = _scores(forms, list(families()))
    for name in scores:  # a framework built on another one passes its keys on
        if scores[name] >= ENOUGH and (base := _builds_on(name)) in scores:
            scores[name] += scores[base]
    ranked = sorted(scores, key=lambda name: scores[name], reverse=True)
    best, second = ranked[0], next((name for name in ranked[1:] if not _related(ranked[0], name)), "")
    leads = scores[best] >= ENOUGH and scores[best] >= scores.get(second, 0) + APART
    return best if leads and _fits(best, forms) else _by_common_words(forms)


def _fits(family: str, forms: list[tuple[str, ...]]) -> bool:
    """Whether a family knows enough of the keys. Frameworks copy names from each other, but none writes mostly what
    another one does."""
    keys = [key for key in forms if not key[0].startswith(ASIDE)]
    known = sum(any(translate(key[0], dialect) for dialect in dialects(family)) for key in keys)
    if known >= MOSTLY * len(keys):
        return True
    telling = sum(claim[0] >= SIGNS["yes"] / 2 for key in keys if (claim := _weight(family, key)) is not None)
    return telling >= MANY and known >= PARTLY * len(keys)


def _by_common_words(forms: list[tuple[str, ...]]) -> str | None:
    """The only family that knows nearly all of the keys and calls several of them common."""
    fitting = []
    for name in families():
        exact, _ = _signs(name)
        known = [key for key in forms if any(form in exact for form in key)]
        common = sum(any(exact.get(form, 0) for form in key) for key in known)
        if common >= COMMON and len(known) >= COVERED * len(forms):
            fitting.append(name)
    return fitting[0] if len(fitting) == 1 else None


def _scores(forms: list[tuple[str, ...]], among: list[str]) -> dict[str, float]:
    """How much the keys speak for each family. A key that several claim speaks for each of them less; what breaks a tie
    is how many keys a family knows. Common words add to what is distinctive and tell nothing by themselves."""
    distinctive = dict.fromkeys(among, 0.0)
    common = dict.fromkeys(among, 0.0)
    for key in forms:
        claims = {name: claim for name in among if (claim := _weight(name, key)) is not None}
        for name, (weight, exact) in claims.items():
            rivals = [other for other in claims if other != name and not _related(name, other)]
            if weight >= SIGNS["yes"] / 2:
                as_good = sum(claims[other][1] >= exact and claims[other][0] >= 1 for other in rivals)
                distinctive[name] += weight / (1 + as_good)
            else:
                common[name] += weight
    alone = len(among) == 1
    return {name: distinctive[name] + (common[name] if distinctive[name] or alone else 0.0) for name in among}


def _weight(family: str, key: tuple[str, ...]) -> tuple[float, int] | None:
    """What a key says for a family, and how it matches: 2 as it is written, 1 by an expression, 0 by its words."""
    exact, expressions = _signs(family)
    known = [form for form in key if form in exact]
    if known:
        weight = max(exact[form] for form in known)
        if known == [key[-1]] != [key[0]]:  # only with a "train/" before it that is not there
            return max(min(_told(weight, key[0]), SIGNS["yes"] / 2), 0.01), 1
        return max(_told(weight, key[0]), 0.01), 2
    if any(pattern.fullmatch(form) for pattern in expressions for form in key):
        return SIGNS["yes"], 1
    by_words = _signs_by_words(family)
    weight = max((by_words.get(words(form), 0) for form in key), default=0)
    return (min(_told(weight, key[0]), SIGNS["yes"] / 2), 0) if weight else None


def _told(weight: float, key: str) -> float:
    """A sign of few words without any structure counts half: `gen_len` may be anybody's."""
    plain = "/" not in key and "." not in key
    return weight / 2 if weight >= SIGNS["yes"] and plain and len(tokens(key)) <= FEW_WORDS else weight


def _forms(key: str) -> tuple[str, ...]:
    """A key as it may stand in a dialect file: trackers put a prefix before it, consoles leave one out."""
    bare = key.removeprefix("train/").removeprefix("eval/").removeprefix("eval_")
    return tuple(dict.fromkeys((key, bare, f"train/{key}")))


@cache
def _signs(family: str) -> tuple[dict[str, int], tuple[re.Pattern[str], ...]]:
    """The weight of every exact key of a family, and the expressions that tell it."""
    exact: dict[str, int] = {}
    expressions = []
    for entry in families()[family]:
        weight = SIGNS.get(entry.signature, 0)
        if not entry.is_expression:
            exact[entry.key] = max(weight, exact.get(entry.key, 0))
        elif weight == SIGNS["yes"]:
            expressions.append(re.compile(entry.key))
    return exact, tuple(expressions)


@cache
def _signs_by_words(family: str) -> dict[str, int]:
    """The telling keys of a family by their words, where these are more than a few."""
    exact, _ = _signs(family)
    found: dict[str, int] = {}
    for key, weight in exact.items():
        if weight >= SIGNS["yes"] and len(tokens(key)) > FEW_WORDS:
            found[words(key)] = weight
    return found


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


def _related(one: str, other: str) -> bool:
    return one == other or _builds_on(one) == other or _builds_on(other) == one


@cache
def _builds_on(family: str) -> str:
    """The family whose keys this one passes on, or ""."""
    for entry in families()[family]:
        if inner := re.fullmatch(r"<as\((.+)\)>", entry.canonical):
            return next((name for name in families() if name != family and inner[1] in dialects(name)), "")
    return ""
