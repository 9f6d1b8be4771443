"""One small sample of every format, hand-written as its framework writes it: who wrote it, its reward, its steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.errors import NothingReadable
from leadline.sources import open_run, read_stream, source_of

SAMPLES = Path(__file__).parent / "samples" / "text"
REWARDS = [0.1, 0.25, 0.4, 0.55]
ONE_TO_FOUR, FROM_ZERO, ENVIRONMENT = [1, 2, 3, 4], [0, 1, 2, 3], [2048, 4096, 6144, 8192]

FORMATS: dict[str, tuple[str, str | None, str, list[int]]] = {  # file: source, dialect, key of the reward, its steps
    "trl_transformers4.log": ("console", "trl", "reward", ONE_TO_FOUR),
    "trl_transformers5.log": ("console", "trl", "reward", ONE_TO_FOUR),
    "unsloth.log": ("console", "unsloth", "reward", ONE_TO_FOUR),
    "verl.log": ("console", "verl", "critic/score/mean", ONE_TO_FOUR),
    "openrlhf.log": ("console", "openrlhf", "reward", ONE_TO_FOUR),
    "nemo_rl.log": ("console", "nemo-rl", "Avg Reward", ONE_TO_FOUR),
    "torchforge.log": ("console", "torchforge", "reward/evaluate_response/avg_total_reward", ONE_TO_FOUR),
    "skyrl.log": ("console", "skyrl", "reward/avg_raw_reward", ONE_TO_FOUR),
    "prime_rl.log": ("console", "prime-rl", "Reward", ONE_TO_FOUR),
    "slime.log": ("console", "slime", "rollout/raw_reward", FROM_ZERO),
    "areal.log": ("console", "areal", "ppo_actor/task_reward/avg", ONE_TO_FOUR),
    "roll.log": ("console", "roll", "critic/score/mean", FROM_ZERO),
    "open_instruct.log": ("console", "open-instruct", "scores", ONE_TO_FOUR),
    "sb3.log": ("console", "sb3", "rollout/ep_rew_mean", ENVIRONMENT),
    "own_words.log": ("console", None, "rewards", ONE_TO_FOUR),
    "own_labels.log": ("console", None, "mean reward", ONE_TO_FOUR),
    "own_blocks.log": ("console", None, "Mean reward", ONE_TO_FOUR),
    "own_lines_without_steps.log": ("console", None, "reward", ONE_TO_FOUR),
    "own_mapping.log": ("console", None, "mean_reward", ONE_TO_FOUR),
    "journal.jsonl": ("jsonl", "trl-grpo", "reward", ONE_TO_FOUR),
    "prime_rl.jsonl": ("jsonl", "prime-rl", "train/agg/all/reward/mean", ONE_TO_FOUR),
    "tinker.jsonl": ("jsonl", "tinker-cookbook", "env/all/reward/total", FROM_ZERO),
    "rllib_result.json": ("jsonl", "rllib", "env_runners/episode_return_mean", ONE_TO_FOUR),
    "sb3_progress.json": ("jsonl", "sb3", "rollout/ep_rew_mean", ENVIRONMENT),
    "wandb_export.jsonl": ("jsonl", "trl", "train/reward", ONE_TO_FOUR),
    "sb3_progress.csv": ("csv", "sb3", "rollout/ep_rew_mean", ENVIRONMENT),
    "rllib_progress.csv": ("csv", "rllib", "env_runners/episode_return_mean", ONE_TO_FOUR),
    "wandb_export.csv": ("csv", None, "train/reward", ONE_TO_FOUR),
    "notebook_table.csv": ("csv", "trl-grpo", "reward", ONE_TO_FOUR),
    "trl.ipynb": ("notebook", "trl-grpo", "reward", ONE_TO_FOUR),
    "own_table.tsv": ("csv", None, "mean_reward", ONE_TO_FOUR),
    "own_rows.json": ("json", None, "mean_reward", FROM_ZERO),
    "own_columns.json": ("json", None, "rewards_avg", ONE_TO_FOUR),
    "own_rows_by_step.json": ("json", None, "reward", ONE_TO_FOUR),
    "saved_history.json": ("json", "trl", "reward", ONE_TO_FOUR),
}


def test_every_sample_is_tested() -> None:
    assert {file.name for file in SAMPLES.iterdir()} == FORMATS.keys() | {"monitor.csv"}


@pytest.mark.parametrize("name", FORMATS)
def test_a_sample_is_read_as_its_framework_wrote_it(name: str) -> None:
    source, dialect, key, steps = FORMATS[name]
    chosen = source_of(SAMPLES / name)
    assert chosen is not None
    assert source == chosen.name
    run = open_run(SAMPLES / name)
    assert run.framework == dialect
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.key == key
    assert reward.steps.tolist() == steps
    assert reward.values.tolist() == pytest.approx(REWARDS)
    assert reward.kind.startswith("guess: ") == (dialect is None)


@pytest.mark.parametrize("name", FORMATS)
def test_a_sample_through_a_pipe_reads_like_the_file(name: str) -> None:
    opened, piped = open_run(SAMPLES / name), read_stream((SAMPLES / name).read_bytes())
    assert [(one.name, one.key, one.values.tobytes()) for one in opened.series] == [
        (one.name, one.key, one.values.tobytes()) for one in piped.series
    ]


def test_the_episodes_of_a_monitor_stand_in_for_a_mean_reward() -> None:
    run = open_run(SAMPLES / "monitor.csv")
    reward = run.get("reward/mean")
    assert run.framework == "sb3-monitor"
    assert reward is not None
    assert reward.key == "r"
    assert reward.steps.tolist() == [21, 43, 66, 90]  # environment steps so far
    assert reward.walls is not None
    assert reward.walls.tolist() == [1790000000.5, 1790000001.0, 1790000001.5, 1790000002.0]


def test_a_console_is_known_to_be_rounded_and_its_plan_is_known() -> None:
    run = open_run(SAMPLES / "trl_transformers4.log")
    assert run.config.planned_steps == 4
    kl = run.get("kl/ref")
    assert kl is not None
    assert str(kl.values.tolist()) == "[0.001, nan, 0.003, 0.004]"


def test_updates_of_a_rollout_are_placed_at_the_rollout() -> None:
    loss = open_run(SAMPLES / "slime.log").get("loss/total")
    assert loss is not None
    assert (loss.steps.tolist(), loss.values.tolist()) == ([0, 1, 2, 3], [0.02] * 4)


def test_a_large_console_settles_on_its_wording_and_loses_no_row() -> None:
    noise = b"(WorkerDict pid=7) Avg prompt throughput: 12.0 tokens/s, Running: 3 reqs\n" * 4000
    talk = b"".join(b"step %d loss=0.1 warming up, {'step': %d, 'loss': 0.5, 'note': 1}\n" % (n, n) for n in range(5))
    rows = [b"step:%d - actor/pg_loss:0.1 - critic/score/mean:0.%d\n" % (n, n) for n in range(1, 40)]
    run = read_stream(talk + b"".join(noise + row for row in rows))
    reward = run.get("reward/mean")
    assert run.framework == "verl"
    assert reward is not None
    assert reward.steps.tolist() == list(range(1, 40))


def test_a_line_without_end_is_left_out() -> None:
    from leadline.sources import console, json_lines

    for source, row in (
        (console, b"step:2 - critic/score/mean:0.5\n"),
        (json_lines, b'{"step": 2, "reward": 0.5}\n'),
    ):
        parser = source.parser()
        for _ in range(20):
            parser.feed(b"x" * (1 << 20))
        parser.feed(b"\n" + row)
        log = parser.log()
        assert len(log.table) == 1
        assert log.notes == ("1 line was left out: longer than 16 MiB",)


@pytest.mark.parametrize(
    ("line", "reward"),
    [
        ("Ep    3 | avg_reward:    0.50 | delivered: 3/4 (75%) | collisions: 0", 0.5),
        ("RL training epoch 3/10, Avg reward: 0.5000", 0.5),
        ("Episode 3/50 | Avg_reward: 0.5", 0.5),
        ("2026-11-15 10:00:00,123 INFO train - update=3 mean_reward=0.5 kl=0.01", 0.5),
        ("[rank0]: iter 3: reward 0.5, loss 0.1, lr 1e-06", 0.5),
        ("step 3 | loss: 0.1 | reward: tensor(0.5, device='cuda:0')", 0.5),
    ],
)
def test_home_made_lines(line: str, reward: float) -> None:
    found = read_stream(f"starting up\n{line}\n".encode()).get("reward/mean")
    assert found is not None
    assert (found.steps.tolist(), found.values.tolist()) == ([3], [reward])


@pytest.mark.parametrize(
    "text",
    [
        "LR this iteration: 5.00e-07 | T=0.800\n",
        "[1/266] CORRECT | target=0.6703 pred=0.67\n" * 5,
        "Run config: K=10 lr=5.0e-06 kl_coef=0.06 | eval_every=5\n",
        "Useful steps: 200\nWaste rate: 20.9%\n",
        "{'eos_token_id': 248046, 'pad_token_id': 248044}\n",
        "The reward model has 7 layers, step 3 of 5 is done\n",
    ],
)
def test_talk_is_no_row(text: str) -> None:
    with pytest.raises(NothingReadable):
        read_stream(text.encode())
