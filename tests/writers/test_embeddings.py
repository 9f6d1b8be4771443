"""The model of the `embeddings` extra, as it is installed."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from writers.launch import run_program
from written import flat, named, run, view

import leadline
from leadline.embeddings import load_embedder
from leadline.reading import generations
from leadline.reading.generations.embedder import Embedder
from leadline.words import sentence

HACKED = Path(leadline.__file__).parent / "examples" / "hacked"

# Ten subjects, each said in words of its own; and one subject in as many words, most of them used once.
SUBJECTS = (
    ("the bank raised interest rates", "inflation worries investors", "bond markets fell on monday"),
    ("simmer the onions in butter", "bake the bread for an hour", "season the soup with salt"),
    ("the striker scored a late goal", "the team won the football cup", "the referee blew the whistle"),
    ("the spacecraft entered orbit", "astronomers saw a distant galaxy", "the rocket left the launch pad"),
    ("the patient took the medicine", "surgeons repaired the heart valve", "the vaccine prevents infection"),
    ("the senate passed the bill", "voters elected a new president", "the minister resigned at noon"),
    ("the violin opened the symphony", "the choir sang a quiet hymn", "the band tuned their guitars"),
    ("the compiler reported an error", "the server crashed at midnight", "the program sorts a list"),
    ("glaciers carved the valley", "the volcano erupted in spring", "the river flooded the plain"),
    ("the judge sentenced the thief", "the lawyer questioned a witness", "police arrested the burglar"),
)
DOGS = ("the dog", "a puppy", "our hound", "that terrier", "the spaniel", "my old beagle", "this poodle", "his collie")
DOING = (
    "barks at",
    "chases",
    "sniffs",
    "fetches for",
    "licks",
    "guards",
    "growls at",
    "runs after",
    "wags its tail at",
)
WHOM = ("the kitten", "its owner", "another mutt", "the mailman", "a squirrel", "the vet", "the shepherd", "her pups")
SAYINGS = [" ".join(words) for words in product(DOGS, DOING, WHOM)]


def narrowing(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    """From many subjects to one, in ever different words."""
    subject = dice.choice(SUBJECTS)
    said = subject if share < 0.5 else SAYINGS
    return " , ".join(dice.choice(said) for _ in range(4)), dice.random()


def steady(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    return narrowing(dice, 0.0, prompt)


@pytest.fixture(scope="module")
def model() -> Embedder:
    return load_embedder()


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """What two processes held, one with a single thread, one with several."""
    found = []
    for threads in ("1", "4"):
        out = tmp_path_factory.mktemp("embed")
        run_program("embed", out, OMP_NUM_THREADS=threads, RAYON_NUM_THREADS=threads, TOKENIZERS_PARALLELISM="true")
        found.append(json.loads((out / "held.json").read_text()))
    return found


def test_it_is_the_same_to_the_last_bit_however_many_threads_there_are(held: list[dict[str, object]]) -> None:
    assert held[0]["vectors"] == held[1]["vectors"]


def test_nothing_is_fetched_and_the_process_is_left_as_it_was(held: list[dict[str, object]]) -> None:
    assert (held[0]["handlers"], held[0]["level"]) == (0, 30)
    assert held[0]["loaded"] == []


def test_the_same_in_other_words_lies_closer_than_another_subject(model: Embedder) -> None:
    dog, puppy, stocks = model.embed(
        ["a dog runs in the park", "the puppy sprints across the garden", "stock prices fell sharply on monday"]
    )
    assert dog @ puppy > 2 * (dog @ stocks)


def test_every_text_becomes_a_vector_of_length_one_and_an_empty_one_none(model: Embedder) -> None:
    vectors = model.embed(["", "x", "\ud800", "\x00", "犬が公園を走る", "w" * 5000])
    assert np.sqrt((vectors**2).sum(axis=1)) == pytest.approx([0, 1, 1, 1, 1, 1])


def test_one_subject_in_ever_new_words_is_seen_where_phrases_see_nothing(model: Embedder) -> None:
    found = generations.read(view(run(narrowing, {"reward/mean": flat(200)})), model)
    across = named(found, "generation.meaning")
    assert sentence(across).startswith("Answers to different prompts are closer in meaning")
    assert across.p > 0.95
    assert 80 <= (across.since_step or 0) <= 110
    assert "generation.diversity" not in {one.id for one in found}
    calm = generations.read(view(run(steady, {"reward/mean": flat(200)})), model)
    assert "generation.meaning" not in {one.id for one in calm}


def test_a_reading_with_embeddings_is_repeatable_and_leaves_the_verdict_alone() -> None:
    bare, rich, again = (leadline.read(HACKED, embeddings=asked) for asked in (False, True, True))
    assert rich.as_data() == again.as_data()
    assert rich.as_data()["judgement"] == bare.as_data()["judgement"]
    assert set(rich.names) - set(bare.names) == {"text/meaning_spread", "text/meaning_within"}
    values = rich.series("text/meaning_spread")[1]
    assert values[:2].mean() == pytest.approx(1, abs=1e-6)
    assert rich.band("text/meaning_spread") is not None
