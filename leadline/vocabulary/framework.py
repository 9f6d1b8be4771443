"""The framework that wrote these keys, by what only it writes. A wrong name is worse than none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from .dialect import Entry, dialects, families, translate
from .names import tokens, words

SIGNS = {"yes": 4, "weak": 1, "only": 4, "only weak": 1}  # how much seeing a key says for its family
ENOUGH = 4  # one key that only this framework writes, or two that few do
APART = 1  # by how much the best has to lead
FEW_WORDS = 2  # a key of so few words and no separator may be anybody's
MOSTLY = 0.45  # share of the keys that a framework must know; those that copied from it know less
PARTLY = 0.2  # the same if many keys are telling: RLlib logs much of its own
MANY = 10
# What TRL has written since its first version of GRPO; nobody else writes all of it.
TRAINER = {"loss", "learning_rate", "epoch", "grad_norm", "reward", "reward_std"}
OF_COMPLETIONS = ("rewards/", "completion_length", "completions/")
ASIDE = ("_", "system", "gpu", "source/")  # of trackers and machines


def detect(keys: Iterable[str], *, algorithm: str | None = None, family: str | None = None) -> str | None:
    """Return the dialect these keys are written in, or None. The algorithm decides between dialects that keys cannot
    tell apart. `family` is given if the file itself proves the framework: then common words are enough.

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
    """Return whether some key is one that only RL frameworks write, whichever of them."""
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
        bare = {key.removeprefix("train/") for key in keys}
        trained = bare >= TRAINER and any(key.startswith(OF_COMPLETIONS) for key in bare) and "trl" in families()
        best = _best(forms) or ("trl" if trained else None)
    else:
        best = family if family in families() and _scores(forms, [family])[family] >= 1 else None
    if best is None:
        return None
    signs: dict[str, list[Entry]] = {name: [] for name in dialects(best)}
    for entry in families()[best]:
        if entry.signature:
            signs[entry.dialect].append(entry)
    written = {form for key in forms for form in key}
    seen = [name for name, own in signs.items() if any(_is_written(entry, written) for entry in own)]
    if not seen:  # told by the words of its keys alone
        return dialects(best)[0] if best not in dialects(best) else best
    # A dialect without signs of its own can only be told by the algorithm, and only from a less special one.
    told = [name for name in list(signs)[list(signs).index(seen[-1]) :] if not signs[name]]
    if named := next((name for name in told if algorithm and name.endswith(f"-{algorithm}")), None):
        return named
    # Where nothing tells a dialect from those like it, the family's name stands, if the family has rows for that.
    alike = algorithm is None and best in told and seen[-1] != dialects(best)[0]
    own = (entry for entry in families()[best] if entry.dialect == seen[-1] and entry.key in written)
    return best if alike and not any(entry.signature.startswith("only") for entry in own) else seen[-1]


def _best(forms: list[tuple[str, ...]]) -> str | None:
    """Return the family that leads, if one does."""
    scores = _scores(forms, list(families()))
    for name in scores:  # a framework built on another one passes its keys on
        if scores[name] >= ENOUGH and (base := _builds_on(name)) in scores:
            scores[name] += scores[base]
    ranked = sorted(scores, key=lambda name: scores[name], reverse=True)
    best, second = ranked[0], next((name for name in ranked[1:] if not _related(ranked[0], name)), "")
    leads = scores[best] >= ENOUGH and scores[best] >= scores.get(second, 0) + APART
    # Frameworks copy names from each other, but none writes mostly what another one does.
    keys = [key for key in forms if not key[0].startswith(ASIDE)]
    known = sum(any(translate(key[0], dialect) for dialect in dialects(best)) for key in keys) if leads else 0
    if not leads or known >= MOSTLY * len(keys):
        return best if leads else None
    telling = sum(claim[0] >= SIGNS["yes"] / 2 for key in keys if (claim := _weight(best, key)) is not None)
    return best if telling >= MANY and known >= PARTLY * len(keys) else None


def _scores(forms: list[tuple[str, ...]], among: list[str]) -> dict[str, float]:
    """Return the weight of the keys for each family. A key that several claim counts less for each; a tie is broken by
    how many keys a family knows. Common words add to what is distinctive and prove nothing by themselves."""
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
    """Return the weight of a key for a family, and how it matches: 2 as written, 1 by an expression, 0 by its words."""
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
    """Return the weight of a key; one of few words without any structure counts half: `gen_len` is common."""
    plain = "/" not in key and "." not in key
    return weight / 2 if weight >= SIGNS["yes"] and plain and len(tokens(key)) <= FEW_WORDS else weight


def _forms(key: str) -> tuple[str, ...]:
    """Return a key as it may stand in a dialect file: trackers put a prefix before it, consoles leave one out."""
    bare = key.removeprefix("train/").removeprefix("eval/").removeprefix("eval_")
    return tuple(dict.fromkeys((key, bare, f"train/{key}")))


@cache
def _signs(family: str) -> tuple[dict[str, int], tuple[re.Pattern[str], ...]]:
    """Return the weight of every exact key of a family, and the expressions that tell it."""
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
    """Return the telling keys of a family by their words, if these are more than a few."""
    exact, _ = _signs(family)
    found: dict[str, int] = {}
    for key, weight in exact.items():
        if weight >= SIGNS["yes"]:
            name = words(key)
            if name.count("_") >= FEW_WORDS or len(tokens(key)) > FEW_WORDS:  # one word may hold several tokens
                found[name] = weight
    return found


def _is_written(entry: Entry, keys: set[str]) -> bool:
    return any(map(re.compile(entry.key).fullmatch, keys)) if entry.is_expression else entry.key in keys


def _related(one: str, other: str) -> bool:
    return one == other or _builds_on(one) == other or _builds_on(other) == one


@cache
def _builds_on(family: str) -> str:
    """Return the family whose keys this one passes on, or ""."""
    for entry in families()[family]:
        if inner := re.fullmatch(r"<as\((.+)\)>", entry.canonical):
            return next((name for name in families() if name != family and inner[1] in dialects(name)), "")
    return ""
