"""The spread of meanings: what narrows it, what only looks like it, and that it never moves the verdict."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import written
from embedding import TRIPLES
from written import LOOKS, THINGS, flat, loaded, run, story, view

from leadline.cli import main
from leadline.facts import Finding
from leadline.facts.generation import CloserMeaning
from leadline.pipeline import read_run
from leadline.reading import generations
from leadline.reading.generations.meaning import ACROSS, LONGEST, WITHIN, relative_spread, spread
from leadline.report.data import as_data
from leadline.run import Rollout, Run
from leadline.words import sentence

LATE = 0.5  # of the run: from here on the policy writes something else
STILL = {"reward/mean": flat(200)}


def plain(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    return story(dice), dice.random()


def one_theme(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    if share < LATE:
        return plain(dice, share, prompt)
    return f"the {dice.choice(LOOKS)} dog sees a red dog . the old dog sees a small dog .", dice.random()


def longer(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    return story(dice, 2 if share < LATE else 40), dice.random()


def shorter(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
    return story(dice, 8) if share < LATE else dice.choice(THINGS), dice.random()


def meant(one: Run) -> list[Finding]:
    return [found for found in generations.read(view(one), TRIPLES) if found.id == "generation.meaning"]


def with_prompts(one: Run, ask: Callable[[Rollout], str]) -> Run:
    def load(step: int) -> tuple[Rollout, ...]:
        return tuple(replace(sample, prompt=ask(sample)) for sample in one.rollouts.at(step))

    return replace(one, rollouts=loaded(one.rollouts.steps, load))


def test_the_spread_is_the_mean_over_pairs_and_its_error_the_jackknife() -> None:
    texts = [story(random.Random(one)) for one in range(7)]
    vectors = dict(zip(texts, TRIPLES.embed(texts), strict=True))

    def by_hand(some: list[str]) -> float:
        return float(np.mean([1 - vectors[one] @ vectors[other] for one, other in combinations(some, 2)]))

    found = spread([texts], LONGEST, vectors)
    left = [by_hand(texts[:one] + texts[one + 1 :]) for one in range(7)]
    assert found.level == pytest.approx(by_hand(texts))
    assert found.error == pytest.approx(np.std(left) * np.sqrt(6))
    two = spread([texts, texts[:1] * 4], LONGEST, vectors)
    assert two.level == pytest.approx(by_hand(texts) / 2)  # each bundle counts the same


def test_answers_that_go_on_meaning_different_things_get_no_note_and_a_curve() -> None:
    seen = view(run(plain, STILL))
    assert [one for one in generations.read(seen, TRIPLES) if one.id == "generation.meaning"] == []
    kept = {series.name: series for series in seen.derived}
    assert kept[ACROSS].values[:2].mean() == pytest.approx(1, abs=1e-6)
    assert kept[ACROSS].values == pytest.approx(np.ones(16), abs=0.15)
    assert len(kept[WITHIN].values) == 16


def test_without_an_embedder_nothing_is_said_or_kept_of_meaning() -> None:
    seen = view(run(one_theme, STILL))
    assert "generation.meaning" not in {one.id for one in generations.read(seen)}
    assert not {ACROSS, WITHIN} & {series.name for series in seen.derived}


def test_one_theme_for_every_prompt_is_noted_dated_and_shown() -> None:
    across, within = meant(run(one_theme, STILL))
    assert (across.severity, across.p > 0.95) == ("note", True)
    assert sentence(across).startswith("Answers to different prompts are closer in meaning: their distance")
    assert 80 <= (across.since_step or 0) <= 110
    (evidence,) = across.evidence
    assert {one.step < 100 for one in evidence.samples} == {True, False}
    assert isinstance(across.facts, CloserMeaning)
    assert across.facts.model == "character triples"
    assert sentence(within).startswith("Answers to one prompt are closer in meaning, without being the best ones")
    assert len({one.prompt for one in within.evidence[0].samples}) == 1


@pytest.mark.parametrize("write", [longer, shorter])
def test_the_length_of_answers_is_not_their_meaning(write: written.Writer) -> None:
    assert meant(run(write, STILL)) == []


@pytest.mark.parametrize(("early", "late"), [(2, 20), (20, 2)])
def test_texts_of_another_length_are_compared_at_one_size(early: int, late: int) -> None:
    dice = random.Random(0)
    batches = [[[story(dice, count) for _ in range(24)]] for count in (early, early, early, late, late)]
    found = relative_spread(ACROSS, range(5), batches, TRIPLES)
    assert found is not None
    assert found.values == pytest.approx(np.ones(5), abs=0.25)


def test_longer_texts_are_closer_unless_all_are_cut_alike() -> None:
    """What the cut is there for: without it the test above would have nothing to catch."""
    dice = random.Random(0)
    brief, lengthy = ([story(dice, count) for _ in range(12)] for count in (2, 40))
    vectors = dict(zip(brief + lengthy, TRIPLES.embed(brief + lengthy), strict=True))
    assert spread([lengthy], 10**6, vectors).level < 0.3 * spread([brief], 10**6, vectors).level


def test_closer_prompts_ask_for_closer_answers() -> None:
    def number(sample: Rollout) -> int:
        return 0 if sample.group is not None else int(100 * sample.score)

    def wide(sample: Rollout) -> str:
        return f"go on : {story(random.Random(number(sample)), 3)}"

    def narrow(sample: Rollout) -> str:
        dogs = "the red dog sees a small dog . " * 3
        return wide(sample) if sample.step < 100 else f"go on : {dogs}number {number(sample):02}"

    one = run(one_theme, STILL)
    said = [[sentence(found) for found in meant(with_prompts(one, ask))] for ask in (wide, narrow)]
    assert ["different prompts" in " ".join(says) for says in said] == [True, False]


def test_a_dump_without_prompts_claims_no_different_ones() -> None:
    across = meant(with_prompts(run(one_theme, STILL), lambda sample: ""))[0]
    assert sentence(across).startswith("Answers are closer in meaning")


def test_one_right_answer_to_a_prompt_is_no_loss() -> None:
    def right(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
        return (plain(dice, share, prompt)[0], 0.0) if share < LATE else (f"{prompt} is the answer .", 1.0)

    def wrong(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
        return right(dice, share, prompt)[0], dice.random()

    assert not any("one prompt" in sentence(found) for found in meant(run(right, STILL)))
    assert any("one prompt" in sentence(found) for found in meant(run(wrong, STILL)))


def test_it_moves_neither_the_verdict_nor_any_other_finding() -> None:
    one = run(one_theme, {"reward/mean": flat(100, 0.3) + flat(100, 0.8)})
    bare, rich = as_data(read_run(one)), as_data(read_run(one, embedder=TRIPLES))
    findings = rich.pop("findings")
    assert isinstance(findings, list)
    assert [found for found in findings if found["id"] != "generation.meaning"] == bare.pop("findings")
    assert len([found for found in findings if found["id"] == "generation.meaning"]) == 2
    measured, plain = (told["chart_data"].pop("derived") for told in (rich, bare))  # type: ignore[attr-defined]
    assert measured.keys() - plain.keys() == {ACROSS, WITHIN}
    assert rich == bare


def test_the_unit_of_steps_changes_nothing() -> None:
    base, again, stretched = (meant(run(one_theme, STILL, unit=unit)) for unit in (1, 1, 10))
    assert base == again
    assert [sentence(found) for found in stretched] == [sentence(found) for found in base]
    assert [found.p for found in stretched] == pytest.approx([found.p for found in base], abs=1e-6)


@pytest.mark.parametrize("files", [0, 1, 2, 3])
def test_few_batches_are_too_few(files: int) -> None:
    assert meant(run(one_theme if files else None, STILL, files=files)) == []


def test_hostile_and_empty_texts_are_read_without_a_word_of_complaint() -> None:
    texts = ["", " \n\t ", "\x00\x1b[31m", "\ud800 lone", "w" * 1_000_000, "\U0001f600" * 300, "x"]

    def hostile(dice: random.Random, share: float, prompt: str) -> tuple[str, float]:
        return dice.choice(texts), dice.choice([0.0, 1.0, float("nan"), float("inf")])

    assert all(0 <= found.p <= 1 for found in meant(run(hostile, STILL, files=8)))
    assert meant(run(lambda dice, share, prompt: ("", 0.0), STILL)) == []
    assert meant(run(lambda dice, share, prompt: ("same", 0.0), STILL)) == []


def test_a_batch_that_cannot_be_compared_is_left_out() -> None:
    early = [f"the {word} is the answer" for word in THINGS]
    batches = [[early], [early[::-1]], [early], [["a", "b", "c", "d"]], [early], [["", "", "", "x"]]]
    found = relative_spread(ACROSS, range(6), batches, TRIPLES)
    assert found is not None
    assert found.steps.tolist() == [0, 1, 2, 4]  # cut to one letter, the early answers are all the same
    assert found.values.tolist() == [1.0] * 4


def test_a_missing_extra_is_one_clear_sentence(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)  # as if it were not installed
    healthy = str(root / "leadline" / "examples" / "healthy")
    for words in (["read", healthy, "--embeddings"], ["read", healthy, "--embeddings", "--all"]):
        assert main(words) != 0
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.splitlines()[0].endswith("`wordllama` is needed to compare answers by their meaning.")
        assert "pip install 'leadline[embeddings]'" in said.err


def test_a_package_without_its_model_is_told_apart(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wordllama").mkdir()
    (tmp_path / "wordllama" / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["read", str(root / "leadline" / "examples" / "healthy"), "--embeddings"]) != 0
    assert "is here, but without the model" in capsys.readouterr().err
