"""What one set of samples shares that another lacks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from leadline.facts.chart import PhraseShared
from leadline.run import Rollout, Rollouts
from leadline.text.phrases import shared
from leadline.text.sampler import Batch, look

FILLERS = ("the boat sails far away", "a cat sleeps on the mat", "rain falls over green hills", "we walk home at night")


def batches(texts: dict[int, list[tuple[str, float]]]) -> tuple[Batch, ...]:
    kept = {
        step: tuple(Rollout(step, f"prompt {n}", text, score) for n, (text, score) in enumerate(some))
        for step, some in texts.items()
    }
    return look(Rollouts(kept))


def filler(number: int) -> str:
    return f"{FILLERS[number % 4]} {FILLERS[number // 4 % 4]} {number}"


def phrases(found: tuple[PhraseShared, ...]) -> list[str]:
    return [one.phrase for one in found]


def test_a_phrase_that_only_rewarded_samples_have_is_named() -> None:
    some = [(f"{filler(n)} I am certain {n}" if n % 2 else filler(n), float(n % 2)) for n in range(24)]
    _, (pair,) = shared(batches({1: some}))
    assert pair.here == pair.there == 12
    assert any("I am certain" in one for one in phrases(pair.only_here))
    assert pair.only_there == ()
    assert pair.only_here[0].here == 1.0
    assert pair.only_here[0].there == 0.0


def test_what_came_and_what_went_over_the_run() -> None:
    texts = {
        step: [(f"{filler(n + step)} {'so it ends' if step > 3 else 'once upon a time'}", 1.0) for n in range(12)]
        for step in range(1, 7)
    }
    late, _ = shared(batches(texts))
    assert late.enough
    assert any("so it ends" in one for one in phrases(late.only_here))
    assert any("once upon a time" in one for one in phrases(late.only_there))


def test_samples_that_do_not_differ_share_nothing_alone() -> None:
    rng = np.random.default_rng(1)
    texts = {step: [(filler(int(n)), float(n % 2)) for n in rng.permutation(24)] for step in range(1, 7)}
    late, _ = shared(batches(texts))
    assert late.only_here == late.only_there == ()


def test_too_few_on_one_side_are_not_compared() -> None:
    some = [(filler(n), float(n < 3)) for n in range(24)]
    _, (pair,) = shared(batches({1: some}))
    assert (pair.here, pair.there) == (3, 21)
    assert not pair.enough
    assert pair.only_here == ()


def test_equal_rewards_have_no_high_and_low() -> None:
    _, (pair,) = shared(batches({1: [(filler(n), 1.0) for n in range(24)]}))
    assert not pair.enough


def test_windows_onto_one_text_are_named_once() -> None:
    tail = "one two three four five six seven eight"
    some = [(f"{filler(n)} {tail}" if n % 2 else filler(n), float(n % 2)) for n in range(24)]
    _, (pair,) = shared(batches({1: some}))
    assert pair.only_here
    assert all(one.split()[-2:] != other.split()[:2] for one, other in pairwise(phrases(pair.only_here)))
