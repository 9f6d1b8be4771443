"""Logs in styles that no table and no grammar was written for: small ones, made by hand in the manner of each kind."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from leadline.errors import BadMapping, NotAnRLRun
from leadline.run import Run
from leadline.sources import read_stream

STEPS = list(range(1, 13))
REWARDS = [round(0.1 + 0.03 * step, 4) for step in STEPS]
PAIRS = list(zip(STEPS, REWARDS, strict=True))


def lines(form: str, scale: int = 1) -> str:
    """A line or a block a step: {i} is the step, {n} a larger count of it, {r} the reward."""
    return "".join(form.format(i=step, n=step * scale, r=reward) + "\n" for step, reward in PAIRS)


def objects(*rows: dict[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


STYLES: dict[str, tuple[str, int]] = {  # text, and how much each step counts
    "TD3": (lines("Total T: {n} Episode Num: {i} Episode T: 200 Reward: {r}", 200), 200),
    "DeepSpeed-Chat": (
        lines(
            "Epoch: 0 | Step: {i} | PPO Epoch: 1 | Actor Loss: 0.1 | Critic Loss: 0.2\naverage reward score: {r}\n---"
        ),
        1,
    ),
    "Spinning Up": (
        lines("-----------\n|        Epoch |   {i} |\n| AverageEpRet | {r} |\n|     StdEpRet | 0.02 |\n-----------"),
        1,
    ),
    "baselines": (
        lines("-------\n| mean 100 episode reward | {r} |\n| steps  | {n} |\n-------", 1000),
        1000,
    ),
    "CleanRL's console": (lines("global_step={n}, episodic_return={r}\nSPS: 1000", 512), 512),
    "minimind": (lines("Epoch:[1/1]({i}/500), Reward: {r}, KL_ref: 0.01, Actor Loss: 0.0, Avg Len: 12"), 1),
    "a bar": (lines("Training: 10%|█   | {i}/240 [00:10<01:30,  1.00it/s, reward={r}, loss=0.1]"), 1),
    "a tag": (lines("[UPDATE] {i}/300 done_frac=0.1 mean_reward={r} mean_len=12.0"), 1),
    "columns": ("  iter   reward   loss\n" + lines("  {i}   {r}   0.1"), 1),
    "Markdown, a table a step": (
        lines("### Step {i}\n\n| metric | value |\n|---|---|\n| reward | {r} |\n| kl | 0.01 |\n"),
        1,
    ),
    "Markdown, a row a step": ("| step | mean reward | kl |\n|---|---|---|\n" + lines("| {i} | {r} | 0.01 |"), 1),
    "rsl_rl": (
        lines(
            "#####\n   \x1b[1m Learning iteration {i}/1500 \x1b[0m\n   Surrogate loss: 0.01\n   Mean reward: {r}\n-----"
        ),
        1,
    ),
    "a heading and a line": (lines("Episode {i}/500\n - reward: {r} - steps: 200 - loss: 0.12"), 1),
    "logfmt, the row beside the message": (
        lines('ts=2026-03-01T12:00:00Z level=info msg="rl step" step={n} reward_mean={r} approx_kl=0.01', 10),
        10,
    ),
    "leaders": (
        lines(
            "======\n  Iteration {i} / 2000\n======\n  Average reward .......... {r}\n  KL divergence ........... 0.01"
        ),
        1,
    ),
    "columns a sign brings close": ("  Iter   Reward    KL     Loss\n" + lines("    {n}   {r}  0.01 -0.0100", 10), 10),
    "columns below a comment": ("# step reward kl loss\n" + lines("{n} {r} 0.01 -0.01", 10), 10),
    "a comma in the numbers": (
        "step;mean_reward;kl\n" + lines("{n};{r};0.01", 10).replace(".", ","),
        10,
    ),
    "units in the header": ("iteration,mean reward [a.u.],time [s]\n" + lines("{n},{r},9.8", 10), 10),
    "YAML": (lines("step: {i}\n  reward: {r}\n  loss: 0.1"), 1),
    "several key-value columns": (
        lines("Epoch 1/5 Step {i}/9 Train step {i}/45 done.\n╒══╤══╕\n│ task_reward/avg │ {r} │ lr │ 1e-5 │\n╘══╧══╛"),
        1,
    ),
    "behind docker": (lines('{{"log":"Step {i}/100 | Loss 0.01 | Reward {r}\\n","stream":"stdout"}}'), 1),
    "behind journald": (lines("Nov 15 22:05:01 host7 python[123]: iter {i}: mean_reward={r} kl=0.01"), 1),
    "behind kubectl": (lines("[pod/train-0/main] 2025-11-23T14:30:19Z INFO iteration={i} avg_return={r} x=0.3"), 1),
    "behind Ray": (lines("\x1b[36m(TaskRunner pid=12, ip=10.0.0.1)\x1b[0m step {i} | reward {r} | kl 0.01"), 1),
    "behind loguru": (
        lines("2025-11-11 10:00:00.123 | INFO     | trainer:train:88 - step {i} | reward {r} | kl 0.1"),
        1,
    ),
    "behind logfmt": (lines('time="2025-11-23T14:30:19Z" level=info msg="update {i} reward/mean={r} loss=0.2"'), 1),
    "behind a rank": (lines("[rank0]: [2025-11-11 10:00:01][INFO] it: {i} | return: {r} | pi_loss: 0.2"), 1),
    "DreamerV3": (
        objects(
            *(
                row
                for step, reward in PAIRS
                for row in ({"step": step, "episode/score": reward}, {"step": step, "train/loss": 0.1 * step})
            )
        ),
        1,
    ),
    "a W&B chart": (
        '"Step","my run - train/reward","my run - train/reward__MIN","my run - train/reward__MAX"\n'
        + lines('"{i}","{r}","{r}","{r}"'),
        1,
    ),
    "nested": (objects(*({"iteration": i, "train": {"reward": {"mean": r, "std": 0.1}}} for i, r in PAIRS)), 1),
    "an update's own name": (objects(*({"grpo_step": i, "episode": 7, "mean_reward": r} for i, r in PAIRS)), 1),
    "a tracker's step beside it": (
        "rl_update_index,wandb_step,global_step,objective/verifiable_reward\n" + lines("{i},{n},{n},{r}", 256),
        1,
    ),
    "loguru from a package": (
        lines(
            "2025-11-11 10:00:00.123 | INFO     | trainer.grpo:train_step:214 - iter {i} | avg_ret {r} | pg_loss 0.1"
        ),
        1,
    ),
    "statistics behind a name": (
        lines("INFO - === ROLLOUT (Step {i}) ===\nINFO - Rewards: min=0.0, max=1.0, mean={r}, std=0.2"),
        1,
    ),
    "parts below a heading": (
        lines("--- Step {i}/99 ---\nReward breakdown:\n  format : min=0.0, avg=0.1\n  TOTAL : min=0.0, avg={r}"),
        1,
    ),
    "PrettyTable": ("+---+---+\n| Step | Reward |\n+---+---+\n" + lines("| {i} | {r} |") + "+---+---+\n", 1),
    "tabulate's grid": (lines("Iteration {i}\n+---+---+\n| reward | {r} |\n+---+---+\n| kl | 0.1 |\n+---+---+"), 1),
    "German": (lines("Schritt {i}/99: Belohnung={r}, Verlust=0.1, Lernrate=1e-06"), 1),
    "Chinese": (lines("2025-03-01 12:00:01 [INFO] 第 {i}/99 步：损失: 0.1, 平均奖励: {r}, KL散度: 0.01"), 1),
    "Chinese keys": (objects(*({"步数": i, "平均奖励": r, "损失": 0.1} for i, r in PAIRS)), 1),
    "a value a row": (
        objects(
            *(
                row
                for i, r in PAIRS
                for row in ({"name": "loss", "step": i, "value": 0.1}, {"name": "reward", "step": i, "value": r})
            )
        ),
        1,
    ),
    "a value a line": ("metric,step,value\n" + lines("reward/mean,{i},{r}\nloss,{i},0.1"), 1),
    "points of series": (json.dumps({"reward": PAIRS, "loss": [[i, 0.1] for i in STEPS]}), 1),
    "points as objects": (json.dumps({"reward": [{"step": i, "value": r} for i, r in PAIRS]}), 1),
    "rows by named step": (json.dumps({f"step_{i}": {"reward": r, "loss": 0.1} for i, r in PAIRS}), 1),
    "batches of an epoch": (
        "epoch,batch,R,loss\n" + "".join(f"{(i - 1) // 3},{(i - 1) % 3 + 1},{r},0.1\n" for i, r in PAIRS),
        1,
    ),
    "batches of an epoch, printed": (
        "".join(f"Epoch {(i - 1) // 3} | Batch {(i - 1) % 3 + 1} | Reward {r} | Loss 0.1\n" for i, r in PAIRS),
        1,
    ),
    "so many of all": (
        "".join(f"[iter {i}] correct: {round(r * 10000)}/10000  loss: 0.1  kl: 0.01\n" for i, r in PAIRS),
        1,
    ),
    "micro-batches": (
        objects(*({"step": i, "reward": r + part, "loss": part * i} for i, r in PAIRS for part in (-0.1, 0.1))),
        1,
    ),
}


def read(text: str, **mapping: str) -> Run:
    return read_stream(text.encode(), mapping=mapping)


@pytest.mark.parametrize("style", STYLES)
def test_the_reward_and_its_steps_are_found(style: str) -> None:
    text, scale = STYLES[style]
    run = read(text)
    reward = run.get("reward/mean")
    assert reward is not None, [series.key for series in (*run.series, *run.unread)]
    assert reward.steps.tolist() == [step * scale for step in STEPS]
    assert reward.values.tolist() == pytest.approx(REWARDS)
    assert run.framework is None


@pytest.mark.parametrize(
    ("text", "planned"),
    [
        (lines("Step {i}/700 | reward {r}"), 700),
        ("Total training steps: 700\n" + lines("step {i}: reward={r} loss=0.1"), 700),
        ("{'max_steps': 300, 'lr': 1e-6}\n" + lines("step {i}: reward={r} loss=0.1"), 300),
        (STYLES["a bar"][0], 240),
        (STYLES["minimind"][0], 500),
        ("warmup_steps=10 save_steps=50\n" + lines("step {i}: reward={r} loss=0.1"), None),
        ("1/4 of 180 students failed.\n" + lines("Step {i}/700 | reward {r}"), 700),  # a sample, printed first
        ("1/4 of 180 students failed.\n" + lines("Step {i} | reward {r}"), None),
        (lines("GRPO ITERATION {i}/60\n[Iter {i}] reward={r} loss=0.1"), 60),  # a heading, and rows that name its step
        (lines("[Iter {i}] reward={r} loss=0.1") + "12/60 of the answers\n[Iter 12] reward=0.5 loss=0.1\n", None),
        ("=== Epoch 1/4 ===\n" + lines("Step {i} | reward {r}"), None),  # counts something else: steps go beyond it
        ("1/4 of the score\n" + lines("Step {i}/700 | reward {r}\n1/9 of the reward is 0.1"), 700),
        (lines("Step {i}/700 | reward {r}") + lines("Step {i}/300 | reward 1{r}"), 300),  # started over, with another
    ],
)
def test_the_planned_length_is_read_from_the_text(text: str, planned: int | None) -> None:
    assert read(text).config.planned_steps == planned


def test_numbers_before_a_mapping_on_its_line_belong_to_its_row() -> None:
    run = read(
        lines("2025-01-01 10:00:00,1 - train - INFO - rl_loss: -0.1, entropy: 0.{i}, data: {{'n': 8, 'reward': {r}}}")
    )
    assert {series.key for series in (*run.series, *run.unread)} == {"rl_loss", "entropy", "n", "reward"}
    entropy = run.get("entropy")
    assert entropy is not None
    assert entropy.values.tolist() == [float(f"0.{step}") for step in STEPS]
    talk = read(lines("sample 3 of 8, best of 4: {{'reward': {r}, 'loss': 0.1}}"))
    assert {series.key for series in (*talk.series, *talk.unread)} == {"reward", "loss"}


def test_a_torn_row_among_rows_without_a_step_keeps_its_place() -> None:
    rows = [f"{{'loss': 0.01, 'reward': {step / 40}, 'kl': 0.{step:03}}}" for step in range(1, 31)]
    rows[9] = rows[9][:30]
    run = read("\n".join(rows))
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.steps.tolist() == [step for step in range(1, 31) if step != 10]
    assert run.notes == ("Skipped 1 printed row that could not be read.",)


def test_how_many_steps_an_evaluation_took_is_not_where_it_stands() -> None:
    told = "Evaluated 400 steps resulting in 8 episodes\neval_reward_mean={r}"
    reward = read(lines(f"Epoch: {{i}}, global_step={{n}}\n{told}\nv_loss=0.1", 512)).get("eval/reward/mean")
    assert reward is not None
    assert reward.steps.tolist() == [512 * step for step in STEPS]


def test_rows_without_a_step_that_share_no_key_are_of_one_step() -> None:
    run = read(lines("{{'reward': {r}, 'reward_std': 0.1}}\n{{'loss': 0.{i}, 'kl': 0.01}}"))
    for name in ("reward/mean", "loss/total"):
        series = run.get(name)
        assert series is not None
        assert series.steps.tolist() == STEPS


def test_rows_of_an_evaluation_are_no_rows_of_training() -> None:
    rows: list[dict[str, object]] = []
    for step, reward in PAIRS:
        rows.append({"type": "train", "step": step, "mean_reward": reward, "loss": 0.1})
        if step % 4 == 0:
            rows.append({"type": "eval", "step": step, "mean_reward": 0.9})
    run = read(objects(*rows))
    reward, held_out = run.get("reward/mean"), run.get("eval/reward/mean")
    assert reward is not None
    assert held_out is not None
    assert reward.values.tolist() == REWARDS
    assert (held_out.steps.tolist(), held_out.values.tolist()) == ([4, 8, 12], [0.9] * 3)


def test_a_line_that_begins_with_eval_is_of_an_evaluation() -> None:
    run = read(lines("episode {i}: reward={r} loss=0.1\n  Eval -> mean_reward=0.9 win_rate=0.5"))
    reward, held_out = run.get("reward/mean"), run.get("eval/reward/mean")
    assert reward is not None
    assert held_out is not None
    assert reward.values.tolist() == REWARDS
    assert set(held_out.values.tolist()) == {0.9}


def test_a_heading_that_says_validation_is_of_an_evaluation() -> None:
    run = read(lines("Step {i}: reward {r}, loss 0.1\n--- Validation at step {i} ---\nAvg reward: 0.9"))
    reward, held_out = run.get("reward/mean"), run.get("eval/reward/mean")
    assert reward is not None
    assert held_out is not None
    assert reward.values.tolist() == REWARDS
    assert set(held_out.values.tolist()) == {0.9}


def test_scores_by_step_in_a_document_are_of_evaluations() -> None:
    run = read(json.dumps({"step": STEPS, "reward": REWARDS, "dev_chrf": {"4": 38.1, "8": 39.2}}))
    held_out = run.get("eval/chrf/mean")
    assert held_out is not None
    assert (held_out.steps.tolist(), held_out.values.tolist()) == ([4, 8], [38.1, 39.2])


def test_accuracy_is_the_outcome_of_a_policy_and_not_of_a_classifier() -> None:
    assert read(lines("step {i} acc {r} kl 0.01 loss 0.1")).get("reward/mean") is not None
    with pytest.raises(NotAnRLRun):
        read(lines("step {i} acc {r} lr 0.01 loss 0.1"))


def test_an_evaluation_of_one_number_in_the_console_of_openrlhf() -> None:
    form = (
        "INFO 11-15 17:21:55 ppo_trainer.py:547] ✨ Global step {i}: {{'policy_loss': 0.1, 'actor_lr': 6e-06, "
        "'actor_grad_norm': 0.8, 'ppo_clip_ratio': 0.0, 'reward': 0.5, 'rollout/reward_mean': {r}, 'kl': 0.0}}\n"
        "INFO 11-15 17:21:55 ppo_trainer.py:489] ✨ Evaluation completed in 0:00:00, global_step {i}, "
        "eval_metrics: {{'eval_task_pass1': {r}}}"
    )
    run = read(lines(form))
    reward, held_out = run.get("reward/mean"), run.get("eval/task/pass@1")
    assert run.framework == "openrlhf"
    assert reward is not None
    assert held_out is not None
    assert (reward.key, reward.values.tolist()) == ("rollout/reward_mean", REWARDS)  # before any filter
    assert held_out.values.tolist() == REWARDS


def attempts(*lengths: int) -> str:
    rows: list[dict[str, object]] = []
    for attempt, length in enumerate(lengths):
        rows += [{"step": step, "mean_reward": step + attempt / 10, "loss": 0.1} for step in range(1, length + 1)]
    return objects(*rows)


def test_of_a_log_that_was_started_over_the_newest_attempt_is_read() -> None:
    run = read(attempts(4, 9, 6))
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.values.tolist() == [step + 0.2 for step in range(1, 7)]
    assert reward.rows == 19
    assert any("restarts from its first step 2 times" in note and "attempt 3, the latest" in note for note in run.notes)


WARM_UP = [{"step": step, "loss": 1 / step, "token_accuracy": 0.8} for step in range(1, 7)]


def test_a_warm_up_of_another_kind_is_no_part_of_the_run() -> None:
    run = read(objects(*WARM_UP) + attempts(9))
    reward, loss = run.get("reward/mean"), run.get("loss/total")
    assert reward is not None
    assert loss is not None
    assert (reward.points, loss.points) == (9, 9)
    assert any("attempt 2, the latest" in note for note in run.notes)


def test_what_a_trainer_writes_when_it_is_through_begins_nothing() -> None:
    run = read(attempts(9) + objects({"step": 0, "loss": 0.3, "train_runtime": 12.5}))
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.points == 9
    assert not any("restarts" in note for note in run.notes)


def test_what_only_another_attempt_logged_is_no_series_of_this_one() -> None:
    rows = [{"step": step, "mean_reward": 0.1 * step, "entropy": 1 / step} for step in range(1, 7)]
    run = read(objects(*rows) + attempts(6))
    assert run.get("reward/mean") is not None
    assert all(series.points for series in (*run.series, *run.unread))


def test_of_a_log_that_was_started_over_another_attempt_can_be_asked_for() -> None:
    text = attempts(4, 9, 6)
    reward = read(text, attempt="2").get("reward/mean")
    assert reward is not None
    assert reward.values.tolist() == [step + 0.1 for step in range(1, 10)]
    with pytest.raises(BadMapping, match="expects a number"):
        read(text, attempt="the long one")
    with pytest.raises(BadMapping, match="no attempt 4: this log has 3"):
        read(text, attempt="4")
    with pytest.raises(BadMapping, match="this log has 1"):
        read(attempts(9), attempt="2")


def test_what_cannot_be_read_in_a_log_that_was_started_over_is_told_where_it_stands() -> None:
    lines = attempts(4, 6).splitlines(keepends=True)
    run = read("".join([*lines[:2], "{broken\n", *lines[2:8], "{broken\n", *lines[8:], "{broken\n"]))
    assert [(event.kind, event.step) for event in run.events] == [("unreadable", 4), ("unreadable", 6)]


def test_a_row_that_is_written_again_and_again_is_one_row() -> None:
    rows = [{"step": 10 * block + at, "mean_reward": 0.1 + block / 7, "loss": 0.3 / (block + 1), "kl": 0.01}
            for block in range(8) for at in range(10)]  # fmt: skip
    reward = read(objects(*rows)).get("reward/mean")
    assert reward is not None
    assert (reward.points, reward.rows) == (8, 80)


def test_a_mapping_that_a_terminal_wrapped_is_one_row() -> None:
    def wrapped(text: str, width: int = 60) -> Sequence[str]:
        return [text[at : at + width] for at in range(0, len(text), width)]

    row = (
        "{{'loss': 0.01, 'grad_norm': 0.16944, 'learning_rate': 1e-06, 'completions/mean_length': 384.0, "
        "'reward': {r}, 'epoch': 0.0}}"
    )
    text = "\n".join(line for _, reward in PAIRS for line in wrapped(row.format(r=reward)))
    reward = read(text + "\n").get("reward/mean")
    assert reward is not None
    assert reward.values.tolist() == REWARDS


def test_what_cannot_be_told_is_asked_for_with_the_line_to_paste() -> None:
    run = read(objects(*({"step": i, "agent_0/reward": r, "agent_1/reward": 1 - r} for i, r in PAIRS)))
    assert run.get("reward/mean") is None
    assert [(question.name, question.chosen, question.answer) for question in run.questions] == [
        ("reward/mean", None, "--map reward/mean=agent_0/reward")
    ]
    assert any("--map reward/mean=agent_0/reward" in note for note in run.notes)


def test_a_guess_names_what_else_it_could_be() -> None:
    run = read(objects(*({"step": i, "train/reward": r, "rollout/reward": 1 - r} for i, r in PAIRS)))
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.kind == "guess: training reward"
    assert [question.chosen for question in run.questions] == [reward.key]
    assert {*run.questions[0].keys, reward.key} == {"train/reward", "rollout/reward"}


def test_keys_of_a_known_framework_keep_their_types_in_any_carrier() -> None:
    flat = "step,critic_score_mean,actor_pg_loss,actor_ppo_kl,actor_kl_loss\n" + lines("{i},{r},0.1,-0.01,0.02")
    run = read(flat)
    assert run.framework == "verl"
    update, reference = run.get("kl/update"), run.get("kl/ref")
    assert update is not None
    assert reference is not None
    assert "k1" in update.kind
    prefixed = read("step,r7/critic/score/mean,r7/actor/pg_loss,r7/actor/ppo_kl\n" + lines("{i},{r},0.1,-0.01"))
    assert prefixed.get("kl/update") is not None
    assert [series.key for series in prefixed.series if series.name == "reward/mean"] == ["r7/critic/score/mean"]


def test_names_that_anybody_would_choose_name_no_framework() -> None:
    run = read(lines("wandb: step {i}: rollout/reward_mean={r}, train/kl=0.01"))
    assert (run.framework, run.get("reward/mean") is None) == (None, False)


def test_settings_beside_the_rows_of_a_document_tell_the_plan() -> None:
    rows = [{"update": step, "ret": step / 10, "kl": 0.01} for step in range(1, 20)]
    assert read(json.dumps({"config": {"total_updates": 200}, "history": rows})).config.planned_steps == 200


def test_steps_of_an_answer_head_no_row() -> None:
    answer = (
        "**Step 1: Add the numbers.**\nso far\n**Step 2: Divide them.**\n**Step 3: Compare.**\nreward is 0.9 of 1\n"
    )
    told = "kl is 0.27 and reward: 0.5\n"
    run = read(lines((answer + told) * 4 + "[step {n}] avg_loss=0.1 acc={r}", 25))
    accuracy = run.get("reward/accuracy")
    assert accuracy is not None
    assert accuracy.steps.tolist() == [25 * step for step in STEPS]
    assert accuracy.values.tolist() == REWARDS


def test_steps_that_head_rows_count_beside_lines_that_name_their_own() -> None:
    run = read(lines("=== Step {i} ===\nreward: {r}\n[step {i}] loss=0.1"))
    reward = run.get("reward/mean")
    assert reward is not None
    assert (reward.steps.tolist(), reward.values.tolist()) == (STEPS, REWARDS)
