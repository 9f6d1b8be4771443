"""Kinds of logs that were misread in trials on repositories nobody had seen (`bench/sources.py --trial`): small samples
made by hand in the manner of each kind, never a copy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.errors import NotAnRLRun, NothingReadable
from leadline.run import Run, Series
from leadline.sources import Readers, build_run, find_runs, open_run, open_runs, open_samples, read_stream

ROWS = range(1, 31)
REWARDS = [round(-5.0 + 0.4 * row + (row * 7 % 5), 3) for row in ROWS]


def read(folder: Path, name: str, text: str) -> Run:
    (folder / name).write_text(text)
    return open_run(folder / name)


def reward_of(run: Run) -> Series:
    reward = run.get("reward/mean")
    assert reward is not None
    return reward


def test_drawn_tables_that_name_no_step_are_rows_once_they_come_again(tmp_path: Path) -> None:
    form = (
        "--------------\n| expert acc  | 0.8 |\n| mean 50 episode reward | {} |\n| value loss | 0.1 |\n--------------\n"
    )
    run = read(tmp_path, "log.txt", "Logging to logs\n" + "".join(form.format(reward) for reward in REWARDS))
    assert reward_of(run).key == "mean 50 episode reward"
    assert reward_of(run).values.tolist() == REWARDS
    assert reward_of(run).steps.tolist() == [*ROWS]


def test_a_drawn_table_that_comes_once_is_a_summary(tmp_path: Path) -> None:
    summary = "--------------\n| mean reward | 99.0 |\n| value loss | 0.1 |\n--------------\n"
    run = read(tmp_path, "log.txt", summary + "".join(f"step {row} reward: {REWARDS[row - 1]}\n" for row in ROWS))
    assert reward_of(run).values.tolist() == REWARDS


def test_a_running_total_under_a_section_is_the_step(tmp_path: Path) -> None:
    header = "rollout/return,train/loss,total/steps,total/duration\n"
    text = header + "".join(f"{REWARDS[row - 1]},0.1,{row * 2000},{row * 3.5}\n" for row in ROWS)
    assert reward_of(read(tmp_path, "progress.csv", text)).steps.tolist() == [row * 2000 for row in ROWS]


def test_the_running_mean_of_a_reward_is_not_the_reward(tmp_path: Path) -> None:
    so_far = [sum(REWARDS[:row]) / row for row in ROWS]
    text = "episode,reward,avg_reward\n" + "".join(f"{row},{REWARDS[row - 1]},{so_far[row - 1]}\n" for row in ROWS)
    assert reward_of(read(tmp_path, "training.csv", text)).key == "reward"


def test_a_mean_that_forgets_is_not_the_reward_either(tmp_path: Path) -> None:
    smooth = [REWARDS[0]]
    for reward in REWARDS[1:]:
        smooth.append(0.9 * smooth[-1] + 0.1 * reward)
    text = "episode,reward,mean_reward\n" + "".join(f"{row},{REWARDS[row - 1]},{smooth[row - 1]}\n" for row in ROWS)
    assert reward_of(read(tmp_path, "training.csv", text)).key == "reward"


def test_a_mean_of_its_own_stays_the_reward(tmp_path: Path) -> None:
    """Of many episodes a row, `mean_reward` is what the row is about, and `reward` that of its last episode."""
    means = [round(reward + (row % 3) / 3, 4) for row, reward in zip(ROWS, REWARDS, strict=True)]
    text = "update,reward,mean_reward\n" + "".join(f"{row},{REWARDS[row - 1]},{means[row - 1]}\n" for row in ROWS)
    assert reward_of(read(tmp_path, "training.csv", text)).key == "mean_reward"


def test_the_reward_of_an_episode_comes_before_that_of_a_step(tmp_path: Path) -> None:
    rows = [{"step": row, "avg_reward": 0.01 * row, "avg_ep_reward": REWARDS[row - 1], "loss": 0.1} for row in ROWS]
    run = read(tmp_path, "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert reward_of(run).key == "avg_ep_reward"


def test_the_reward_of_the_team_comes_before_that_of_one_agent(tmp_path: Path) -> None:
    agents = ("carrier", "loader")
    header = ",".join(["_step", *(f"collection/{agent}/reward/episode_reward_mean" for agent in agents)])
    header += ",collection/reward/episode_reward_mean,collection/reward/reward_mean,eval/reward/episode_reward_mean\n"
    text = header + "".join(f"{row},1.{row},2.{row},{REWARDS[row - 1]},0.{row},\n" for row in ROWS)
    assert reward_of(read(tmp_path, "export.csv", text)).key == "collection/reward/episode_reward_mean"


def test_a_curve_downloaded_from_tensorboard_is_named_after_its_file(tmp_path: Path) -> None:
    text = "Wall time,Step,Value\n" + "".join(f"{1.7e9 + row},{row * 512},{REWARDS[row - 1]}\n" for row in ROWS)
    run = read(tmp_path, "run-walker_3-tag-train_return.csv", text)
    assert reward_of(run).key == "train_return"
    assert reward_of(run).steps.tolist() == [row * 512 for row in ROWS]
    assert reward_of(run).walls is not None


def test_a_column_of_rewards_alone_is_a_log(tmp_path: Path) -> None:
    run = read(tmp_path, "training_log.csv", "reward\n" + "".join(f"{reward}\n" for reward in REWARDS))
    assert reward_of(run).values.tolist() == REWARDS


def test_the_number_of_an_episode_is_the_step(tmp_path: Path) -> None:
    rows = [{"episode_num": 5 * row, "score": REWARDS[row - 1], "task_id": 1} for row in ROWS]
    run = read(tmp_path, "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert reward_of(run).steps.tolist() == [5 * row for row in ROWS]


def test_an_episode_that_is_taken_up_again_and_again_still_counts(tmp_path: Path) -> None:
    """Not the length of the episode, which is called steps."""
    episodes = [row - 3 * (row // 8) for row in ROWS]
    text = "episode,total_reward,steps\n" + "".join(
        f"{episode},{reward},50\n" for episode, reward in zip(episodes, REWARDS, strict=True)
    )
    assert reward_of(read(tmp_path, "training.csv", text)).steps.tolist() == sorted(set(episodes))


def test_a_win_rate_below_its_step_stands_for_the_reward(tmp_path: Path) -> None:
    form = (
        "[Update {0}/900] Step: {1}/14745600 | FPS: 1100 | ETA: 01:47:48\n └─ WinRate: {2} | Loss(P/V): -0.01/0.02\n\n"
    )
    shares = [round(0.2 + 0.01 * row, 2) for row in ROWS]
    run = read(tmp_path, "train.log", "".join(form.format(row, row * 16384, shares[row - 1]) for row in ROWS))
    assert reward_of(run).values.tolist() == shares
    assert reward_of(run).steps.tolist() == [row * 16384 for row in ROWS]


def test_what_a_framework_printed_stands_before_talk_about_samples(tmp_path: Path) -> None:
    talk = "".join(f"2026-01-18 | DEBUG | gold: [], reward: {row % 2}.0\n" for row in range(40))
    row = "{'loss': 0.04, 'grad_norm': 2.2, 'learning_rate': 1e-07, 'num_tokens': 6408.0, "
    row += "'completions/mean_length': 53.4, "
    row += "'completions/clipped_ratio': 0.0, 'rewards/accuracy/mean': 0.1, 'reward': 0.35, 'reward_std': 0.2, "
    row += "'frac_reward_zero_std': 0.1, 'kl': 0.001, 'epoch': 0.7}\n"
    run = read(tmp_path, "train.log", f"{talk} 70%|███████   | 10/14 [01:30<00:36,  9.1s/it]\n{row}")
    assert run.framework is not None
    assert run.framework.startswith("trl")
    assert reward_of(run).values.tolist() == [0.35]


def test_the_plan_of_the_training_is_not_an_agents_limit(tmp_path: Path) -> None:
    text = "{'agent': {'max_steps': 4}}\nTotal training steps: 700\n"
    run = read(tmp_path, "train.log", text + "".join(f"step {row} reward: {REWARDS[row - 1]}\n" for row in ROWS))
    assert run.config.planned_steps == 700


def rows_of(tmp_path: Path, **columns: Callable[[int], float]) -> Path:
    log = tmp_path / "metrics.jsonl"
    log.write_text("".join(json.dumps({"step": n} | {k: f(n) for k, f in columns.items()}) + "\n" for n in range(30)))
    return log


def wave(n: int) -> float:
    return n / 30 + 0.1 * (n % 7)


def test_one_number_under_several_names_is_one_series(tmp_path: Path) -> None:
    run = open_run(rows_of(tmp_path, reward_a=wave, reward_b=wave, score=wave))
    assert [one.name for one in run.series] == ["reward/mean"]


def test_a_spread_is_never_offered_as_the_reward(tmp_path: Path) -> None:
    run = open_run(rows_of(tmp_path, window_std=wave, score_stdev=wave, kl=wave), mapping={})
    assert run.get("reward/mean") is None
    assert not run.questions


@pytest.mark.parametrize("judge", ["gold_reward", "true_reward", "human_score"])
def test_beside_a_proxy_the_second_score_is_the_better_judge(tmp_path: Path, judge: str) -> None:
    run = open_run(rows_of(tmp_path, proxy_reward=wave, kl=wave, **{judge: lambda n: 1 - wave(n)}))
    assert {(one.name, one.key) for one in run.series} >= {
        ("reward/mean", "proxy_reward"),
        ("eval/gold/reward/mean", judge),
    }


@pytest.mark.parametrize(
    "printed",
    [
        "rewards: [-1, 0.5, 1, 1.5]",
        "rewards: tensor([-1.0000, 0.5000, 1.0000, 1.5000], device='cuda:0')",
        "reward scores: tensor([[-1.0], [0.5],\n        [1.0], [1.5]], device='cuda:0')",
        "Rewards: [-1.  0.5\n  1.  1.5]",
    ],
)
def test_a_batch_that_is_printed_as_an_array_is_its_mean(tmp_path: Path, printed: str) -> None:
    (tmp_path / "train.log").write_text(f"some text\n{printed}\n" * 12)
    reward = open_run(tmp_path).get("reward/mean")
    assert reward is not None
    assert reward.points == 12
    assert set(reward.values) == {0.5}


def test_a_heading_counts_and_what_stands_below_an_evaluation_is_held_out(tmp_path: Path) -> None:
    told = "".join(f"===== Evaluation #{n} =====\nmean reward: {n / 12}\n\n" for n in range(12))
    losses = "".join(f"{{'loss': {n / 9}, 'learning_rate': 1e-5, 'epoch': {n / 30}}}\n" for n in range(30))
    (tmp_path / "train.log").write_text(losses + told)
    reward = open_run(tmp_path).get("eval/reward/mean")
    assert reward is not None
    assert reward.steps.tolist() == list(range(12))


def test_names_and_numbers_in_columns_below_a_step_are_its_row(tmp_path: Path) -> None:
    told = "".join(f"### Iteration {n} ###\n  mean reward   {n / 12:.3f}\n  kl   0.01\n" for n in range(12))
    (tmp_path / "train.log").write_text(told)
    reward = open_run(tmp_path).get("reward/mean")
    assert reward is not None
    assert reward.steps.tolist() == list(range(12))


@pytest.mark.parametrize("by", ["seed", "method"])
@pytest.mark.parametrize("mixed", [False, True], ids=["one after the other", "mixed"])
def test_a_column_that_names_runs_tells_them_apart(tmp_path: Path, by: str, mixed: bool) -> None:
    names: list[object] = [3, 7] if by == "seed" else ["grpo", "baseline"]
    rows = [
        {by: name, "step": row, "reward": REWARDS[row - 1] + place} for place, name in enumerate(names) for row in ROWS
    ]
    rows = sorted(rows, key=lambda row: int(str(row["step"]))) if mixed else rows
    (tmp_path / "all.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = {run.path: reward_of(run).values.tolist() for run in open_runs(tmp_path)}
    labels = [f"{by}={name}" if by == "seed" else name for name in names]
    assert found == {
        str(tmp_path / f"all.jsonl#{label}"): [value + place for value in REWARDS] for place, label in enumerate(labels)
    }


def test_workers_and_one_seed_make_no_runs(tmp_path: Path) -> None:
    lines = [{"seed": 1, "rank": rank, "step": row, "reward": REWARDS[row - 1]} for row in ROWS for rank in (0, 1)]
    run = read(tmp_path, "all.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
    assert reward_of(run).values.tolist() == REWARDS


def test_a_table_with_one_row_per_run_is_no_run(tmp_path: Path) -> None:
    text = "run_name,noise,final_val_accuracy\n" + "".join(f"grpo-p{row},{row / 100},{row / 40}\n" for row in ROWS)
    with pytest.raises(NotAnRLRun, match="one row per run, not a training log"):
        read(tmp_path, "sweep.csv", text)


def test_evaluations_never_move_the_clock_of_the_training(tmp_path: Path) -> None:
    log = "".join(f"{json.dumps({'step': row, 'reward': REWARDS[row - 1], 'kl': 0.1})}\n" for row in ROWS)
    (tmp_path / "train.jsonl").write_text(log)
    scores = [{"step": step, "pass_at_1": step / 100, "n_problems": 100} for step in (-1, 10, 20, 30, 99999)]
    (tmp_path / "eval_results.json").write_text(json.dumps(scores))
    run = open_run(tmp_path)
    score = run.get("eval/acc/mean")
    assert score is not None
    assert score.steps.tolist() == [10, 20, 30]
    assert run.last_step == ROWS[-1]


def test_series_of_points_that_name_their_steps_need_no_known_names(tmp_path: Path) -> None:
    points = [{"step": row, "value": REWARDS[row - 1], "epoch": row / 10} for row in ROWS]
    run = read(tmp_path, "metrics.json", json.dumps({"meta": {"gpus": 1}, "metrics": {"aligned/foo": points}}))
    assert [(one.key, one.values.tolist()) for one in run.unread] == [("aligned/foo", REWARDS)]


def test_evaluations_in_a_folder_of_their_own_are_no_runs(tmp_path: Path) -> None:
    for name in ("run", "evals"):
        (tmp_path / name).mkdir()
    log = "".join(f"{json.dumps({'step': row, 'reward': REWARDS[row - 1], 'kl': 0.1})}\n" for row in ROWS)
    (tmp_path / "run" / "metrics.jsonl").write_text(log)
    tasks = [{"task": f"t{row}", "score": row / 40, "total_reward": row / 20} for row in ROWS]
    (tmp_path / "evals" / "base.json").write_text(json.dumps(tasks))
    (tmp_path / "evals" / "summary.csv").write_text("task,mean_reward\n" + "".join(f"t{n},{n / 9}\n" for n in ROWS))
    assert reward_of(open_run(tmp_path)).values.tolist() == REWARDS


def test_a_document_without_rows_is_no_console(tmp_path: Path) -> None:
    summary = {f"task_{row}": {"episode": row, "reward": REWARDS[row - 1], "steps": [{"text": "a"}]} for row in ROWS}
    with pytest.raises(NothingReadable):
        read(tmp_path, "summary.json", json.dumps({"tasks": [summary], "all": "x"}, indent=1))


def test_a_score_in_running_text_is_no_row(tmp_path: Path) -> None:
    with pytest.raises(NothingReadable):
        read(tmp_path, "notes.txt", "".join(f"Most helpful: train[{row}] (score={row / 9e6})\n" for row in ROWS))


def test_a_capital_r_is_a_reward_and_asked_for(tmp_path: Path) -> None:
    lines = [{"step": row, "loss": 0.1, "mean_R_code": row / 40, "mean_R_reason": row / 50} for row in ROWS]
    run = read(tmp_path, "log.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
    assert [question.keys for question in run.questions] == [("mean_R_code", "mean_R_reason")]


def test_constants_and_epochs_are_not_offered_as_the_reward(tmp_path: Path) -> None:
    lines = [{"step": row, "epoch": row / 7, "gpus": 8, "quality": row / 40} for row in ROWS]
    run = read(tmp_path, "log.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
    assert [question.keys for question in run.questions] == [("quality",)]


def test_turns_of_both_sides_are_read_as_a_chat(tmp_path: Path) -> None:
    turns = [{"turn": 1, "user": "What is 2+2?", "assistant": "It is 4."}]
    lines = [{"step": row, "reward": row / 40, "turns": turns} for row in ROWS]
    (tmp_path / "trajectories.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    sample = open_run(tmp_path).rollouts.at(3)[0]
    assert (sample.prompt, sample.output, sample.score) == ("What is 2+2?", "It is 4.", 3 / 40)


def lines_of(rows: list[dict[str, float]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.mark.parametrize(("begins", "runs"), [(201, 2), (361, 1)], ids=["half of it", "since the last state"])
def test_a_log_that_trains_half_of_another_again_does_not_continue_it(tmp_path: Path, begins: int, runs: int) -> None:
    for name, steps in (("a", range(1, 401)), ("b", range(begins, 501))):
        (tmp_path / name).mkdir()
        rows = [{"step": float(n), "reward": 0.5 + (n * 7 % (11 if name == "a" else 13)) / 40} for n in steps]
        (tmp_path / name / "m.jsonl").write_text(lines_of(rows))
    assert len(find_runs(tmp_path).runs) == runs


def test_a_line_per_epoch_beside_a_log_of_steps_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(lines_of([{"step": n, "reward_mean": n % 7 / 9} for n in range(1, 51)]))
    printed = (
        f"INFO - Epoch {n} complete:\nINFO -   Avg Reward: 0.{n}000\nINFO -   Avg KL: 0.01\n" for n in range(1, 6)
    )
    (tmp_path / "train.log").write_text("".join(printed))
    found = find_runs(tmp_path)
    assert len(found.runs) == 1
    assert any("coarser" in note for note in found.notes)


def test_of_two_copies_the_one_that_names_its_steps_leads(tmp_path: Path) -> None:
    rewards = [round(0.1 + 0.013 * (n * 7 % 31), 3) for n in range(80)]
    (tmp_path / "extracted.txt").write_text("".join(f"'reward': '{reward}', 'loss': 0.1\n" for reward in rewards))
    rows = [{"step": 5 * n + 5, "reward": reward, "loss": 0.1, "kl": 0.01} for n, reward in enumerate(rewards)]
    (tmp_path / "raw.log").write_text("".join(f"{row}\n" for row in rows))
    assert reward_of(open_run(tmp_path)).steps.tolist() == [*range(5, 401, 5)]


def test_a_table_about_runs_does_not_tie_them_together(tmp_path: Path) -> None:
    for name in ("PPO_1", "PPO_2"):
        rows = "".join(f"177{name[-1]}0{n:04},{2048 * n},{REWARDS[n - int(name[-1])]}\n" for n in ROWS)
        (tmp_path / f"{name}.csv").write_text(f"Wall time,Step,Value\n{rows}")
    (tmp_path / "results.csv").write_text("model,timesteps,avg_reward\nbaseline,60000,0.15\nshaped,60000,0.31\n")
    assert {run.name for run in find_runs(tmp_path).runs} >= {"PPO_1.csv", "PPO_2.csv"}


def test_records_of_an_evaluation_are_no_curve(tmp_path: Path) -> None:
    records = [{"episode_id": f"{row * 7919:08x}", "domain": "x", "reward": row % 3 / 2} for row in ROWS]
    with pytest.raises(NotAnRLRun, match="single records without a step"):
        read(tmp_path, "results.json", json.dumps({"summary": {"episodes": 30}, "records": records}))
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps({"step": n, "reward": wave(n)}) + "\n" for n in ROWS))
    assert reward_of(open_run(tmp_path)).points == len(ROWS)


def test_rows_that_say_when_they_were_written_stay_a_curve(tmp_path: Path) -> None:
    rows = [{"time": f"2026-11-18 10:{row:02}:00", "reward": REWARDS[row - 1]} for row in ROWS]
    run = read(tmp_path, "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert reward_of(run).points == len(ROWS)


def test_an_epoch_and_a_step_that_lines_name_are_one_clock(tmp_path: Path) -> None:
    """As Lightning prints: bars count epochs, and the line of a checkpoint tells which step that was."""
    form = (
        "Epoch {0}: : 0it [04:20, ?it/s, loss=1.3, v_num=0, avg_ep_reward={1}]\n"
        "Epoch {0}: : 0it [08:47, ?it/s, loss=1.4, v_num=0, avg_ep_reward={2}]"
        "Epoch {0}, global step {3}: 'avg_ep_reward' reached {2} (best {2}), saving model to 'best.ckpt' as top 1\n"
    )
    before = [0.0, *REWARDS]
    text = "".join(form.format(row - 1, before[row - 1], REWARDS[row - 1], 8 * row) for row in ROWS)
    run = read(tmp_path, "train.log", text)
    assert reward_of(run).steps.tolist() == [8 * row for row in ROWS]
    assert reward_of(run).values.tolist() == REWARDS
    assert not run.events
    assert not any("reached" in series.key for series in (*run.series, *run.unread))


def test_a_line_that_sums_up_an_epoch_is_no_step(tmp_path: Path) -> None:
    lines = []
    for row in ROWS:
        lines.append(f"step {row} | reward: {REWARDS[row - 1]} | loss: 0.1")
        lines += [f"Epoch {row // 10} | reward: 9.9"] * (row % 10 == 0)
    run = read(tmp_path, "train.log", "\n".join(lines) + "\n")
    assert reward_of(run).values.tolist() == REWARDS


def test_names_of_a_framework_behind_a_section_are_known(tmp_path: Path) -> None:
    """As a loop of its own logs what TRL's PPO returned."""
    stats = {
        "objective/kl": 3.0, "objective/kl_coef": 0.2, "ppo/mean_non_score_reward": -0.1, "ppo/loss/policy": 0.01,
        "ppo/loss/value": 0.2, "ppo/loss/total": 0.03, "ppo/policy/approxkl": 0.001, "ppo/policy/clipfrac": 0.1,
    }  # fmt: skip
    rows = [{"step": n, "reward": REWARDS[n - 1], "ppo_stats": {**stats, "ppo/mean_scores": n / 30}} for n in ROWS]
    run = read(tmp_path, "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert run.framework == "trl-ppo"
    kl = run.get("kl/ref_seq_sum")
    assert kl is not None
    assert kl.key == "ppo_stats/objective/kl"


def test_a_score_of_something_is_asked_about_unless_a_policy_is_sampled(tmp_path: Path) -> None:
    run = open_run(rows_of(tmp_path, health_score=wave, checkpoint_size=lambda n: n / 7))
    assert run.get("reward/mean") is None
    assert [question.keys for question in run.questions] == [("health_score",)]
    assert reward_of(open_run(rows_of(tmp_path, game_score=wave, policy_entropy=lambda n: n / 7))).key == "game_score"


def test_clocks_counts_and_spreads_are_not_proposed_as_the_reward(tmp_path: Path) -> None:
    run = open_run(
        rows_of(
            tmp_path,
            quality=wave,
            epoch=lambda n: n / 10,
            problems_seen=lambda n: 16 * n,
            group_mean_reward_span=wave,
            n_problems=lambda n: 100,
            reward_hacking_counts=lambda n: n % 3,
        )
    )
    assert [question.keys for question in run.questions] == [("quality",)]


def test_mappings_about_single_samples_do_not_move_the_clock_of_a_trainer(tmp_path: Path) -> None:
    text = ""
    for step in range(1, 8):
        text += 'breakdown: {"task_success": 0.0, "tool_sequence": 0.1, "format": 0.05}\n' * 8
        text += f"\r  5%|#    | {step}/20 [01:23<2:39:31, 503.74s/it]\n"
        text += (
            f"{{'loss': -0.01, 'learning_rate': 5e-06, 'reward': {step / 9}, 'reward_std': 0.03, 'epoch': 0.{step}}}\n"
        )
    run = read(tmp_path, "train.log", text)
    assert reward_of(run).steps.tolist() == [*range(1, 8)]
    assert (run.config.planned_steps, run.events) == (20, ())


def test_a_log_of_two_bytes_a_letter_is_read_as_it_grows(tmp_path: Path) -> None:
    """As PowerShell writes what is sent to a file."""
    lines = [f"step {row} | reward: {REWARDS[row - 1]} | loss: 0.1\r\n" for row in ROWS]
    log = tmp_path / "train.log"
    log.write_bytes("".join(lines[:10]).encode("utf-16")[:-1])  # a letter breaks off
    readers = Readers()
    find_runs(log, readers)
    log.write_bytes("".join(lines).encode("utf-16"))
    found = find_runs(log, readers)
    assert reward_of(build_run(found, found.only(), "it")).values.tolist() == REWARDS
    assert reward_of(open_run(log)).values.tolist() == REWARDS
    assert reward_of(read_stream(log.read_bytes())).values.tolist() == REWARDS


def test_rows_with_a_flag_are_of_evaluations(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = []
    for row in range(1, 101):
        rows.append({"step": row, "reward_mean": wave(row), "kl": 0.1})
        rows += [{"step": row, "eval": True, "ndcg@10": row / 200, "reward_mean": 9.0}] * (row % 20 == 0)
    run = read(tmp_path, "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert reward_of(run).values.tolist() == [wave(row) for row in range(1, 101)]
    held_out = run.get("eval/ndcg/mean")
    assert held_out is not None
    assert held_out.steps.tolist() == [20, 40, 60, 80, 100]


def test_a_history_of_trl_on_its_own_is_known(tmp_path: Path) -> None:
    row = {"loss": 0.0, "grad_norm": 0.3, "learning_rate": 5e-7, "completion_length": 90.0, "reward_std": 0.2}
    rows = [{**row, "rewards/fn": n / 9, "reward": n / 9, "kl": 0.01, "epoch": n / 50, "step": n} for n in ROWS]
    run = read(tmp_path, "log_history.json", json.dumps(rows))
    assert run.framework is not None
    assert run.framework.startswith("trl")
    assert run.get("kl/ref") is not None


def test_points_under_a_name_that_says_nothing_are_asked_about(tmp_path: Path) -> None:
    pairs = [[10 * row, REWARDS[row - 1]] for row in ROWS]
    run = read(tmp_path, "curve.json", json.dumps({"model": "m", "points": pairs}))
    assert [question.keys for question in run.questions] == [("points",)]


def test_results_with_their_error_are_no_curve(tmp_path: Path) -> None:
    text = "cell,seed,benchmark,pass_at_1,ci_low,ci_high\n"
    text += "".join(f"A{row % 4},{row % 3},amc,{row / 40},{row / 50},{row / 30}\n" for row in ROWS)
    with pytest.raises(NotAnRLRun, match="not a training log"):
        read(tmp_path, "bootstrap.csv", text)


def test_one_sample_a_prompt_without_a_step_is_no_curve(tmp_path: Path) -> None:
    rows = [
        {"trial": row, "numbers": [row, 3], "completion": f"Answer: {row} + 3 is it", "reward": 0.0} for row in ROWS
    ]
    with pytest.raises(NothingReadable, match="sampled responses without a step"):
        read(tmp_path, "preliminary.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def test_settings_and_a_license_beside_a_notebook_are_no_logs(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text("MIT License\n")
    (tmp_path / "config_final.yaml").write_text("step: 1\nreward: 0.5\n")
    (tmp_path / "train.ipynb").write_text(json.dumps({"cells": [{"cell_type": "code", "outputs": []}]}))
    with pytest.raises(NothingReadable, match=r"no training steps in .*train\.ipynb"):
        open_run(tmp_path)


def test_a_table_of_arms_seeds_and_benchmarks_is_about_runs(tmp_path: Path) -> None:
    cells = [(f"A{arm}", seed, name) for arm in range(3) for seed in range(3) for name in ("amc", "aime", "gsm")]
    text = "arm,seed,benchmark,pass_at_1\n" + "".join(f"{a},{s},{b},0.{n + 10}\n" for n, (a, s, b) in enumerate(cells))
    with pytest.raises(NotAnRLRun, match="one row per run"):
        read(tmp_path, "master.csv", text)


@pytest.mark.parametrize("column", ["elapsed", "checkpoint", "commit"])
def test_a_training_log_without_a_step_is_read_whatever_words_tell_its_rows_apart(tmp_path: Path, column: str) -> None:
    told = {
        "elapsed": lambda row: f"0:{row:02}:00",
        "checkpoint": lambda row: f"ckpt-{10 * row:04}",
        "commit": lambda row: f"{row * 7919 % 65521:04x}f",
    }[column]
    rows = "".join(f"{told(row)},{row / 40},{1 / (row + 1)}\n" for row in range(40))
    (tmp_path / "log.csv").write_text(f"{column},reward,loss\n{rows}")
    assert reward_of(open_run(tmp_path)).points == 40


def test_samples_go_to_the_run_whose_whole_name_they_bear(tmp_path: Path) -> None:
    for name in ("run1", "run10"):
        rows = "".join(f'{{"step": {row}, "reward": {row / int(name[3:])}}}\n' for row in ROWS)
        (tmp_path / f"{name}.jsonl").write_text(rows)
    samples = "".join(f'{{"step": {row}, "prompt": "p", "response": "r {row}", "reward": 1.0}}\n' for row in ROWS)
    (tmp_path / "run10_samples.jsonl").write_text(samples)
    runs = {run.path.rpartition("/")[2]: run for run in open_runs(tmp_path)}
    assert {name: bool(run.rollouts) for name, run in runs.items()} == {"run1.jsonl": False, "run10.jsonl": True}


def test_a_dataset_is_neither_a_curve_nor_what_the_policy_wrote(tmp_path: Path) -> None:
    """Whatever it is called, and however a log prints beside it."""
    rows = [
        {"problem_id": n, "problem": f"Sum {n} and {n}.", "solution": f"Well, {n} and {n} are {n + n}.", "reward": 1.0}
        for n in range(100)
    ]
    (tmp_path / "train_examples.json").write_text(json.dumps(rows))
    cells = "".join(f'"How many are {n} and 2?",Level {n % 5},"One sees that there are {n}",{n}\n' for n in ROWS)
    (tmp_path / "math_test_sample.csv").write_text("problem,level,solution,answer\n" + cells)
    (tmp_path / "run.out").write_text("".join(f"step {n} | reward: {REWARDS[n - 1]} | loss: 0.1\n" for n in ROWS))
    run = open_run(tmp_path)
    assert reward_of(run).values.tolist() == REWARDS
    assert not run.rollouts
    with pytest.raises(NothingReadable):
        open_run(tmp_path / "train_examples.json")


def test_several_updates_of_a_step_among_other_rows_are_no_resumes(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = []
    for n in ROWS:
        rows.append({"type": "rollout", "grpo_step": n, "mean_reward": REWARDS[n - 1]})
        rows += [{"type": "train", "grpo_step": n, "optimizer_step": 2 * n + k, "loss": n + k} for k in range(2)]
        rows.append({"type": "grpo_step_summary", "grpo_step": n, "seconds": 3.0})
    run = read(tmp_path, "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert not run.events
    loss = run.get("loss/total")
    assert loss is not None
    assert loss.values.tolist() == [n + 0.5 for n in ROWS]


def test_a_plan_is_known_by_the_words_of_a_setting(tmp_path: Path) -> None:
    path = rows_of(tmp_path, reward=wave)
    assert open_run(path).config.planned_steps is None
    settings = {"n_grpo_steps": 500, "warmup_steps": 900, "env": {"max_steps": 700}, "num_updates_per_step": 600}
    (path.parent / "config.json").write_text(json.dumps(settings))
    assert open_run(path).config.planned_steps == 500


def test_the_length_of_an_episode_is_no_clock_and_its_steps_are_no_runs(tmp_path: Path) -> None:
    lengths = [50 - (n == 9) - 2 * (n == 1) for n in ROWS]  # hardly ever another one
    rows = "".join(f"{n},{REWARDS[n - 1]},{lengths[n - 1]}\n" for n in ROWS)
    (tmp_path / "metrics.csv").write_text("episode,total_reward,steps\n" + rows)
    single = "".join(f"{n},{step},{step % 7 / 9},0.1\n" for n in ROWS for step in range(1, lengths[n - 1] + 1))
    (tmp_path / "steps.csv").write_text("episode,step,reward,loss\n" + single)
    run = open_run(tmp_path)
    assert reward_of(run).steps.tolist() == [*ROWS]
    assert reward_of(run).values.tolist() == REWARDS
    with pytest.raises(NotAnRLRun, match="one row per step of an environment"):
        open_run(tmp_path / "steps.csv")


def test_text_without_a_log_is_shown_and_refused_as_a_run(tmp_path: Path) -> None:
    rows = [{"prompt": f"{n} + 3?", "completion": f"Answer: {n} + 3 is it", "reward": 0.0} for n in ROWS]
    (tmp_path / "completions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(NothingReadable):
        open_run(tmp_path)
    kept = open_samples(tmp_path)
    assert [kept.at(step)[0].output for step in kept.steps] == [row["completion"] for row in rows]
    with pytest.raises(NothingReadable):
        open_samples(tmp_path / "nothing")


def test_a_count_that_goes_back_again_and_again_is_no_step(tmp_path: Path) -> None:
    rows = [{"prompt_length": 90, "steps_taken": 200 + n * 67 % 90, "reward_mean": REWARDS[n - 1]} for n in ROWS]
    run = read(tmp_path, "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert reward_of(run).steps.tolist() == [*ROWS]


@pytest.mark.parametrize("name", ["step", "_step", "global_step", "train/step"])
def test_rows_may_come_in_any_order(name: str, tmp_path: Path) -> None:
    """As in exports with the newest row first, and from workers of which one is behind."""
    rows = [{name: 10 * n, "reward": REWARDS[n - 1], "kl": 0.01 * n} for n in ROWS]
    for place, order in enumerate((rows[::-1], [rows[at ^ 1] for at in range(len(rows))])):
        run = read(tmp_path, f"{place}.jsonl", "".join(json.dumps(row) + "\n" for row in order))
        assert dict(zip(reward_of(run).steps.tolist(), reward_of(run).values.tolist(), strict=True)) == {
            row[name]: row["reward"] for row in rows
        }
        (tmp_path / f"{place}.jsonl").unlink()


def test_how_many_steps_there_are_to_be_heads_no_row(tmp_path: Path) -> None:
    settings = "Config loaded:\n{'spec_topk': 1, 'spec_num_steps': 3}\n"
    rows = "".join(f"Epoch {row}: reward={REWARDS[row - 1]} | mean kl=0.{row}\n" for row in ROWS)
    run = read(tmp_path, "train.log", settings + rows)
    assert reward_of(run).steps.tolist() == [*ROWS]
    form = "-----------\n| rollout/ | |\n| ep_rew_mean | {} |\n| time/ | |\n| total_timesteps | {} |\n-----------\n"
    boxes = "".join(form.format(REWARDS[row - 1], 4096 * row) for row in ROWS)
    run = read(tmp_path, "sb3.log", f"Info: (n_steps=1024 and n_envs=4)\n{boxes}")
    assert reward_of(run).steps.tolist() == [4096 * row for row in ROWS]


def test_the_form_that_comes_most_often_is_the_row(tmp_path: Path) -> None:
    checks = "Good question reward: +0.20  (is_question:+0.20)\nBad reward: -0.80  (long:-0.30|direct:-0.50)\n"
    run = read(tmp_path, "train.log", checks + "".join(f"  Batch: mean_reward={reward}\n" for reward in REWARDS))
    assert reward_of(run).values.tolist() == REWARDS


def test_a_progress_bar_may_lack_its_middle(tmp_path: Path) -> None:
    form = "{{'loss': '0.03', 'reward': '{}', 'kl': '0.01', 'epoch': '0.05'}}\n{:3}% {}/150 [02:36<49:25, 31.2s/it]\n"
    rows = "".join(form.format(REWARDS[row - 1], row * 5 * 100 // 150, row * 5) for row in ROWS)
    run = read(tmp_path, "train.log", "  0% 0/150 [00:00<?, ?it/s]Passing `generation_config` together\n" + rows)
    assert reward_of(run).steps.tolist() == [row * 5 for row in ROWS]


def test_rows_of_two_policies_are_a_comparison(tmp_path: Path) -> None:
    curve = "step,window_avg_reward\n" + "".join(f"{row * 200},{REWARDS[row - 1]}\n" for row in ROWS)
    (tmp_path / "learning_curve.csv").write_text(curve)
    policies = [{"policy": "Sorted by date", "shown": 6000, "pass_rate": 0.4, "avg_reward": 0.47}]
    policies += [{"policy": "Thompson sampling", "shown": 6000, "pass_rate": 0.3, "avg_reward": 0.62}]
    (tmp_path / "metrics.json").write_text(json.dumps(policies))
    assert reward_of(open_run(tmp_path)).steps.tolist() == [row * 200 for row in ROWS]


def test_lists_of_a_document_have_each_their_own_steps(tmp_path: Path) -> None:
    steps = [row * row + 38 for row in ROWS]
    lists = {"ep_rewards": REWARDS, "ep_timesteps": steps}
    lists |= {"eval_rewards": REWARDS[:3], "eval_timesteps": [300, 600, 900]}
    run = read(tmp_path, "training_log.json", json.dumps(lists))
    assert reward_of(run).steps.tolist() == steps
    held_out = run.get("eval/reward/mean")
    assert held_out is not None
    assert held_out.steps.tolist() == [300, 600, 900]
