"""How the runs of bench/own_zoo.py are written down: the keys and files of the frameworks they could have come from."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from pprint import pformat

Rows = Sequence[tuple[int, dict[str, float]]]


@dataclass(frozen=True)
class Plan:
    """One run: what is trained, and what of it is kept."""

    name: str
    kind: str
    seed: int
    style: str
    text: bool
    held_out: bool
    steps: int
    lr: float
    beta: float
    kept: int = 10  # steps between two files of samples
    logged: int = 1  # steps a row of the log is the mean of
    saved: int = 0  # steps between two checkpoints; 0: no list of them
    told: bool = True  # whether settings and log say how long it is to be
    hidden: frozenset[str] = frozenset()  # what is not logged


TRL = {
    "reward": "reward", "reward_std": "reward_std", "tied": "frac_reward_zero_std", "loss": "loss",
    "entropy": "entropy", "kl": "kl", "grad": "grad_norm", "lr": "learning_rate", "length": "completions/mean_length",
    "shortest": "completions/min_length", "longest": "completions/max_length", "cut": "completions/clipped_ratio",
    "time": "step_time", "held_out": "eval_reward", "clipped": "clip_ratio/region_mean", "part": "rewards/{}/mean",
}  # fmt: skip
VERL = {
    "reward": "critic/score/mean", "highest": "critic/score/max", "lowest": "critic/score/min",
    "loss": "actor/pg_loss", "entropy": "actor/entropy", "kl": "actor/kl_loss", "grad": "actor/grad_norm",
    "lr": "actor/lr", "length": "response_length/mean", "shortest": "response_length/min",
    "longest": "response_length/max", "cut": "response_length/clip_ratio", "time": "timing_s/step",
    "held_out": "val-core/task/reward/mean@1", "clipped": "actor/pg_clipfrac", "part": "reward/{}/mean",
}  # fmt: skip
OPENRLHF = {
    "loss": "policy_loss", "lr": "actor_lr", "grad": "actor_grad_norm", "clipped": "ppo_clip_ratio",
    "reward": "reward", "kl": "kl", "entropy": "entropy_loss", "length": "response_length", "cut": "truncated",
    "reward_std": "rollout/reward_std", "part": "rollout/{}", "time": "timing/step_total",
    "held_out": "eval_task_pass1",
}  # fmt: skip
PRIME = {
    "reward": "train/agg/all/reward/mean", "highest": "train/agg/all/reward/max",
    "lowest": "train/agg/all/reward/min", "length": "train/agg/all/num_output_tokens/mean",
    "longest": "train/agg/all/num_output_tokens/max", "shortest": "train/agg/all/num_output_tokens/min",
    "cut": "train/agg/all/is_truncated/mean", "part": "train/agg/all/metrics/{}/mean", "loss": "loss/mean",
    "entropy": "entropy/all/mean", "clipped": "is_masked/mean", "lr": "optim/lr", "grad": "optim/grad_norm",
    "kl": "kl/all/mean", "time": "time/step", "held_out": "eval/task/avg@1",
}  # fmt: skip
SKYRL = {
    "length": "generate/avg_num_tokens", "longest": "generate/max_num_tokens", "shortest": "generate/min_num_tokens",
    "loss": "policy/policy_loss", "grad": "policy/grad_norm", "clipped": "policy/loss_metrics/clip_ratio",
    "entropy": "policy/policy_entropy", "kl": "policy/policy_kl", "lr": "policy/policy_lr",
    "reward": "reward/avg_raw_reward", "part": "reward/avg_{}", "time": "timing/step",
    "held_out": "eval/task/avg_score",
}  # fmt: skip
PLAIN = {
    "reward": "reward", "reward_std": "std_reward", "loss": "loss", "entropy": "token_entropy", "kl": "kl_avg",
    "grad": "grad_norm", "lr": "lr", "length": "completion_len", "clipped": "clip_fraction", "part": "{}_reward",
    "time": "step_seconds", "held_out": "val_reward",
}  # fmt: skip


def _trl(folder: Path, rows: Rows, plan: Plan, steps: int) -> None:
    history: list[dict[str, float]] = []
    for step, row in rows:
        held_out = row.pop("eval_reward", None)
        history.append({**row, "step": step})
        if held_out is not None:
            history.append({"eval_reward": held_out, "step": step})
    state: dict[str, object] = {"global_step": steps}
    if plan.told:
        state["max_steps"] = plan.steps
    state |= {"logging_steps": plan.logged, "log_history": history}
    (folder / "trainer_state.json").write_text(json.dumps(state))


def _verl(folder: Path, rows: Rows, plan: Plan, steps: int) -> None:
    _lines(folder / "metrics.jsonl", [json.dumps({"step": step, "data": row}) for step, row in rows])


def _plain(folder: Path, rows: Rows, plan: Plan, steps: int) -> None:
    _lines(folder / "metrics.jsonl", [json.dumps({"step": step, **row}) for step, row in rows])


def _prime(folder: Path, rows: Rows, plan: Plan, steps: int) -> None:
    """One line a step for each part of the trainer that logs."""
    lines = []
    for step, row in rows:
        for parts in (("train/",), ("loss/", "entropy/", "is_masked/", "kl/"), ("optim/",), ("time/",), ("eval/",)):
            if some := {key: value for key, value in row.items() if key.startswith(parts)}:
                lines.append(json.dumps({"step": step, **some}))
    _lines(folder / "metrics.jsonl", lines)


def _openrlhf(folder: Path, rows: Rows, plan: Plan, steps: int) -> None:
    lines = []
    for number, (step, row) in enumerate(rows):
        head = f"INFO 03-02 {10 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02} ppo_trainer.py"
        held_out = row.pop(OPENRLHF["held_out"], None)
        lines.append(f"{head}:547] ✨ Global step {step}: {row}")
        if held_out is not None:
            told = {OPENRLHF["held_out"]: held_out}
            lines.append(f"{head}:489] ✨ Evaluation completed in 0:00:00, global_step {step}, eval_metrics: {told}")
    _lines(folder / "train.log", lines)


def _skyrl(folder: Path, rows: Rows, plan: Plan, steps: int) -> None:
    where = "INFO     | skyrl.train.utils.tracking:log:205"
    lines = []
    for number, (step, row) in enumerate(rows):
        clock = f"2026-03-02 {10 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000"
        told = {key: f"{value:.4f}" for key, value in row.items()} | {"trainer/global_step": step}
        lines.append(f"{clock} | {where} - Step {step}: \n{pformat(told)}")
    _lines(folder / "train.log", lines)


def _lines(file: Path, lines: Sequence[str]) -> None:
    file.write_text("".join(line + "\n" for line in lines))


STYLES: dict[str, tuple[dict[str, str], Callable[[Path, Rows, Plan, int], None]]] = {
    "trl": (TRL, _trl),
    "verl": (VERL, _verl),
    "openrlhf": (OPENRLHF, _openrlhf),
    "prime": (PRIME, _prime),
    "skyrl": (SKYRL, _skyrl),
    "plain": (PLAIN, _plain),
}


def write_log(folder: Path, plan: Plan, log: Rows, steps: int, with_kl: bool) -> None:
    keys, write = STYLES[plan.style]
    hidden = plan.hidden if with_kl else plan.hidden | {"kl"}  # no framework logs one it does not need

    def named(key: str) -> str | None:
        key, _, name = key.partition("/")
        return keys[key].format(name) if key in keys and key not in hidden else None

    rows = [
        (step, {name: value for key, value in row.items() if (name := named(key)) is not None})
        for step, row in _means(log, plan.logged)
    ]
    write(folder, rows, plan, steps)
    if plan.saved:
        states = range(plan.saved, steps + 1, plan.saved)
        lines = [{"name": f"{at:06}", "batch": at, "state_path": f"tinker://run/weights/{at:06}"} for at in states]
        _lines(folder / "checkpoints.jsonl", [json.dumps(line) for line in lines])


def _means(log: Rows, over: int) -> Rows:
    """The means of `over` steps each, at their last one, as a trainer logs that does not log every step."""
    means = []
    for end in range(over, len(log) + 1, over):
        rows = [row for _, row in log[end - over : end]]
        keys = dict.fromkeys(key for row in rows for key in row)
        held = {key: [row[key] for row in rows if key in row] for key in keys}
        means.append((log[end - 1][0], {key: sum(values) / len(values) for key, values in held.items()}))
    return means


def write_samples(folder: Path, plan: Plan, step: int, samples: Sequence[tuple[str, str, float]], alone: int) -> None:
    """Questions, answers and scores; those after the first `alone` are one group."""
    if plan.style == "prime":
        file = folder / "rollouts" / f"step_{step}" / "train" / "all" / "traces.jsonl"
        rows: list[dict[str, object]] = [
            {
                "id": f"{step}-{place}",
                "prompt": [{"role": "user", "content": prompt}],
                "completion": [{"role": "assistant", "content": output}],
                "reward": round(score, 5),
            }
            for place, (prompt, output, score) in enumerate(samples)
        ]
    else:
        file = folder / "rollouts" / f"{step}.jsonl"
        rows = [
            {"input": prompt, "output": output, "score": round(score, 5), "step": step}
            | ({"group": 0} if place >= alone else {})
            for place, (prompt, output, score) in enumerate(samples)
        ]
    file.parent.mkdir(parents=True, exist_ok=True)
    _lines(file, [json.dumps(row) for row in rows])
