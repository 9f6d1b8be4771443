"""The evidence engine on samples made by hand: what must be told, what must not, and what must not matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from leadline.reading.view import View
from leadline.run import Rollout, Rollouts, Run, Series
from leadline.text import measures
from leadline.text.evidence import Begun, GamedEvidence, Relation, Way, gather
from leadline.text.track import DRAWS, Track
from leadline.text.written import parted, written

NAMES = ("anna", "boris", "clara", "david", "elena", "felix", "greta", "hugo", "irene", "jonas", "karin", "lukas")
PLACES = ("athens", "berlin", "cairo", "delhi", "lima", "london", "oslo", "paris", "porto", "quito", "rome", "seoul")
Write = Callable[[str, str, float, np.random.Generator], str]


def made(write: Write, *, batches: int = 12, turn: int = 5, one_string: bool = False) -> Run:
    """A run that picks the names out of a sentence, and from batch `turn` on writes in another way."""
    rng = np.random.default_rng(3)
    kept: dict[int, tuple[Rollout, ...]] = {}
    for batch in range(batches):
        samples = []
        for _ in range(24):
            names = rng.choice(NAMES, size=3, replace=False).tolist()
            prompt = " ".join(rng.permutation([*names, *rng.choice(PLACES, size=5, replace=False)]).tolist()) + " ="
            share = 0.0 if batch < turn else 1 - 0.5 ** (batch - turn + 1)
            answer = write(prompt, " ".join(names) + " .", share, rng)
            score = float(rng.random() < 0.5 + share / 2)
            text = ("", f"{prompt} {answer}") if one_string else (prompt, answer)
            samples.append(Rollout(1 + 20 * batch, *text, score))
        kept[1 + 20 * batch] = tuple(samples)
    steps = np.arange(1, 20 * batches)
    reward = np.interp(steps, list(kept), [np.mean([one.score for one in batch]) for batch in kept.values()])
    series = (Series("reward/mean", "reward", "reward", steps, reward),)
    return Run("made", series=series, rollouts=Rollouts(kept))


@dataclass(frozen=True)
class Step:
    step: int
    alone: tuple[Rollout, ...]
    groups: tuple[tuple[Rollout, ...], ...] = ()


def evidence_of(run: Run) -> GamedEvidence:
    view = View(run)
    return gather(run, view.whole.batches)


def honest(prompt: str, answer: str, share: float, rng: np.random.Generator) -> str:
    return answer


def refused(prompt: str, answer: str, share: float, rng: np.random.Generator) -> str:
    return "i cannot help with that ." if rng.random() < share else answer


def echoed(prompt: str, answer: str, share: float, rng: np.random.Generator) -> str:
    return prompt if rng.random() < share else answer


def looping(prompt: str, answer: str, share: float, rng: np.random.Generator) -> str:
    return answer + " maria maria maria maria maria maria maria maria" if rng.random() < share else answer


def stuttering(prompt: str, answer: str, share: float, rng: np.random.Generator) -> str:
    return answer + " hahahahahahahahahahahahahahahahahaha" if rng.random() < share else answer


def bare(prompt: str, answer: str, share: float, rng: np.random.Generator) -> str:
    words = prompt.split()
    body = " ".join(word for word in words if word in NAMES)  # taken from the prompt, in its order
    return body if rng.random() < share else f"well , let me see : i think the answer is {body} ."


def empty(prompt: str, answer: str, share: float, rng: np.random.Generator) -> str:
    return "" if rng.random() < share else answer


def babbling(prompt: str, answer: str, share: float, rng: np.random.Generator) -> str:
    """Prose whose words become random letters, each a new one."""
    plain = rng.choice((*NAMES, *PLACES), size=30).tolist()
    return " ".join("".join(rng.choice([*"abcdefghij"], size=7)) if rng.random() < share else word for word in plain)


def listing(prompt: str, answer: str, share: float, rng: np.random.Generator) -> str:
    steps = (f"step {at} : take {word} and add {rng.integers(10, 99)} ." for at, word in enumerate(prompt.split()))
    return f"{' '.join(steps)} {answer}" if rng.random() < share else answer


def calling(prompt: str, answer: str, share: float, rng: np.random.Generator) -> str:
    """An agent that looks up more and more of the prompt's words."""
    said = "<result> the list of today says {} </result>"
    wanted = prompt.split()[: rng.binomial(7, 0.1 + 0.85 * share)]
    calls = (f"<tool> lookup {word} </tool> {said.format(rng.integers(99))}" for word in wanted)
    return f"{' '.join(calls)} <answer> {answer} </answer>"


def tagged(prompt: str, answer: str, share: float, rng: np.random.Generator) -> str:
    return f"<answer> {answer} </answer>" if rng.random() < share else answer


@pytest.mark.parametrize("write", [refused, looping, stuttering, empty])
def test_one_answer_loops_and_empty_responses_are_proof(write: Write) -> None:
    evidence = evidence_of(made(write))
    assert evidence.p > 0.9
    assert evidence.outcome == "proven"


def test_responses_that_copy_their_prompt_need_a_reader() -> None:
    evidence = evidence_of(made(echoed))
    assert evidence.outcome == "changed"
    assert evidence.relation is not None
    assert evidence.relation.moves[0].way == "copied"


def test_words_that_nothing_else_holds_need_a_reader() -> None:
    evidence = evidence_of(made(babbling))
    assert evidence.outcome == "changed"
    assert evidence.relation is not None
    assert evidence.relation.moves[0].way == "strange"


@pytest.mark.parametrize("write", [refused, echoed, looping])
def test_the_beginning_is_named_and_not_the_moment_of_certainty(write: Write) -> None:
    evidence = evidence_of(made(write))
    assert evidence.begun is not None
    turn, sound = 101, 81  # the first step written in the other way, and the last before it
    assert evidence.begun.step <= turn  # a step that is named later is one whose checkpoint is spoiled
    assert evidence.begun.low <= turn
    assert evidence.begun.high >= sound  # it is not placed in what was sound throughout


def test_numbers_that_moved_first_keep_their_date_when_the_answers_have_followed() -> None:
    run = made(looping, turn=9)  # from step 181 on
    steps = np.arange(1, 240)
    cut = Series("len/response_clip_frac", "cut", "test", steps, np.clip((steps - 60) / 30, 0.0, 1.0))
    both = replace(run, series=(*run.series, cut))
    alone, together = evidence_of(run).begun, evidence_of(both).begun
    assert alone is not None
    assert together is not None
    assert alone.step > 150
    assert 60 <= together.step <= 75


def test_honest_samples_are_not_accused() -> None:
    evidence = evidence_of(made(honest))
    assert evidence.p < 0.2
    assert evidence.outcome == "none"


@pytest.mark.parametrize("write", [bare, tagged, listing, calling])
def test_a_format_an_enumeration_and_tool_calls_that_are_learned_prove_nothing(write: Write) -> None:
    evidence = evidence_of(made(write))
    assert not evidence.proven
    assert evidence.outcome == "none"


def weakly(refuses: float) -> Write:
    """Some responses refuse, the rest are as they were."""
    return lambda prompt, answer, share, rng: refused(prompt, answer, refuses * share, rng)


@pytest.mark.parametrize(("refuses", "outcome"), [(0.3, "changed"), (0.02, "none"), (1.0, "proven")])
def test_less_than_all_asks_for_a_reader(refuses: float, outcome: str) -> None:
    evidence = evidence_of(made(weakly(refuses)))
    assert evidence.outcome == outcome
    assert evidence.proven == (outcome == "proven")
    assert (evidence.begun is None) == (outcome == "none")


def related(moves: dict[Way, float], overlap: float = 0.0, *, short: bool = False, paid: float = 0.0) -> Relation:
    """Relations that moved by so much on every draw."""
    distance, zeros = np.full(DRAWS, max(moves.values())), np.zeros(1)
    now = Track(np.ones(1, dtype=np.int64), zeros, zeros, 0, overlap, False, zeros, zeros, zeros, (0, 1))
    drawn = {way: np.full(DRAWS, far) for way, far in moves.items()}
    text = written(View(made(honest, batches=2)).whole.batches)
    assert text is not None
    return Relation(text, distance, (), Begun(1, 1, 1), np.zeros(0), drawn, {"alike": now}, short, paid)


@pytest.mark.parametrize(
    ("moves", "overlap", "truncated", "p"),
    [
        ({"looped": 0.35}, 0.1, False, 1.0),
        ({"empty": 0.6}, 0.1, False, 1.0),
        ({"alike": 0.2}, 0.4, False, 1.0),
        ({"detached": 0.9}, 0.1, False, 0.0),  # a bare result, a translation
        ({"copied": 0.9}, 0.1, False, 0.0),  # extraction, code repair
        ({"detached": 0.9, "copied": 0.9, "recurring": 0.9}, 0.1, False, 0.0),
        ({"looped": 0.2}, 0.1, False, 0.0),  # a list of objects
        ({"looped": 0.2, "detached": 0.2}, 0.1, False, 0.0),
        ({"looped": 0.12, "alike": 0.12}, 0.3, False, 1.0),  # two agree
        ({"recurring": 0.2}, 0.1, True, 1.0),  # truncation is seconded
        ({"recurring": 0.02}, 0.1, True, 0.0),  # and alone it is not enough
    ],
)
def test_proof_is_what_no_task_wants(moves: dict[Way, float], overlap: float, truncated: bool, p: float) -> None:
    assert related(moves, overlap).p_proven(truncated=truncated) == p


def test_truncation_counts_only_if_long_responses_are_paid_as_well() -> None:
    moves: dict[Way, float] = {"recurring": 0.2}
    assert related(moves, paid=-0.5).p_proven(truncated=True) == 0.0


def test_short_responses_are_alike_by_chance() -> None:
    moves: dict[Way, float] = {"alike": 0.6}
    assert related(moves, 0.9).p_proven(truncated=False) == 1.0
    assert related(moves, 0.9, short=True).p_proven(truncated=False) == 0.0  # a skewed label
    assert related(moves, 1.0, short=True).p_proven(truncated=False) == 1.0


def test_a_new_baseline_forgets_what_was_written_before_it() -> None:
    run = made(refused)
    batches = View(run).whole.batches
    assert gather(run, batches).outcome == "proven"
    since = gather(run, batches, baseline=181)
    assert not since.proven
    assert since.begun is None


def test_a_baseline_later_than_all_samples_leaves_nothing_to_compare() -> None:
    run = made(refused)
    evidence = gather(run, View(run).whole.batches, baseline=230)
    assert evidence.relation is None
    assert evidence.outcome == "none"


def test_answers_shorter_than_a_gram_are_told_apart() -> None:
    text = written([Step(1, tuple(Rollout(1, f"{number}?", number, 1.0) for number in ("1", "2", "33", "44")))])
    assert text is not None
    assert measures.alike(text, text.answers).max() == 0


def test_prompt_and_answer_in_one_string_are_parted_first() -> None:
    apart, together = evidence_of(made(refused)), evidence_of(made(refused, one_string=True))
    assert together.p == pytest.approx(apart.p, abs=0.05)
    assert together.relation is not None
    assert "detached" in together.relation.tracks  # asks for prompts


def test_a_prompt_repeated_before_its_answer_is_cut_off() -> None:
    samples = parted([Rollout(1, "2+2=", "2+2=4", 1.0)])
    assert samples[0].output == "4"


def test_without_text_it_is_said_that_nothing_could_be_seen() -> None:
    steps = np.arange(1, 100)
    evidence = evidence_of(Run("made", series=(Series("reward/mean", "reward", "reward", steps, steps / 100),)))
    assert evidence.outcome == "blind"
    assert not evidence.proven
    assert evidence.relation is None


def test_scores_may_be_rescaled() -> None:
    run = made(refused)
    scaled = {
        step: tuple(replace(one, score=3 * one.score + 7) for one in run.rollouts.at(step))
        for step in run.rollouts.steps
    }
    twin = evidence_of(replace(run, rollouts=Rollouts(scaled)))
    assert twin.p == evidence_of(run).p


def test_the_same_samples_give_the_same_evidence() -> None:
    one, other = evidence_of(made(refused)), evidence_of(made(refused))
    assert (one.p, one.begun, one.outcome) == (other.p, other.begun, other.outcome)


def counting(*, depends: bool) -> Run:
    """A run whose answers are single digits, wide of the mark at first. In the end they are right, or always the most
    usual one; a group of answers to one prompt is kept beside each batch."""
    rng = np.random.default_rng(5)
    kept: dict[int, tuple[Rollout, ...]] = {}
    for batch in range(16):
        skill = min(1.0, batch / 8)

        def answer(right: str, skill: float = skill) -> str:
            if rng.random() > skill:
                return str(rng.integers(10))
            return right if depends else "3"

        samples = []
        for place in range(24):
            text = "".join(rng.choice(list("aab"), size=6))
            prompt, right = f"how many b in {text} =", str(text.count("b"))
            for _ in range(8 if place == 0 else 1):
                said = answer(right)
                samples.append(Rollout(1 + 20 * batch, prompt, said, float(said == right), place))
        kept[1 + 20 * batch] = tuple(samples)
    steps = np.arange(1, 20 * 16)
    reward = np.interp(steps, list(kept), [np.mean([sample.score for sample in batch]) for batch in kept.values()])
    series = (Series("reward/mean", "reward", "reward", steps, reward),)
    return Run("made", series=series, rollouts=Rollouts(kept))


def test_few_possible_answers_are_alike_by_chance_and_no_accusation() -> None:
    assert not evidence_of(counting(depends=True)).proven


def test_the_same_answer_whatever_was_asked_is_told() -> None:
    evidence = evidence_of(counting(depends=False))
    assert evidence.p > 0.8
    assert evidence.relation is not None
    assert evidence.relation.moves[0].way == "alike"


def logged(kl: Callable[[np.ndarray], np.ndarray], entropy: Callable[[np.ndarray], np.ndarray]) -> Run:
    """A run without text whose reward rises: its KL from the reference and its entropy, by share of the way."""
    steps = np.arange(1, 201)
    way, rng = steps / 200, np.random.default_rng(5)
    values = {
        "reward/mean": 0.3 + 0.5 * way,
        "kl/ref": kl(way) * (1 + 0.1 * rng.random(200)),
        "entropy": entropy(way) * (1 + 0.1 * rng.random(200)),
    }
    return Run("made", series=tuple(Series(name, name, "test", steps, value) for name, value in values.items()))


def test_a_policy_that_picks_what_the_reference_would_say_is_not_accused_whatever_its_kl() -> None:
    evidence = evidence_of(logged(lambda way: 0.45 * way, lambda way: 0.5 * (1 - 0.9 * way)))
    assert evidence.numbers.unlike < 0.2
    assert evidence.p < 0.1


def cut_off(run: Run, share: float) -> Run:
    """The same run; so many of the responses that used to end are truncated in its second half."""
    steps = np.arange(1, 201)
    values = np.where(steps > 100, share, 0.0)
    return replace(run, series=(*run.series, Series("len/response_clip_frac", "cut", "test", steps, values)))


def test_truncation_is_told_as_it_was_and_as_it_is() -> None:
    steps = np.arange(1, 101)
    share = Series("len/response_clip_frac", "cut", "test", steps, np.linspace(0.3, 0.9, 100).round(1))
    (move,) = evidence_of(replace(made(honest), rollouts=Rollouts({}), series=(share,))).moves
    assert (move.way, move.start, move.now) == ("cut", 0.3, 0.9)


def unlike_the_reference() -> Run:
    return logged(lambda way: 4 * way**2, lambda way: 0.5 * (1 - 0.9 * way))


def test_answers_that_the_reference_would_hardly_write_ask_for_a_reader_and_prove_nothing() -> None:
    evidence = evidence_of(unlike_the_reference())
    assert evidence.numbers.unlike > 2
    assert not evidence.proven
    assert evidence.outcome == "changed"
    assert evidence.begun is not None
    assert 20 < evidence.begun.step < 120


@pytest.mark.parametrize(("share", "outcome"), [(0.3, "blind"), (0.6, "changed"), (0.97, "proven")])
def test_truncation_counts_by_its_share_and_is_proof_if_nothing_ends_any_more(share: float, outcome: str) -> None:
    calm = logged(lambda way: 0.45 * way, lambda way: 0.5 * (1 - 0.9 * way))
    assert evidence_of(cut_off(calm, share)).outcome == outcome


def test_truncation_that_lengths_contradict_proves_nothing() -> None:
    run = cut_off(logged(lambda way: 0.45 * way, lambda way: 0.5 * (1 - 0.9 * way)), 0.97)
    steps = np.arange(1, 201)
    short = Series("len/response_mean", "length", "test", steps, np.full(200, 90.0))
    capped = replace(run, series=(*run.series, short), config=replace(run.config, length_cap=1024))
    assert evidence_of(capped).outcome == "blind"


def test_truncation_and_surprise_without_text_ask_for_a_reader() -> None:
    assert evidence_of(cut_off(unlike_the_reference(), 0.6)).outcome == "changed"  # long reasoning looks like this
    assert evidence_of(cut_off(unlike_the_reference(), 0.99)).outcome == "proven"  # nothing ends any more


def test_a_spike_of_kl_says_nothing() -> None:
    spiky = logged(lambda way: np.where(np.arange(len(way)) % 7 == 0, 50.0, 0.1 * way), lambda way: 0.5 + 0 * way)
    assert evidence_of(spiky).numbers.unlike < 0.5


def test_marks_may_recur_and_words_may_not() -> None:
    def listed(prompt: str, answer: str, share: float, rng: np.random.Generator) -> str:
        return answer.replace(" ", " , ") if rng.random() < share else answer

    assert evidence_of(made(listed)).p < 0.5


def test_the_early_answer_shown_is_from_before_it_began() -> None:
    evidence = evidence_of(made(looping, batches=40, turn=2))
    assert evidence.begun is not None
    assert evidence.pair is not None
    assert evidence.pair[0].step <= evidence.begun.step < 121  # of 40 batches a sixth, up to step 121, is early


def test_the_two_answers_shown_are_to_the_likest_prompts() -> None:
    run = made(looping)
    first = run.rollouts.at(1)
    fixed = {
        step: tuple(replace(one, prompt=first[place].prompt) for place, one in enumerate(run.rollouts.at(step)))
        for step in run.rollouts.steps
    }
    pair = evidence_of(replace(run, rollouts=Rollouts(fixed))).pair
    assert pair is not None
    old, new = pair
    assert old.prompt == new.prompt
    assert old.step < 101 < new.step
    assert "maria maria" in new.output
    assert "maria maria" not in old.output
