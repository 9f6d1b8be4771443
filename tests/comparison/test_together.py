"""What is said of groups of runs whose difference is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from seeds import gathered, rise, run, seeds

from leadline.comparison.together import compare
from leadline.errors import LeadlineError
from leadline.facts.comparison import Comparison
from leadline.report.compare import as_data
from leadline.run import Run, Series
from leadline.words import compare as words


def warnings(comparison: Comparison) -> list[str]:
    return [one.says for one in comparison.warnings]


def only(comparison: Comparison):  # type: ignore[no-untyped-def]
    (found,) = comparison.by.differences
    return found


@pytest.fixture(scope="module")
def late() -> Comparison:
    return compare(gathered(base=seeds(4), new=seeds(4, late=0.4, first=50)))


def test_a_clear_difference_is_told_with_its_side_and_size(late: Comparison) -> None:
    one = only(late)
    assert one.told == "final"
    assert one.beyond_seeds
    assert one.final.size == pytest.approx(0.4, abs=0.05)
    assert one.final.interval[0] < one.final.size < one.final.interval[1]
    assert "new beats base on reward/mean by 0.4" in words.answer(late)[0]


def test_the_gap_is_significant_soon_after_it_begins(late: Comparison) -> None:
    one = only(late)
    assert 58 <= one.sure_from <= 80
    assert f"Significant from step {round(one.sure_from)}." in words.difference(late, one)


def test_it_is_said_by_when_the_better_one_was_where_the_other_ends(late: Comparison) -> None:
    one = only(late)
    assert 50 <= one.there_by <= 75
    assert f"new reached base's final level by step {round(one.there_by)}" in words.difference(late, one)


def test_one_run_that_cuts_the_others_short_is_named() -> None:
    comparison = compare(gathered(base=[*seeds(2), run(rise(seed=5, steps=40))], new=seeds(2, first=50)))
    assert any("without base2 it could go to step 120" in one for one in warnings(comparison))


def test_seeds_of_one_variant_are_not_told_apart() -> None:
    comparison = compare(gathered(base=seeds(3), new=seeds(3, first=50)))
    one = only(comparison)
    assert one.told == "no"
    assert one.sure_from is None
    assert "No significant difference" in words.answer(comparison)[0]
    assert one.final.interval[0] < 0 < one.final.interval[1]


def test_a_gap_that_few_seeds_cannot_tell_says_how_many_would() -> None:
    comparison = compare(gathered(base=seeds(2, spread=0.1), new=seeds(2, spread=0.1, late=0.2, first=50)))
    one = only(comparison)
    assert one.told == "no"
    assert one.runs_needed is not None
    assert one.runs_needed > 2
    assert f"~{one.runs_needed} seeds each" in words.difference(comparison, one)


def test_a_gap_that_closes_is_told_as_one_on_the_way() -> None:
    u = np.arange(1, 121) / 120
    ahead = [
        run(rise(level=0.02 * place, seed=place) + 0.5 * np.exp(-(((u - 0.35) / 0.15) ** 2))) for place in range(5)
    ]
    comparison = compare(gathered(base=[run(rise(level=0.02 * k, seed=9 + k)) for k in range(5)], fast=ahead))
    one = only(comparison)
    assert one.told == "mid-run"
    assert one.whole.size > 0
    assert one.sure_from is None
    assert "fast beat base mid-run" in words.difference(comparison, one)


def test_two_single_runs_are_told_apart_as_runs_and_never_as_variants() -> None:
    comparison = compare(gathered(base=seeds(1), new=seeds(1, late=0.3, first=50)))
    one = only(comparison)
    assert one.told == "final"
    assert not one.beyond_seeds
    assert one.runs_needed is None
    assert "One seed each" in words.answer(comparison)[0]


def test_several_single_runs_are_ranked_in_one_sentence() -> None:
    runs = {f"v{place}": [run(rise(level=0.3 * place, seed=place))] for place in range(3)}
    comparison = compare(gathered(**runs))
    assert len(words.answer(comparison)) == 1
    said = words.answer(comparison)[0]
    assert said.index("v2 ") < said.index("v1 ") < said.index("v0 ")
    assert "One seed each" in said


def test_the_odd_one_of_several_seeds_is_named() -> None:
    runs = seeds(6)
    collapsed = run(rise(late=-1.0, seed=99))
    comparison = compare(gathered(base=[*runs, collapsed]))
    (odd,) = comparison.odd
    assert odd.run == "base6"
    assert odd.final.size < 0
    assert odd.sure_from is not None
    assert 55 <= odd.sure_from <= 90
    assert words.odd(comparison, odd) in words.answer(comparison)


def test_seeds_that_are_alike_have_no_odd_one() -> None:
    comparison = compare(gathered(base=seeds(6)))
    assert comparison.odd == ()
    assert "No run stands out" in words.answer(comparison)[0]


def test_swapping_the_groups_turns_the_answer_round() -> None:
    base, new = seeds(3), seeds(3, late=0.4, first=50)
    one, other = (only(compare(gathered(**some))) for some in ({"a": base, "b": new}, {"b": new, "a": base}))
    assert other.told == one.told == "final"
    assert other.final.size == pytest.approx(-one.final.size)
    assert other.chance == pytest.approx(one.chance)
    assert other.sure_from == one.sure_from


@pytest.mark.parametrize("unit", [1e-200, 7.5, 1e200])
def test_the_unit_of_the_reward_does_not_matter(late: Comparison, unit: float) -> None:
    turned = [
        [run(unit * (3 + one.series[0].values)) for one in some] for some in (seeds(4), seeds(4, late=0.4, first=50))
    ]
    one, other = only(late), only(compare(gathered(base=turned[0], new=turned[1])))
    assert (other.told, other.sure_from) == (one.told, one.sure_from)
    assert other.chance == pytest.approx(one.chance, rel=1e-6)
    assert other.final.size / unit == pytest.approx(one.final.size, rel=1e-6)


def test_the_unit_of_the_steps_does_not_matter(late: Comparison) -> None:
    wide = [
        [run(one.series[0].values, first=10, every=10) for one in some]
        for some in (seeds(4), seeds(4, late=0.4, first=50))
    ]
    one, other = only(late), only(compare(gathered(base=wide[0], new=wide[1])))
    assert other.sure_from == pytest.approx(10 * one.sure_from)
    assert other.chance == pytest.approx(one.chance)


def test_the_same_runs_give_the_same_answer() -> None:
    runs = {"a": seeds(2), "b": seeds(3, late=0.2, first=9)}
    assert as_data(compare(gathered(**runs))) == as_data(compare(gathered(**runs)))


def test_runs_of_different_length_are_compared_where_both_are(late: Comparison) -> None:
    comparison = compare(gathered(base=seeds(3, steps=60), new=seeds(3, first=50)))
    assert comparison.by.range == (1.0, 60.0)
    assert any("where base" in one and "continues to step 120" in one for one in warnings(comparison))


def test_runs_that_share_no_step_are_refused_in_one_sentence() -> None:
    early, later = run(rise()), run(rise(seed=1), first=500)
    with pytest.raises(LeadlineError, match="no range is common"):
        compare(gathered(a=[early], b=[later]))


def test_a_run_without_the_judged_series_is_left_out_and_named() -> None:
    other = run({"entropy": rise()})
    comparison = compare(gathered(a=seeds(2), b=[*seeds(2, first=9), other]))
    assert [(one.name, one.why) for one in comparison.left_out] == [("b2", "it does not log reward/mean")]
    assert comparison.groups == {"a": ("a0", "a1"), "b": ("b0", "b1")}


def test_no_common_series_is_one_clear_sentence() -> None:
    with pytest.raises(LeadlineError, match="log a reward, and no metric is common") as error:
        compare(gathered(a=[run({"entropy": rise()})], b=[run({"kl/ref": rise()})]))
    assert "--by" in error.value.next_step


def test_by_names_a_series_by_its_key_too() -> None:
    def logged(seed: int, level: float) -> Run:
        key = Series("thing", "my/odd key", "", np.arange(1, 121), rise(seed=seed, level=level))
        return Run(path="made", series=(), unread=(key,))

    comparison = compare(
        gathered(a=[logged(k, 0.01 * k) for k in range(3)], b=[logged(9 + k, 0.5 + 0.01 * k) for k in range(3)]),
        by="my/odd key",
    )
    assert comparison.by.name == "my/odd key"
    assert only(comparison).told == "final"


def test_of_what_is_no_reward_nobody_says_that_more_is_better() -> None:
    groups = {
        "a": [run({"entropy": rise(seed=k, level=0.02 * k)}) for k in range(3)],
        "b": [run({"entropy": rise(seed=9 + k, level=0.6 + 0.02 * k)}) for k in range(3)],
    }
    comparison = compare(gathered(**groups), by="entropy")
    assert not comparison.good
    assert words.headline(comparison) == "b is higher than a"
    assert "better" not in words.answer(comparison)[0]


def test_a_run_that_ended_at_once_is_left_out() -> None:
    comparison = compare(gathered(a=[*seeds(2), run(rise(steps=3))], b=seeds(2, first=9)))
    assert [one.why for one in comparison.left_out] == ["it logs only 3 points of reward/mean"]


def test_held_out_is_judged_where_all_runs_log_it() -> None:
    def with_held_out(seed: int, gain: float) -> Run:
        return run({"reward/mean": rise(seed=seed), "eval/reward/mean": rise(seed=seed + 30, late=gain)})

    groups = {
        "a": [with_held_out(k, 0.02 * k) for k in range(3)],
        "b": [with_held_out(k + 9, 0.5 + 0.02 * k) for k in range(3)],
    }
    comparison = compare(gathered(**groups))
    assert comparison.by.name == "eval/reward/mean"
    assert only(comparison).told == "final"
    (reward,) = [one for one in comparison.others if one.name == "reward/mean"]
    assert reward.differences[0].told == "no"


def test_other_series_come_by_evidence() -> None:
    def with_others(seed: int, *, length: float) -> Run:
        logged = {"reward/mean": rise(seed=seed), "entropy": rise(seed=seed + 20)}
        return run({**logged, "len/response_mean": 100 + length + rise(seed=seed + 40)})

    groups = {
        "a": [with_others(k, length=0.1 * k) for k in range(4)],
        "b": [with_others(k + 9, length=30 + 0.1 * k) for k in range(4)],
    }
    comparison = compare(gathered(**groups))
    assert [one.name for one in comparison.others] == ["len/response_mean", "entropy"]
    length = comparison.others[0].differences[0]
    assert length.told == "final"
    assert "b is higher than a" in words.difference(comparison, length)


def test_a_series_that_one_run_lacks_is_said_not_to_be_compared() -> None:
    whole = run({"reward/mean": rise(), "entropy": rise(seed=3)})
    comparison = compare(gathered(a=[whole], b=[run(rise(seed=1))]))
    assert any("entropy is not compared: not logged by b0" in one for one in warnings(comparison))


def test_constant_series_are_equal_and_not_a_difference() -> None:
    def still(seed: int) -> Run:
        return run({"reward/mean": rise(seed=seed), "kl/ref": np.zeros(120)})

    comparison = compare(gathered(a=[still(1), still(2)], b=[still(3), still(4)]))
    (kl,) = [one for one in comparison.others if one.name == "kl/ref"]
    assert kl.differences[0].told == "no"
    assert kl.differences[0].final.size == 0


def test_many_groups_share_one_risk() -> None:
    """Four variants that are all the same: six pairs, none told apart."""
    groups = {f"v{place}": seeds(2, first=10 * place, steps=60) for place in range(4)}
    comparison = compare(gathered(**groups))
    assert len(comparison.by.differences) == 6
    assert all(one.told == "no" for one in comparison.by.differences)


def test_more_groups_than_that_are_compared_with_the_first() -> None:
    groups = {f"v{place}": [run(rise(seed=place, steps=30))] for place in range(8)}
    comparison = compare(gathered(**groups))
    assert [(one.first, one.second) for one in comparison.by.differences] == [("v0", f"v{k}") for k in range(1, 8)]


def test_settings_that_mark_the_groups_come_first() -> None:
    def set_to(lr: float, seed: int, warmup: int) -> Run:
        return run(rise(seed=seed), settings={"lr": lr, "seed": seed, "warmup": warmup, "output_dir": f"out/{seed}"})

    groups = {"a": [set_to(1e-5, 1, 5), set_to(1e-5, 2, 6)], "b": [set_to(3e-5, 3, 5), set_to(3e-5, 4, 5)]}
    comparison = compare(gathered(**groups))
    assert [(one.name, one.marks_groups) for one in comparison.settings] == [("lr", True), ("warmup", False)]
    assert any("the runs of a differ in warmup" in one for one in warnings(comparison))


def test_other_kinds_of_number_are_warned_of() -> None:
    k1, k3 = ({"reward/mean": rise(seed=seed), "kl/ref": rise(seed=seed + 5)} for seed in (1, 2))
    comparison = compare(gathered(a=[run(k1, kind="k1")], b=[run(k3, kind="k3")]))
    assert any(
        "reward/mean may not be the same number in all runs (a0: k1; b0: k3)" in one for one in warnings(comparison)
    )
    assert any(one.startswith("kl/ref may not be the same number") for one in warnings(comparison))


def test_rewards_of_other_parts_are_warned_of() -> None:
    one = run({"reward/mean": rise(), "reward/component/format/mean": rise(seed=2)})
    other = run({"reward/mean": rise(seed=3), "reward/component/correct/mean": rise(seed=4)})
    comparison = compare(gathered(a=[one], b=[other]))
    assert any("different components" in one and "format" in one for one in warnings(comparison))


def test_a_run_that_goes_on_from_another_is_not_a_second_seed() -> None:
    values = rise(steps=80)
    longer = np.concatenate([values[:50], rise(seed=8, steps=80)[50:]])
    comparison = compare(gathered(base=[run(values), run(longer)], new=seeds(2, first=30, steps=80)))
    assert any("base0 and base1 are identical up to step 50" in one for one in warnings(comparison))


def test_equal_time_is_another_question_than_equal_steps() -> None:
    """Twice as slow a step at the same gain a step: ahead at no step, behind at equal time."""

    def timed(seed: int, seconds: float) -> Run:
        return run({"reward/mean": rise(seed=seed, level=0.01 * (seed % 3)), "time/step": np.full(120, seconds)})

    groups = {"quick": [timed(k, 10.0) for k in range(3)], "slow": [timed(k + 3, 40.0) for k in range(3)]}
    by_step, by_time = compare(gathered(**groups)), compare(gathered(**groups), clock="time")
    assert only(by_step).told == "no"
    one = only(by_time)
    assert one.told != "no"
    assert one.whole.size < 0
    assert by_time.by.range[1] == pytest.approx(1200.0)
    assert words.clock_source(by_time) == "the time of each step"


def test_a_run_that_does_not_keep_the_clock_is_left_out() -> None:
    timed = [run({"reward/mean": rise(seed=k), "time/step": np.full(120, 2.0)}) for k in range(2)]
    comparison = compare(gathered(a=timed, b=[run(rise(seed=7))]), clock="time")
    assert [one.name for one in comparison.left_out] == ["b0"]
    with pytest.raises(LeadlineError, match="Fewer than two runs can be compared"):
        compare(gathered(a=seeds(2)), clock="tokens")


def test_two_seeds_of_one_variant_are_shown_one_beside_the_other() -> None:
    comparison = compare(gathered(base=seeds(2)))
    assert list(comparison.groups) == ["base0", "base1"]
    assert len(comparison.by.differences) == 1


def test_spikes_and_holes_do_not_end_the_comparison() -> None:
    def broken(seed: int) -> Run:
        one = run(rise(seed=seed))
        values = one.series[0].values.copy()
        values[10], values[20:25], values[70] = 1e30, np.nan, -np.inf
        return replace(one, series=(replace(one.series[0], values=values),))

    comparison = compare(gathered(a=[broken(k) for k in range(3)], b=[broken(k + 9) for k in range(3)]))
    assert only(comparison).told == "no"
