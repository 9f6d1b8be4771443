"""Numbers that are not what they seem: a test for each trap of the atlas, section 3."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import pytest

from leadline.run import Run, Series
from leadline.sources import read_stream
from leadline.vocabulary import detect, translate


def run_of(rows: Sequence[dict[str, object]], first: int = 1) -> Run:
    """A run of JSON lines."""
    lines = [json.dumps({"step": step, **row}) for step, row in enumerate(rows, start=first)]
    return read_stream("\n".join([*lines, ""]).encode())


def series(run: Run, name: str) -> Series:
    found = run.get(name)
    assert found is not None, f"{name} is not among {[one.name for one in run.series]}"
    return found


def canonical(key: str, dialect: str) -> str:
    meaning = translate(key, dialect)
    assert meaning is not None
    return meaning.canonical


def test_trap_1_a_policy_loss_is_told_from_a_total_loss() -> None:
    assert canonical("loss", "trl-grpo") == "loss/total"
    assert canonical("actor/pg_loss", "verl") == canonical("train/pg_loss", "slime") == "loss/policy"


def test_trap_2_an_exact_zero_stays_a_zero() -> None:
    run = run_of([{"actor/pg_loss": 0.1, "actor/ppo_kl": 0.0, "actor/pg_clipfrac": 0.0, "critic/score/mean": 0.1}] * 3)
    assert series(run, "kl/update").values.tolist() == [0.0, 0.0, 0.0]
    assert series(run, "clip/frac").values.tolist() == [0.0, 0.0, 0.0]


def test_trap_3_no_reference_kl_is_no_series_and_not_a_zero() -> None:
    assert run_of([{"reward": 0.1, "completions/mean_length": 9.0}] * 2).get("kl/ref") is None


def test_trap_4_the_same_key_is_another_kl_in_another_trainer() -> None:
    assert canonical("kl", "trl-grpo") == canonical("kl", "trl-rloo") == "kl/ref"
    assert canonical("kl", "trl-asyncgrpo") == "kl/update"
    assert canonical("objective/kl", "trl-ppo") == "kl/ref_seq_sum"
    unknown = run_of([{"mean_reward": 0.1, "kl": 0.1}] * 2)
    assert series(unknown, "kl/unidentified").kind.startswith("guess: ")
    assert unknown.get("kl/ref") is None


@pytest.mark.parametrize(
    ("row", "key"),
    [
        ({"ppo_actor/task_reward/avg": 0.1, "ppo_actor/update/approx_kl/avg": 0.25}, "ppo_actor/update/approx_kl/avg"),
        ({"critic/score/mean": 0.1, "system/tps_gpu": 1.0, "actor/policykl": 0.25}, "actor/policykl"),
    ],
)
def test_trap_5_an_update_kl_with_the_other_sign_is_turned(row: dict[str, object], key: str) -> None:
    turned = series(run_of([row] * 2), "kl/update")
    assert turned.key == key
    assert turned.values.tolist() == [-0.25, -0.25]
    assert "sign turned" in turned.kind


def test_trap_5_old_minus_new_is_left_as_it_is() -> None:
    assert series(run_of([{"actor/pg_loss": 0.0, "actor/ppo_kl": 0.25}] * 2), "kl/update").values[0] == 0.25


def test_trap_6_the_entropy_loss_of_sb3_is_negative_entropy_and_that_of_others_is_not() -> None:
    classical = run_of([{"rollout/ep_rew_mean": 9.0, "train/entropy_loss": -0.6}] * 2)
    assert series(classical, "entropy").values.tolist() == [0.6, 0.6]
    for row in (
        {"actor/pg_loss": 0.1, "actor/entropy_loss": 0.6},
        {"rollout/raw_reward": 0.1, "train/entropy_loss": 0.6},
        {"train/policy_loss": 0.1, "train/timing/ppo_train": 3.0, "train/entropy_loss": 0.6},
    ):
        assert series(run_of([row] * 2), "entropy").values.tolist() == [0.6, 0.6]


def test_trap_7_sums_over_updates_become_means() -> None:
    row = {
        "train/reward": 0.5,
        "train/probs_ratio": 4.02,
        "train/loss": 0.8,
        "train/kl_penalty": 0.04,
        "train/lr": 1e-6,
    }
    run = run_of([{**row, "train/gen_kl_error": 0.1, "train/grad_norm": 2.0}] * 3)
    assert run.framework == "nemo-rl"
    assert series(run, "loss/total").values.tolist() == pytest.approx([0.2] * 3)
    assert series(run, "kl/ref").values.tolist() == pytest.approx([0.01] * 3)
    assert series(run, "grad_norm").values.tolist() == pytest.approx([0.5] * 3)
    assert series(run, "is/update_ratio_mean").values.tolist() == pytest.approx([1.005] * 3)
    assert series(run, "lr").values.tolist() == [1e-6] * 3
    assert "sum over 4 updates turned into a mean" in series(run, "loss/total").kind


def test_trap_7_without_a_known_number_of_updates_the_sum_is_called_a_sum() -> None:
    run = run_of([{"train/reward": 0.5, "train/gen_kl_error": 0.1, "train/loss": 0.8}] * 2)
    assert series(run, "loss/total").values.tolist() == [0.8, 0.8]
    assert "their number unknown" in series(run, "loss/total").kind


def test_trap_8_val_is_no_validation_and_global_step_counts_samples() -> None:
    assert canonical("val/ratio", "trl-ppo") == canonical("val/ratio", "open-instruct") == "is/update_ratio_mean"
    rows = [{"training_step": n, "global_step": 512 * n, "scores": 0.1, "val/rho_weight": 1.0} for n in (1, 2, 3)]
    run = read_stream("".join(json.dumps(row) + "\n" for row in rows).encode())
    assert run.framework == "open-instruct"
    assert series(run, "reward/mean").steps.tolist() == [1, 2, 3]
    assert series(run, "progress/samples_total").values.tolist() == [512.0, 1024.0, 1536.0]
    assert not [one.name for one in run.series if one.name.startswith("eval/")]


def test_trap_9_the_headline_of_slime_is_the_raw_reward() -> None:
    run = run_of([{"rollout/rewards": 1e-9, "rollout/raw_reward": 0.4}] * 2)
    assert series(run, "reward/mean").key == "rollout/raw_reward"
    assert series(run, "reward/normalized_mean").key == "rollout/rewards"


def test_trap_10_rewards_after_a_filter_are_not_the_headline() -> None:
    nemo = run_of([{"train/reward": 0.2, "train/filtered_reward": 0.5, "train/gen_kl_error": 0.0}] * 2)
    prime = run_of([{"train/agg/effective/reward/mean": 0.5, "train/agg/all/reward/mean": 0.2}] * 2)
    for run in (nemo, prime):
        assert series(run, "reward/mean").values[0] == 0.2
        assert series(run, "reward/filtered_mean").values[0] == 0.5


def test_trap_11_the_step_time_of_roll_is_that_of_the_step_before() -> None:
    row = {"critic/score/mean": 0.1, "system/tps_gpu": 5.0, "token/total_response_length/clip": 3}
    run = run_of([{**row, "time/step_total": seconds} for seconds in (0.0, 61.0, 62.0)], first=0)
    times = series(run, "time/step")
    assert (times.steps.tolist(), times.values.tolist()) == ([0, 1], [61.0, 62.0])
    assert series(run, "len/response_clip_count").values[0] == 3  # a count, and never read as a fraction
    assert run.get("len/response_clip_frac") is None
    assert canonical("actor/ppo_ratio_clipfrac", "roll") == "clip/frac_ratio"


def test_trap_12_step_times_are_kept_step_by_step() -> None:
    times = [30.0, 5.0, 5.0, 30.0]
    run = run_of([{"reward": 0.1, "completions/mean_length": 1.0, "step_time": time} for time in times])
    assert series(run, "time/step").values.tolist() == times


def test_trap_13_the_kind_tells_what_zero_spread_was_measured_on() -> None:
    grpo, rloo = translate("frac_reward_zero_std", "trl-grpo"), translate("frac_reward_zero_std", "trl-rloo")
    assert grpo is not None
    assert rloo is not None
    assert "AFTER KL penalty" in rloo.kind
    assert "AFTER KL penalty" not in grpo.kind


def test_trap_14_missing_ends_of_areal_are_no_clip_fraction() -> None:
    assert canonical("ppo_actor/no_eos_ratios/avg", "areal") == "len/response_clip_frac_mean"


def test_trap_15_floats_printed_as_words_are_numbers_and_known_to_be_rounded() -> None:
    from leadline.sources import console

    parser = console.parser()
    parser.feed(
        b"{'loss': '0.0123', 'reward': '0.51', 'learning_rate': '9.9e-07', 'num_tokens': 8, 'epoch': '0.04'}\n" * 2
    )
    log = parser.log()
    assert log.trust == "rounded"
    assert log.table.columns()["reward"].values.tolist() == [0.51, 0.51]


def test_trap_16_wrapped_numbers_nan_and_infinity_on_a_console() -> None:
    values = {"a": "np.float64(0.5)", "b": "nan", "c": "inf", "d": "-inf", "e": "np.float32(nan)", "f": "tensor(2.5)"}
    line = " - ".join(f"{key}:{value}" for key, value in values.items())
    run = read_stream(f"step:1 - actor/pg_loss:0.1 - critic/score/mean:0.2 - {line}\n".encode())
    seen = {one.key: float(one.values[0]) for one in run.unread if one.key in values}
    assert str(seen) == "{'a': 0.5, 'b': nan, 'c': inf, 'd': -inf, 'e': nan, 'f': 2.5}"


def test_trap_17_a_log_that_begins_late_is_read_from_there() -> None:
    run = run_of([{"actor/pg_loss": 0.1, "critic/score/mean": 0.5}] * 3, first=401)
    assert (run.first_step, run.last_step, run.events) == (401, 403, ())


def test_trap_18_a_row_of_validation_alone_is_no_gap_in_the_reward() -> None:
    train = {"critic/score/mean": 0.5, "actor/pg_loss": 0.0}
    run = run_of([{"val-core/gsm8k/acc/mean@1": 0.3}, train, {**train, "val-core/gsm8k/acc/mean@1": 0.4}], first=0)
    assert series(run, "reward/mean").steps.tolist() == [1, 2]
    assert series(run, "eval/gsm8k/acc/mean@1").steps.tolist() == [0, 2]


def test_trap_19_waiting_is_told_from_generating() -> None:
    assert (
        canonical("timing_s/wait_for_enough_samples", "verl")
        == canonical("time/wait_for_batch", "prime-rl")
        == "time/wait"
    )


def test_trap_20_throughputs_over_different_times_have_different_names() -> None:
    whole, training = canonical("perf/throughput", "verl"), canonical("trainer/tokens_per_second_per_gpu", "skyrl")
    assert (whole, training) == ("perf/tokens_per_s_per_gpu", "perf/train_tokens_per_s_per_gpu")


def test_percents_and_milliseconds_are_turned() -> None:
    nemo = run_of([{"train/reward": 0.5, "train/baseline_reward/pct_0": 25.0}] * 2)
    assert series(nemo, "group/solve_none_frac").values.tolist() == [0.25, 0.25]
    prime = run_of([{"mismatch_kl/all/mean": 0.1, "perf/mfu": 22.0}] * 2)
    assert series(prime, "perf/mfu/actor").values.tolist() == [0.22, 0.22]
    asynchronous = run_of(
        [{"reward": 0.1, "ratio": 1.0, "completions/mean_length": 9.0, "scoring_time_ms": 1500.0}] * 2
    )
    assert series(asynchronous, "time/reward").values.tolist() == [1.5, 1.5]


def test_counts_of_groups_become_shares_where_all_are_counted() -> None:
    counts = {"batch/solve_none": 2, "batch/solve_all": 4, "batch/solve_partial": 10}
    run = run_of([{"critic/score/mean": 0.5, "actor/pg_loss": 0.1, **counts}] * 2)
    assert run.framework == "rllm"
    assert series(run, "group/solve_none_frac").values.tolist() == [0.125, 0.125]
    assert series(run, "reward/mean").key == "critic/score/mean"  # keys of the framework below are passed on
    lone = run_of([{"critic/score/mean": 0.5, "batch/solve_none": 2}] * 2)
    assert series(lone, "group/solve_none_count").values.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("key", "dialect", "name"),
    [
        ("train/reward", "trl-grpo", "reward/mean"),
        ("eval/reward", "trl-grpo", "eval/reward/mean"),
        ("eval_reward", "trl-grpo", "eval/reward/mean"),
        ("reward", "openrlhf", "reward/mean"),
        ("train/reward", "openrlhf", "reward/mean"),
        ("math_rule/critic/score/mean", "roll", "reward/mean"),
        ("critic/score/mean@sum", "roll", "reward/mean"),
        ("val_rollouts/rewards", "nemo-aligner", "eval/reward/mean"),
        ("eval-rollout/reward/avg", "areal", "eval/reward/mean"),
        ("test/env/all/reward/total", "tinker-cookbook", "eval/reward/mean"),
    ],
)
def test_prefixes_are_understood(key: str, dialect: str, name: str) -> None:
    assert canonical(key, dialect) == name


def test_rows_that_are_parts_of_a_step_give_their_mean() -> None:
    rows = [{"step": n // 2, "mean_reward": float(n), "loss": math.nan} for n in range(6)]
    run = read_stream(json.dumps(rows).encode())
    reward = series(run, "reward/mean")
    assert (reward.steps.tolist(), reward.values.tolist()) == ([0, 1, 2], [0.5, 2.5, 4.5])
    assert run.events == ()


def test_a_dialect_is_not_claimed_for_common_words() -> None:
    assert detect(["reward", "kl", "loss", "entropy", "step"]) is None
