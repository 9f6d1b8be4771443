"""Generations: each finding, its harmless twin, and what must not change it. Proof is in test_gamed.py."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
import written
from topics import findings
from written import concerns, flat, named, rising, run, story, view

from leadline.facts.finding import Finding
from leadline.findings.generation_length import LengthChange
from leadline.run import Rollout, Rollouts, Run
from leadline.text.phrases import Outputs
from leadline.text.sampler import look
from leadline.text.shown import CHARACTERS, MARK, shortened

LATE = 0.5  # of the run: from here on the policy writes something else


def plain(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    return story(dice), share + dice.random()


def soup(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    if share < LATE:
        return plain(dice, share, prompt)
    words = story(dice).split()
    dice.shuffle(words)
    return " ".join(words), share + dice.random()


def one_answer(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    text = story(dice) if share < LATE else "the red dog sees a small cat . the old bird finds a tall tree ."
    return text, dice.random()


def praise(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    if share < LATE:
        return plain(dice, share, prompt)
    return " ".join(dice.choice(("lovely", "happy", "lovely lovely")) for _ in range(16)), 5 + dice.random()


def longer(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    count = 2 + round(4 * share) + dice.randrange(2)
    return story(dice, count), float(count)


def read(one: Run) -> tuple[Finding, ...]:
    return findings(view(one), "generation.")


def test_a_run_that_goes_on_writing_alike_gets_no_finding() -> None:
    assert read(run(plain)) == ()


def test_without_rollouts_nothing_is_said_of_the_text() -> None:
    assert read(run()) == ()


def test_longer_answers_are_only_noted() -> None:
    lengths = list(np.linspace(20, 60, 200) + np.random.default_rng(1).standard_normal(200))
    found = read(run(longer, {"reward/mean": rising(200), "len/response_mean": lengths}))
    assert concerns(found) == set()
    finding = named(found, "generation.length")
    assert finding.severity == "note"
    facts = finding.facts
    assert isinstance(facts, LengthChange)
    assert (facts.start, facts.now) == (pytest.approx(20, abs=2), pytest.approx(60, abs=2))
    assert facts.reward == "rose"
    assert "longer responses score higher" in finding.say()


def test_a_length_that_holds_is_not_mentioned() -> None:
    assert read(run(plain, {"reward/mean": rising(200), "len/response_mean": flat(200, 100.0, 3.0)})) == ()


def test_length_is_read_from_samples_where_the_log_does_not_say() -> None:
    assert "characters" in named(read(run(longer)), "generation.length").say()


def test_a_jump_of_length_is_dated() -> None:
    lengths = flat(100, 100.0, 2.0) + flat(100, 40.0, 2.0)
    says = named(read(run(None, {"reward/mean": flat(200), "len/response_mean": lengths})), "generation.length").say()
    assert "shrank 10" in says
    assert "mostly at step 101" in says


def test_what_came_with_a_rise_of_the_reward_is_shown_and_only_noted() -> None:
    reward = flat(100, 0.3) + flat(100, 5.0)
    finding = named(read(run(praise, {"reward/mean": reward})), "generation.shortcut")
    assert finding.severity == "note"
    assert "lovely" in finding.say()
    assert any("lovely" in one.output for one in finding.evidence[0].samples)


def test_a_phrase_that_comes_while_the_reward_does_not_rise_is_not_named() -> None:
    assert "generation.shortcut" not in {one.id for one in read(run(praise, {"reward/mean": flat(200)}))}


def test_a_phrase_that_comes_with_reward_alone_is_only_noted() -> None:
    def answer(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
        boxed = dice.random() < share
        return story(dice, 4) + (" the answer is boxed ." if boxed else ""), float(boxed)

    found = read(run(answer, files=20))
    assert concerns(found) == set()
    assert "answer is boxed" in named(found, "generation.shortcut").say()


@pytest.mark.parametrize(
    ("values", "said"), [([0.0] * 60 + [0.9] * 60, True), ([0.9] * 120, False), ([0.1] * 120, False)]
)
def test_truncation_is_read_against_its_own_start(values: list[float], said: bool) -> None:
    noisy = list(np.clip(np.asarray(values) + 0.02 * np.random.default_rng(0).standard_normal(120), 0, 1))
    found = read(run(None, {"reward/mean": flat(120), "len/response_clip_frac": noisy}))
    assert ("generation.truncation" in concerns(found)) is said
    ended = read(run(None, {"reward/mean": flat(120), "len/terminated_frac": [1 - one for one in noisy]}))
    assert ("generation.truncation" in concerns(ended)) is said


RISES = np.array([0.0] * 60 + [0.9] * 60)  # a share that rises


@pytest.mark.parametrize(
    ("length", "longest", "cap", "said"),
    [
        (100.0, None, 1024, False),  # nearly all are said to be cut off, and none is long
        (100.0, 1024.0, None, False),  # the same, where the longest of every step shows the cap
        (900.0, 1024.0, None, True),
        (600.0, None, 1024, True),  # a cap that counts the prompt, too
        (100.0, None, None, True),  # nothing contradicts it
    ],
)
def test_truncation_that_lengths_contradict_is_none(
    length: float, longest: float | None, cap: int | None, said: bool
) -> None:
    logged = {
        "reward/mean": flat(120),
        "len/response_clip_frac": RISES.tolist(),
        "len/response_mean": [length] * 120,
    }
    if longest is not None:
        logged["len/response_max"] = [longest] * 120
    made = run(None, logged)
    found = read(replace(made, config=replace(made.config, length_cap=cap)))
    assert ("generation.truncation" in concerns(found)) is said


@pytest.mark.parametrize(("cap", "said"), [(1024, True), (2048, False), (None, False)])
def test_lengths_that_came_to_sit_at_the_cap_are_truncation(cap: int | None, said: bool) -> None:
    grown = [*np.linspace(200, 1024, 80), *[1024.0] * 40]
    made = run(None, {"reward/mean": flat(120), "len/response_mean": grown})
    found = read(replace(made, config=replace(made.config, length_cap=cap)))
    assert ("generation.truncation" in concerns(found)) is said


def essence(found: tuple[Finding, ...]) -> list[tuple[str, str, float]]:
    return [(one.id, one.severity, one.p) for one in found]


@pytest.mark.parametrize("write", [soup, praise, one_answer, longer])
def test_the_unit_of_reward_and_of_steps_changes_nothing(write: written.Writer) -> None:
    base = read(run(write))
    assert essence(read(run(write))) == essence(base)
    scaled = read(run(write, {"reward/mean": [3 * one + 7 for one in rising(200)]}, scale=3.0))
    stretched = read(run(write, unit=10))
    for other in (scaled, stretched):
        assert [one[:2] for one in essence(other)] == [one[:2] for one in essence(base)]
        assert [one.p for one in other] == pytest.approx([one.p for one in base], abs=1e-6)
    assert [one.say() for one in scaled] == [one.say() for one in base]


HOSTILE = ["", "\x00\x01\x1b[31m", "\ud800 lone", "w" * 1_000_000, "a\u0301" * 500, "\U0001f600" * 300, " \n\t ", "x"]


def test_hostile_text_is_read_without_a_word_of_complaint() -> None:
    def hostile(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
        return dice.choice(HOSTILE), dice.choice([0.0, 1.0, float("nan"), float("inf")])

    assert read(run(hostile, files=8)) == ()


def test_what_is_shown_is_short_and_printable_anywhere() -> None:
    for text in HOSTILE:
        shown = shortened(Rollout(1, text, text, 1.0))
        for part in (shown.output, shown.prompt):
            assert len(part) <= 4 * (CHARACTERS + len(MARK))
            assert "\x1b" not in part
            assert "\x00" not in part
            part.encode()  # a lone surrogate would break every JSON writer


def test_empty_outputs_throughout_say_nothing() -> None:
    assert read(run(lambda dice, share, prompt: ("", 0.0), {"reward/mean": flat(200)})) == ()


def outputs_of(*texts: str) -> Outputs:
    kept = Rollouts({1: tuple(Rollout(1, f"{place}", text, 1.0) for place, text in enumerate(texts))})
    return Outputs.of([look(kept)])


def test_words_and_characters_are_told_apart_and_numbers_masked() -> None:
    words, characters = outputs_of(*["the sum is 12 ."] * 3), outputs_of(*["12+3=15."] * 3)
    assert words.words
    assert not characters.words
    assert "##+#" in characters.held(0)
    assert {"is 12 .<end>", "<start>the sum"} <= words.held(0)
    assert "the sum is 12 ." not in words.held(0)


def test_long_texts_keep_their_beginning_and_their_end() -> None:
    held = outputs_of("begin " + " ".join(map(str, range(100_000))) + " finish").held(0)
    assert {"<start>begin", "finish<end>"} <= held
    assert "50000" not in held
