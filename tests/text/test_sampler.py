"""The sampler: bounded, the same each time, early and late, high and low, whole groups."""

from __future__ import annotations

import math

from written import loaded

from leadline.draws import spread
from leadline.run import Rollout, Rollouts
from leadline.text.sampler import FILES, MEMBERS, PROMPTS, TELLING, look
from leadline.text.written import joined


def kept(count: int, samples: int = 500) -> Rollouts:
    return loaded(
        range(1, count + 1),
        lambda step: tuple(Rollout(step, f"prompt {i}", f"text {i}", float(i)) for i in range(samples)),
    )


def test_no_more_steps_than_needed_the_first_and_the_last_among_them() -> None:
    batches = look(kept(1000, samples=5))
    steps = [batch.step for batch in batches]
    assert len(steps) == FILES
    assert steps[:2] == [1, 2]
    assert steps[-2:] == [999, 1000]
    assert steps == sorted(set(steps))


def test_samples_are_spread_over_the_rewards() -> None:
    (batch,) = look(kept(1))
    scores = [one.score for one in batch.alone]
    assert len(scores) == PROMPTS
    assert min(scores) == 0.0
    assert max(scores) == 499.0
    assert (batch.lowest, batch.highest, batch.scored) == (0.0, 499.0, 500)


def test_the_same_samples_each_time() -> None:
    assert look(kept(60)) == look(kept(60))


def test_groups_stay_whole_and_ties_are_counted_over_all_of_them() -> None:
    def load(step: int) -> tuple[Rollout, ...]:
        return tuple(
            Rollout(step, f"prompt {g}", f"text {g} {i}", float(g if g % 2 else i), g)
            for g in range(40)
            for i in range(8)
        )

    (batch,) = look(loaded((1,), load))
    assert (batch.tied, batch.mixed) == (20, 20)
    assert all(len(group) == 8 <= MEMBERS and len({one.prompt for one in group}) == 1 for group in batch.groups)


def test_a_prompt_alone_is_no_group_and_missing_rewards_tie_nothing() -> None:
    def load(step: int) -> tuple[Rollout, ...]:
        return (Rollout(1, "a", "x", 1.0, 0), Rollout(1, "b", "y", math.nan, 1), Rollout(1, "b", "z", math.nan, 1))

    (batch,) = look(loaded((1,), load))
    assert (batch.tied, batch.mixed, len(batch.groups)) == (0, 0, 1)


def test_what_is_no_text_is_left_out() -> None:
    strange = (Rollout(1, "p", None, 1.0), Rollout(1, "p", 7, 1.0), Rollout(1, None, "x", 1.0))  # type: ignore[arg-type]
    assert look(Rollouts({1: strange, 2: ()})) == ()


def test_small_batches_are_joined_and_none_is_lost() -> None:
    small = loaded(range(1, 12), lambda step: tuple(Rollout(step, f"p{i}", f"t{i}", float(step)) for i in range(5)))
    batches = look(small)
    together = joined(batches)
    assert [batch for group in together for batch in group] == list(batches)
    assert all(sum(len(batch.alone) for batch in group) >= TELLING for group in together)
    assert [group[-1].step for group in together] == [3, 6, 11]
    assert joined(look(kept(3))) == [[batch] for batch in look(kept(3))]


def test_spread_keeps_both_ends() -> None:
    assert spread(range(10), 4) == [0, 3, 6, 9]
    assert spread(range(3), 4) == [0, 1, 2]
    assert spread(range(3), 1) == [0]
