"""Metrics as a person would call them in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from .numbers import listed

NAMES = {
    "reward/mean": "reward",
    "reward/std": "reward std",
    "kl/ref": "KL",
    "kl/ref_seq_sum": "KL",
    "kl/ref_seq_sum/per_token": "KL",
    "kl/unidentified": "KL",
    "kl/update": "approx KL",
    "entropy": "entropy",
    "grad_norm": "gradient norm",
    "lr": "learning rate",
    "kl/coef": "KL coefficient",
    "loss/policy": "policy loss",
    "loss/total": "loss",
    "clip/frac": "clip fraction",
    "mismatch/kl": "training–inference mismatch (KL)",
    "len/response_mean": "response length",
    "len/response_clip_frac": "truncated share",
    "len/prompt_mean": "prompt length",
    "group/zero_std_frac": "share of zero-variance groups",
    "group/solve_none_frac": "share of unsolved prompts",
    "group/solve_all_frac": "share of solved prompts",
}


def called(name: str) -> str:
    """A series by its common name, or by its own if it has none.

    >>> called("grad_norm"), called("eval/gsm8k/score")
    ('gradient norm', 'eval/gsm8k/score')
    """
    return NAMES.get(name, name)


def all_called(names: Sequence[str]) -> str:
    """Several series in one sentence.

    >>> all_called(["kl/ref", "entropy", "grad_norm"])
    'KL, entropy, and gradient norm'
    """
    return listed(list(dict.fromkeys(map(called, names))))


def sentence_case(text: str) -> str:
    """With a capital at its start, and the rest as it is: KL stays KL, and a key of the log stays a key.

    >>> sentence_case("entropy and KL rose"), sentence_case("eval/score dropped")
    ('Entropy and KL rose', 'eval/score dropped')
    """
    first = text.partition(" ")[0].rstrip(",.;:")
    return text[:1].upper() + text[1:] if first.isalpha() else text
