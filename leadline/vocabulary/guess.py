"""The probable meaning of a key of an unknown loop, told from its words and said as a guess.

A key is taken apart into words: what is measured (a reward, a loss, a length), which statistic of it, on what (training
or held out), and what else stands there. The fewer words are left over, the plainer the key. One key for each meaning;
where several are as plain, the others are named; where none is plain, it is asked for. Whose KL a `kl` is cannot be
told from that word alone: it is listed as a KL and read as none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from ..records import dataclass, field, replace
from .dialect import Meaning, translate
from .names import listed, patterns, tokens, words

RANK = 1_000_000  # after everything a dialect knows
HELD_OUT = "eval"
REWARDS = {"reward": 6.0, "return": 5.0, "score": 4.0, "proxy": 3.5}  # how plainly the word says it
OUTCOMES = {"accuracy", "success", "solve", "pass", "win", "correct"}  # shares of answers that were right
# How near answers are to a reference.
MATCHES = {"em": "em", "match": "em", "f1": "f1", "bleu": "bleu", "chrf": "chrf", "rouge": "rouge"}
MATCHES |= {"ndcg": "ndcg", "recall": "recall", "mrr": "mrr"}  # how far up the right one is
GOLD = {"gold", "golden", "oracle"}  # a better judge than the reward that is trained on
BESIDE_A_PROXY = {"true", "real", "actual", "human", "target"}  # what is so called is one too, where a proxy is logged
STATISTICS = {"mean", "std", "var", "min", "max", "median"}
# Words that say where or when, and nothing about what.
NEUTRAL = {*listed("neutral")}
DEARER = {word: float(cost) for word, cost in listed("dearer").items()}  # words after which it may be another number
CLEARER = {"raw", "task", "env", "verifiable", "extrinsic", "unfiltered", "true"}  # as it was given, before it was used
# Words that make of a reward something else: its spread, what was done to it, what came of it.
NO_REWARD = {*listed("no reward")}
LEAST = 3.0  # below it a key is not called a reward even where it is alone
AS_PLAIN = 1.5  # keys that are this near to the plainest are named beside it
SELDOM = 1 / 3  # of the points of another reward; a number printed now and then is a summary of it
BARE = 1.5  # what the plain word gains, and what it costs to say it twice
SUMMARY = 3.0  # what that costs, and what it costs to be the running mean of another reward
EPISODE = 0.75  # what it gains to be of an episode: a reward beside it may be that of one step in it
MOST_ASKED = 6
LIKELY = patterns("likely")  # on the usual spelling of the words, those of place left out
PLACES = NEUTRAL - {"step", "iteration", "batch", "generation", "policy", "actor", "critic", "frac", "rate", "episode"}
KL = re.compile(r"(.+_)?(kl|kl_divergence)(_(mean|loss|penalty|divergence|ref|reference|base|old|to_ref))*")
KLS = (  # which KL it is, where its words say so
    ("kl/coef", {"coef", "coeff", "beta"}, "KL coefficient"),
    ("kl/ref", {"ref", "reference", "base", "sft", "init"}, "KL to the reference, estimator not told"),
    ("kl/update", {"update", "old", "ppo"}, "KL of the update, estimator not told"),
)
TOOL = {"tool", "tools"}
FAILED = {"error", "errors", "fail", "failed", "failure", "failures"}
NOT_OF_TOOLS = {*listed("not of tools")}  # words that make of a number about tools another one
# Keys of other kinds of training: preference, reward-model, supervised.
PREFERENCE = {*listed("of preferences")}
ONLINE = {"objective/scores", "objective/rlhf_reward", "objective/kl", "val/contain_eos_token"}  # Online DPO is RL
REWARD_MODEL = {"margin", "min_reward", "max_reward", "mean_reward", "center_rewards", "accuracy"}
SUPERVISED = {*listed("supervised")}
TRAINED = {"learning_rate", "lr", "epoch", "grad_norm"}
LOSSES = {"loss", "train_loss", "training_loss", "eval_loss", "val_loss", "validation_loss", "test_loss", "lm_loss"}
STANDS_FOR_REWARD = {"success", "solve", "win", "pass"}  # an agent's outcome, where no reward is logged
SAMPLED = {
    *listed("sampled")
}  # words of what only a policy that is sampled from has: any share of right answers is then its outcome


@dataclass(frozen=True, slots=True)
class Guessed:
    """The meaning of keys by their words, and what these leave open."""

    meanings: Mapping[str, Meaning] = field(default_factory=dict)
    unclear: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # canonical name to keys that may be meant


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A key that may be a reward."""

    key: str
    words: tuple[str, ...]
    left_over: tuple[str, ...]  # words that say neither what nor where
    plainness: float

    @property
    def stem(self) -> frozenset[str]:
        return frozenset(word for word in self.words if word not in STATISTICS and not word.isdigit())


def cannot_be_reward(key: str) -> bool:
    """Tell whether the words of a key say that it is something else: a spread, a count, a loss, a rate of learning."""
    said = {*tokens(key)}
    return bool(said & (NO_REWARD | {"lr", "learning", "fps", "memory", "gpu", "epoch", "problems"}))


def may_be_reward(key: str) -> bool:
    """Tell whether the words of a key leave it open that it is a reward."""
    return _left_over(tokens(key)) is not None


def meant(keys: Iterable[str], dialect: str | None = None) -> set[str]:
    """Return what keys mean in a dialect, or by their words."""
    known = (translate(key, dialect) for key in keys) if dialect else by_words(keys).meanings.values()
    return {meaning.canonical for meaning in known if meaning is not None}


def by_words(
    keys: Iterable[str],
    points: Mapping[str, int] | None = None,
    averages: Collection[str] = (),
    *,
    rewarded: bool = False,
) -> Guessed:
    """Return the likely meaning of some of these keys, and what cannot be told; the others stay unknown. `points`: how
    often each key was logged, where that is known; `averages`: keys whose numbers are the running mean of another
    key's; `rewarded`: a reward is known, so that nothing stands for it.

    >>> found = by_words(["mean_reward", "std_reward", "kl", "bank_size"]).meanings
    >>> [(key, meaning.canonical) for key, meaning in found.items()]
    [('mean_reward', 'reward/mean'), ('std_reward', 'reward/std'), ('kl', 'kl/unidentified')]
    >>> by_words(["reward_math", "reward_code", "loss"]).unclear
    {'reward/mean': ('reward_code', 'reward_math')}
    """
    every = _beside_a_proxy({key: tokens(key) for key in sorted(keys)})
    for key, name in every.items():  # `valid/reward` is held out, `reward/valid_rate` is not
        if GOLD & {*name} and HELD_OUT not in name:  # a gold score is one apart from training
            every[key] = (HELD_OUT, *name)
        elif name[:1] == ("valid",):
            every[key] = (HELD_OUT, *name[1:])
    training = {key: name for key, name in every.items() if HELD_OUT not in name}
    held_out = {
        key: tuple(word for word in name if word != HELD_OUT) for key, name in every.items() if HELD_OUT in name
    }
    found: dict[str, Meaning] = {}
    unclear: dict[str, tuple[str, ...]] = {}
    rewards = _candidates(training, points or {}, averages)
    chosen, instead = _headline(rewards, sampled=any(SAMPLED & {*name} for name in training.values()))
    if chosen is not None:
        found[chosen] = _guess("reward/mean", "training reward", instead)
    elif instead:
        unclear["reward/mean"] = instead
    found |= _statistics(training, found, "reward/mean", "")
    forms = {key: "_".join(word for word in name if word not in PLACES) for key, name in training.items()}
    for canonical, pattern, says in LIKELY:
        fitting = [key for key, form in forms.items() if key not in found and re.fullmatch(pattern, form)]
        if fitting:
            found[min(fitting, key=lambda key: (len(training[key]), key))] = _guess(canonical, says)
    found |= _components(training, found)
    _add_outcomes(training, found, stands_in=not (rewards or unclear or rewarded))
    for key, name in training.items():
        meaning = of_tools(name)
        if meaning is not None and key not in found and not _taken(found, meaning.canonical):
            found[key] = meaning
    _add_held_out(held_out, found, points or {})
    for key, name in training.items():
        if key not in found and KL.fullmatch("_".join(name)):
            unknown = ("kl/unidentified", "a KL, between what and what the log does not say")
            told = ((canonical, says) for canonical, telling, says in KLS if telling & {*name})
            found[key] = _guess(*next(told, unknown))
    return Guessed(found, unclear)


def _beside_a_proxy(named: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the names, with a score that is called true or human gold where a proxy of it is logged as well."""
    proxy = any("proxy" in name for name in named.values())
    return {
        key: ("gold", *(word for word in name if word not in BESIDE_A_PROXY))
        if proxy and "proxy" not in name and BESIDE_A_PROXY & {*name} and (REWARDS.keys() | OUTCOMES) & {*name}
        else name
        for key, name in named.items()
    }


def _candidates(
    named: Mapping[str, tuple[str, ...]], points: Mapping[str, int], averages: Collection[str] = ()
) -> list[_Candidate]:
    """Return the keys that may be the reward as such, the plainest first."""
    found = []
    most = max((points.get(key, 0) for key, name in named.items() if _left_over(name) == ()), default=0)
    for key, name in named.items():
        left_over = _left_over(name)
        if left_over is None:
            continue
        plainness = max(REWARDS[word] for word in name if word in REWARDS) - 2.0 * len(left_over)
        plainness += (
            2.0 * ("mean" in name) + 0.5 * bool(CLEARER & {*name}) - sum(DEARER.get(word, 0.0) for word in set(name))
        )
        plainness += BARE if {*name} - {"train"} == {"reward"} else 0.0
        plainness += EPISODE * ("episode" in name)
        plainness -= SUMMARY * (key in averages)
        plainness -= BARE * (name.count("reward") > 1)  # a list of rewards, and one of them
        plainness -= SUMMARY if points.get(key, most) < SELDOM * most else 0.0
        found.append(_Candidate(key, name, left_over, plainness))
    return sorted(found, key=lambda one: (-one.plainness, -points.get(one.key, 0), len(one.words), one.key))


def _left_over(name: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the words of a reward that say nothing we know; None if the key is no reward at all."""
    if not any(word in REWARDS for word in name) or any(word in NO_REWARD for word in name):
        return None
    known = NEUTRAL | DEARER.keys() | REWARDS.keys() | {"mean"}
    return tuple(word for word in name if word not in known and not word.isdigit())


def _headline(rewards: list[_Candidate], *, sampled: bool) -> tuple[str | None, tuple[str, ...]]:
    """Return the plainest key and those that are nearly as plain; no key and all of them, where it cannot be told: a
    score of something may be that of anything, unless a policy is `sampled` from."""
    plain = [one for one in rewards if not one.left_over and one.plainness >= LEAST]
    if plain:
        best = plain[0]
        named = {*best.words} - REWARDS.keys()  # keys may differ only in what they call it: a score beside a reward
        near = [
            one
            for one in plain[1:]
            if one.plainness >= best.plainness - AS_PLAIN or {*one.words} - REWARDS.keys() == named
        ]
        twins = [one.key for one in near if (one.stem, one.plainness) == (best.stem, best.plainness)]
        if twins and not {"train", "rollout"} & {*best.words}:  # such as one for each agent
            return None, (best.key, *twins)[:MOST_ASKED]
        return best.key, tuple(one.key for one in near[:MOST_ASKED])
    unsure = [one for one in rewards if one.left_over]
    sure = sampled or any({"reward", "return"} & {*one.words} for one in unsure)
    if len({one.stem for one in unsure}) == 1 and sure:
        return unsure[0].key, tuple(one.key for one in unsure[1:MOST_ASKED])
    outcomes = [one for one in unsure if {*one.left_over} <= OUTCOMES]
    if len({one.stem for one in outcomes}) == 1:  # what the task is about, beside its format, its length, ...
        others = [one.key for one in unsure if one is not outcomes[0]]
        return outcomes[0].key, tuple(others[:MOST_ASKED])
    return None, tuple(one.key for one in unsure[:MOST_ASKED])


def _statistics(
    named: Mapping[str, tuple[str, ...]], found: Mapping[str, Meaning], canonical: str, prefix: str
) -> dict[str, Meaning]:
    """Return the spread and the extremes of the reward that was found: the same words with another statistic."""
    head = next((named[key] for key, meaning in found.items() if meaning.canonical == canonical and key in named), None)
    if head is None:
        return {}
    more: dict[str, Meaning] = {}
    aside = NEUTRAL | {"mean"}
    for key, name in named.items():
        others = set(name) & (STATISTICS - {"mean"})
        if len(others) == 1 and {*name} - others - aside == {*head} - aside:
            which = f"{prefix}reward/{others.pop()}"
            if not _taken(more, which):
                more[key] = _guess(
                    which, f"{which.rsplit('/', 1)[1]} of the reward" if prefix else "spread of the reward"
                )
    return more


def _components(named: Mapping[str, tuple[str, ...]], found: Mapping[str, Meaning]) -> dict[str, Meaning]:
    """Return the parts of a reward, where the whole is known: `format_reward`, `rewards/accuracy/mean`."""
    if not _taken(found, "reward/mean"):
        return {}
    parts: dict[str, Meaning] = {}
    for key, name in named.items():
        if key in found or "reward" not in name:
            continue
        rest = [word for word in name if word not in NEUTRAL | DEARER.keys() | {"reward", "mean"} or word == "rate"]
        about = [word for word in rest if not word.isdigit()]
        if about and not (set(about) & (NO_REWARD - {"length", "penalty", "component", "fn", "func"})):
            parts[key] = _guess(f"reward/component/{'_'.join(about)}/mean", "a part of the reward")
    return parts


def _add_outcomes(named: Mapping[str, tuple[str, ...]], found: dict[str, Meaning], *, stands_in: bool) -> None:
    """Add the share of right answers in training, which stands for the reward where none is logged."""
    sampled = any(SAMPLED & {*name} for name in named.values())
    for key, name in named.items():
        if key in found or not _is_outcome(name):
            continue
        if stands_in and (sampled or (STANDS_FOR_REWARD & set(name) and len(name) > 1)):
            found[key] = _guess("reward/mean", "training outcome, as no reward is logged")
        elif not _taken(found, "reward/accuracy"):
            found[key] = _guess("reward/accuracy", "training accuracy")
            continue
        return


def _is_outcome(name: tuple[str, ...]) -> bool:
    about = [word for word in name if word not in NEUTRAL and word not in ("mean", "at") and not word.isdigit()]
    return bool(about) and set(about) <= OUTCOMES | MATCHES.keys() | {"exact"}


def _add_held_out(named: Mapping[str, tuple[str, ...]], found: dict[str, Meaning], points: Mapping[str, int]) -> None:
    """Held-out rewards and accuracies. Several of them are scores on several sets, each by its own name."""
    rewards = _candidates(named, points)
    for one in rewards:
        set_name = "_".join(one.left_over)
        canonical = f"eval/{set_name}/reward/mean" if set_name else "eval/reward/mean"
        if one.plainness >= LEAST - 2.0 * len(one.left_over) and not _taken(found, canonical):
            found[one.key] = _guess(canonical, "held-out reward")
    found.update(
        {key: one for key, one in _statistics(named, found, "eval/reward/mean", "eval/").items() if key not in found}
    )
    for key, name in named.items():
        meant = [MATCHES.get(word, "acc") for word in name if word in OUTCOMES | MATCHES.keys()]
        if key in found or not (meant or GOLD & {*name}):
            continue
        aside = NEUTRAL | OUTCOMES | MATCHES.keys() | {"mean", "at", "exact"}
        left_over = [word for word in name if word not in aside and not word.isdigit()]
        canonical = "/".join(("eval", *(["_".join(left_over)] * bool(left_over)), *(meant[:1] or ["reward"]), "mean"))
        if not set(left_over) & (NO_REWARD - {"n"}) and not _taken(found, canonical):
            found[key] = _guess(canonical, "held-out accuracy" if meant else "a gold score")


def of_tools(name: tuple[str, ...]) -> Meaning | None:
    """Return how often tools are called, or fail; None for any other number."""
    said = set(name)
    if not said & TOOL or said & NOT_OF_TOOLS:
        return None
    if said & FAILED:
        return _guess("tools/failure_frac", "share of tool calls that failed")
    if "success" in said and ("mean" not in said or said & {"rate", "frac", "percent", "ratio"}):
        return replace(_guess("tools/failure_frac", "share of tool calls that failed"), rule="complement")
    if said & {"call", "calls"} and said <= TOOL | NEUTRAL | {"call", "calls", "mean", "num", "n"}:
        return _guess("tools/calls_per_sample", "tool calls of a sample")
    return None


def _taken(found: Mapping[str, Meaning], canonical: str) -> bool:
    return any(meaning.canonical == canonical for meaning in found.values())


def _guess(canonical: str, says: str, instead: tuple[str, ...] = ()) -> Meaning:
    return Meaning(canonical, f"guess: {says}", RANK, instead=instead)


def other_training(keys: Iterable[str]) -> str | None:
    """Return what kind of training these keys are of; None if it is reinforcement learning or unclear.

    >>> other_training(["loss", "learning_rate", "mean_token_accuracy"])
    'a supervised fine-tuning log'
    >>> other_training(["loss", "rewards/chosen", "rewards/margins"])
    'a DPO-style log'
    >>> other_training(["loss", "reward", "kl"]) is None
    True
    """
    bare = {key.removeprefix("train/").removeprefix("eval/").removeprefix("eval_") for key in keys}
    if len(bare & PREFERENCE) >= 2 and not bare & ONLINE:
        return "a DPO-style log"
    if "margin" in bare and len(bare & REWARD_MODEL) >= 3:
        return "a reward-model training log"
    if any(name.endswith("reward/mean") for name in meant(bare)):
        return None
    if any("reward" in key.lower() or "score" in key.lower() or "return" in key.lower() for key in bare):
        return None
    names = {words(key) for key in bare}
    if names & SUPERVISED:
        return "a supervised fine-tuning log"
    if any(word in name for name in names for word in ("kl", "policy", "actor", "advantage", "entropy")):
        return None
    if names & LOSSES and (len(names & LOSSES) > 1 or names & TRAINED):  # a loss alone may be anything
        return "a supervised fine-tuning log (loss, no reward)"
    return None
