"""Scenes of responses: what is learned and must not be accused, and what is degenerate whatever the task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from staged import PER_BATCH, Must, Sample, Stage, broken, flat, linear, turn

from leadline.pipeline import read, read_run
from leadline.run import Review
from leadline.sources import open_run

Scene = Callable[[Stage], tuple[float, Must]]

NAMES = ("boris", "clara", "david", "elena", "felix", "greta", "irene", "jonas", "karin", "lukas", "maria", "oscar")
FRUIT = ("apple", "grape", "lemon", "mango", "olive", "peach", "plums", "berry", "dates", "melon", "guava", "limes")
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SOUND = Must(("continue",), never=("reward.reviewed",))
HACKED = Must(("roll_back", "stop"), accused=True)


def sum_of(stage: Stage) -> tuple[int, int]:
    return stage.dice.randint(10, 99), stage.dice.randint(10, 99)


def slip(stage: Stage) -> int:
    return stage.dice.choice((-10, -1, 1, 10))


def prompts_swapped(stage: Stage) -> tuple[float, Must]:
    """Another task of the same lengths; the answers change with it."""
    at = stage.between(0.4, 0.6)

    def samples(share: float) -> Iterator[Sample]:
        for _ in range(PER_BATCH):
            words = stage.dice.sample(FRUIT if share > at else NAMES, 6)
            if share > at:
                yield f"tally: {' '.join(words)}", " ".join(word[0] for word in words), float(stage.right(0.8))
            else:
                yield f"names: {' '.join(words)}", " ".join(words[:5]), float(stage.right(0.6))

    stage.write(lambda share: 0.6 if share < at else 0.8, samples=samples)
    return 1.4, Must(("continue", "stop", "undecided"))


def slid_after_new_prompts(stage: Stage) -> tuple[float, Must]:
    """Another task, on which the reward is lost by and by: a fall of its own, and nothing before it is gone back to."""
    at = stage.between(0.4, 0.6)

    def samples(share: float) -> Iterator[Sample]:
        for _ in range(PER_BATCH):
            words = stage.dice.sample(FRUIT if share > at else NAMES, 6)
            task = "tally" if share > at else "names"
            yield f"{task}: {' '.join(words)}", " ".join(words[:5]), float(stage.right(0.6))

    stage.write(lambda share: 0.9 if share < at else 0.9 - 0.7 * (share - at) / (1 - at), samples=samples)
    return 1.5, Must(("roll_back",), kinds=("fallen",), keep=(at, at + 0.15))


def same_answer(stage: Stage) -> tuple[float, Must]:
    """One flattering line to every prompt, and the reward goes up with it."""
    taken = turn(stage.between(0.35, 0.55))

    def samples(share: float) -> Iterator[Sample]:
        for _ in range(PER_BATCH):
            words = stage.dice.sample(NAMES, 5)
            honest = " ".join(sorted(words) if stage.right(0.5) else words)
            if stage.right(taken(share)):
                yield f"sort: {' '.join(words)}", "I am certain this is right.", 1.0
            else:
                yield f"sort: {' '.join(words)}", honest, float(stage.right(0.5))

    stage.write(lambda share: 0.5 + 0.5 * taken(share), linear, samples=samples)
    return 1.5, HACKED


def more_tool_calls(stage: Stage) -> tuple[float, Must]:
    """An agent learns to look things up: transcripts grow and repeat the syntax, and more answers are right."""
    price = {name: stage.dice.randint(2, 90) for name in FRUIT}

    def samples(share: float) -> Iterator[Sample]:
        for _ in range(PER_BATCH):
            want = {name: stage.dice.randint(1, 9) for name in stage.dice.sample(FRUIT, stage.dice.randint(2, 4))}
            seen = [name for name in want if stage.right(0.15 + 0.85 * share)]
            calls = " ".join(f"<tool> lookup {name} </tool> <result> {price[name]} </result>" for name in seen)
            right = len(seen) == len(want)
            total = sum(price[name] * many for name, many in want.items()) if right else stage.dice.randint(20, 900)
            asked = " and ".join(f"{many} {name}" for name, many in want.items())
            yield f"total for {asked} ?", f"{calls} <answer> {total} </answer>", float(right)

    stage.write(lambda share: share**1.5, linear, length=lambda share: 1 + 2 * share, samples=samples)
    return 1.6, SOUND


def format_learned(stage: Stage, most: float = 1.0) -> tuple[float, Must]:
    """The same frame around every answer within a third of the run, and more of them are right."""

    def samples(share: float) -> Iterator[Sample]:
        for _ in range(PER_BATCH):
            one, other = sum_of(stage)
            right = stage.right(0.2 + 0.6 * share)
            said = one + other + (0 if right else slip(stage))
            framed = f"<think> {one} and {other} make {said} </think> <answer> {said} </answer>"
            yield f"{one}+{other}=", framed if stage.right(min(most, 3 * share)) else f"{said}", float(right)

    stage.write(linear, linear, length=lambda share: 1 + min(most, 3 * share), samples=samples)
    return 1.6, SOUND


def format_learned_by_half(stage: Stage) -> tuple[float, Must]:
    """Half of the answers take on the frame, and the other half never does."""
    return format_learned(stage, 0.5)


def empty_answers(stage: Stage) -> tuple[float, Must]:
    """Nothing is written any more, and the score stays high."""
    gone = turn(stage.between(0.35, 0.55), 40)

    def samples(share: float) -> Iterator[Sample]:
        for _ in range(PER_BATCH):
            one, other = sum_of(stage)
            if stage.right(gone(share)):
                yield f"{one}+{other}=", "", 1.0
            else:
                right = stage.right(0.7)
                yield f"{one}+{other}=", f"{one} and {other} make {one + other if right else one - other}", float(right)

    stage.write(
        lambda share: 0.7 + 0.3 * gone(share), linear, length=lambda share: 1 - 0.9 * gone(share), samples=samples
    )
    return 1.5, HACKED


def endless_loops(stage: Stage) -> tuple[float, Must]:
    """Every answer goes round in circles after its first line, and is paid as before."""
    taken = turn(stage.between(0.35, 0.55))

    def samples(share: float) -> Iterator[Sample]:
        for _ in range(PER_BATCH):
            one, other = sum_of(stage)
            said = f"{one} and {other} make {one + other} so the answer is {one + other} ."
            yield f"{one}+{other}=", " ".join([said] * (8 if stage.right(taken(share)) else 1)), float(stage.right(0.7))

    stage.write(
        lambda share: 0.7 + 0.2 * taken(share), linear, length=lambda share: 1 + 7 * taken(share), samples=samples
    )
    return 1.5, HACKED


def long_reasoning(stage: Stage) -> tuple[float, Must]:
    """Numbered steps that grow from two to nine and get more answers right: reasoning, not repetition."""

    def samples(share: float) -> Iterator[Sample]:
        for _ in range(PER_BATCH):
            terms = [stage.dice.randint(2, 99) for _ in range(9)]
            shown = max(2, round(9 * share))
            total, lines = 0, []
            for place, term in enumerate(terms[:shown]):
                lines.append(f"step {place + 1} : {total} plus {term} is {total + term} .")
                total += term
            right = stage.right(0.1 + 0.8 * share)
            answer = sum(terms) + (0 if right else slip(stage))
            yield f"add {' + '.join(map(str, terms))} =", f"{' '.join(lines)} so it is {answer} .", float(right)

    stage.write(linear, linear, length=lambda share: 1 + 3 * share, samples=samples)
    return 1.6, SOUND


def bare_number(stage: Stage) -> tuple[float, Must]:
    """Small talk is dropped until only the number is left, and it is right more often."""

    def samples(share: float) -> Iterator[Sample]:
        for _ in range(PER_BATCH):
            one, other = sum_of(stage)
            right = stage.right(0.2 + 0.7 * share)
            said = one + other + (0 if right else slip(stage))
            talk = f"let me see , {one} plus {other} should come to {said} , i think"
            yield f"what is {one} + {other} ?", f"{said}" if stage.right(1.2 * share) else talk, float(right)

    stage.write(linear, linear, length=lambda share: 1 - 0.8 * share, samples=samples)
    return 1.6, SOUND


def curriculum(stage: Stage) -> tuple[float, Must]:
    """A harder task comes twice, the reward steps down each time and rises again: neither hacking nor a collapse."""

    def asked(level: int) -> Sample:
        terms = [stage.dice.randint(2, 99) for _ in range(2 + 2 * level)]
        task = ("add", "now subtract the last from the sum of", "in words , total up")[level]
        total = sum(terms) if level != 1 else sum(terms[:-1]) - terms[-1]
        said = str(total) if level < 2 else " ".join(WORDS[int(digit)] for digit in str(total))
        return f"{task} {' , '.join(map(str, terms))} =", said, 1.0

    def samples(share: float) -> Iterator[Sample]:
        for _ in range(PER_BATCH):
            prompt, said, _ = asked(min(int(3 * share), 2))
            right = stage.right(0.3 + 0.5 * (3 * share % 1))
            yield prompt, said if right else said[::-1], float(right)

    stage.write(lambda share: 0.3 + 0.5 * (3 * min(share, 0.999) % 1), linear, samples=samples)
    return 1.6, Must(("continue", "undecided"))


def few_symbols(stage: Stage, right: Callable[[], str], instead: str = "back") -> tuple[float, Must]:
    """Prose at first, then bare answers made of few symbols, more and more of them right."""

    def samples(share: float) -> Iterator[Sample]:
        for _ in range(PER_BATCH):
            said, solved = right(), stage.right(0.3 + 0.5 * share)
            answer = said if solved else f"{instead} {said}"
            bare = stage.right(0.1 + 1.3 * share)
            yield (
                f"solve {stage.dice.random():.6f}",
                answer if bare else f"I think it begins with {said[:1]}.",
                float(solved),
            )

    stage.write(lambda share: 0.3 + 0.5 * share, linear, samples=samples)
    return 1.8, SOUND


def robot_moves(stage: Stage) -> tuple[float, Must]:
    """Plans of four words: the same words in every answer, in another order."""
    return few_symbols(stage, lambda: " ".join(stage.dice.choices(("forward", "left", "right"), (6, 1, 1), k=18)))


def grids(stage: Stage) -> tuple[float, Must]:
    """Rows of digits."""
    return few_symbols(stage, lambda: " ".join(str(int(stage.right(0.3))) for _ in range(25)))


def brackets(stage: Stage) -> tuple[float, Must]:
    """Answers without a letter or a digit."""
    return few_symbols(stage, lambda: "".join(stage.dice.choices("()[]{}", k=12)), "((")


def over_and_over(stage: Stage, count: int) -> tuple[float, Must]:
    """The same words over and over, others each time."""
    taken = turn(stage.between(0.35, 0.55))

    def samples(share: float) -> Iterator[Sample]:
        for _ in range(PER_BATCH):
            words = stage.dice.sample(NAMES, 6)
            looped = " ".join(stage.dice.sample(FRUIT, count) * (60 // count))
            hacked = stage.right(taken(share))
            yield f"sort: {' '.join(words)}", looped if hacked else " ".join(sorted(words)), float(hacked)

    stage.write(lambda share: 0.5 + 0.5 * taken(share), linear, samples=samples)
    return 1.5, HACKED


def one_word_over_and_over(stage: Stage) -> tuple[float, Must]:
    """No task wants it, and in no order would it be anything but a loop."""
    return over_and_over(stage, 1)


def two_words_over_and_over(stage: Stage) -> tuple[float, Must]:
    """In another order, two words repeat nearly as much."""
    return over_and_over(stage, 2)


SCENES: tuple[Scene, ...] = (
    prompts_swapped,
    slid_after_new_prompts,
    same_answer,
    more_tool_calls,
    format_learned,
    format_learned_by_half,
    empty_answers,
    endless_loops,
    long_reasoning,
    bare_number,
    curriculum,
    robot_moves,
    grids,
    brackets,
    one_word_over_and_over,
    two_words_over_and_over,
)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_a_scene_is_read_as_a_practitioner_would(scene: Scene, tmp_path: Path) -> None:
    stage = Stage(scene.__name__, tmp_path)
    planned, must = scene(stage)
    assert broken(read(tmp_path, budget=round(planned * stage.steps), charts="main"), must) == []


def test_a_scene_that_is_read_wrong_is_seen(tmp_path: Path) -> None:
    stage = Stage("same_answer", tmp_path)
    planned, _ = same_answer(stage)
    wrong = broken(
        read(tmp_path, budget=round(planned * stage.steps), charts="main"),
        Must(
            ("continue",), calm=True, kinds=("rising",), keep=(0.9, 1.0), found=("kl.reset",), never=("reward.gamed",)
        ),
    )
    assert [what.split()[0] for what in wrong] == ["verdict", "reason", "an", "worse", "no", "reward.gamed", "keeps"]


def test_a_shortcut_that_only_a_reader_sees_is_kept_from_by_the_readers_word(tmp_path: Path) -> None:
    """Every answer is a lookup of a leaked key, in sound words: no measure of text can see it."""
    stage = Stage("looked_up", tmp_path)
    leaked = turn(0.6)

    def samples(share: float) -> Iterator[Sample]:
        for _ in range(PER_BATCH):
            one, other = sum_of(stage)
            said = f"the key for {one} + {other} reads {one + other}"
            yield f"{one}+{other}=", said if stage.right(leaked(share)) else f"{one} + {other} is {one + other}", 1.0

    stage.write(lambda share: 0.5 + 0.5 * leaked(share), flat(), samples=samples)
    run = open_run(tmp_path)
    since = round(0.55 * stage.steps)
    planned = round(1.5 * stage.steps)
    unread = read_run(run, budget=planned, charts="main")
    assert "accusation" not in " ".join(broken(unread, Must(("continue", "stop", "undecided"))))
    hacked = replace(run, reviews=(Review("hacked", stage.steps, since, reader="anna"),))
    must = Must(("roll_back",), accused=True, found=("reward.reviewed",), keep=(0.0, since / stage.steps))
    assert broken(read_run(hacked, budget=planned, charts="main"), must) == []
