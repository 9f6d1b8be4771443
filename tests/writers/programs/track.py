"""Logs one and the same run with a real tracker: python track.py OUT TRACKER.

The rows are those of a verl run (of CleanRL's PPO for `cleanrl`), with what trackers find hard: a step without a value,
NaN, infinity, an integer, a step logged in two calls. OUT/run is the tracker's, OUT/held.json what it was given.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

Rows = list[tuple[int, dict[str, float]]]
CONFIG = {  # a few lines of verl's own
    "algorithm": {"adv_estimator": "grpo"},
    "actor_rollout_ref": {"actor": {"use_kl_loss": True, "kl_loss_coef": 0.001}, "rollout": {"n": 8}},
    "trainer": {"total_training_steps": 300},
}


def verl_rows(steps: int = 300) -> Rows:
    noise = np.random.default_rng(5).normal(size=(steps, 4))
    rows: Rows = []
    for step, (a, b, c, d) in enumerate(noise.tolist(), start=1):
        row = {
            "critic/score/mean": step / 400 + 0.05 * a,
            "actor/kl_loss": 0.001 * step + 0.0001 * abs(b),
            "actor/pg_loss": 0.01 * c,
            "actor/grad_norm": math.nan if step == 17 else math.inf if step == 18 else abs(d),
            "actor/entropy": 1.0 - step / 600,
            "response_length/mean": 200 + step,
            "timing_s/step": 30.5 + d,
        }
        if step % 50 == 0:
            row["val-core/math/acc/mean@1"] = step / 500
        if step == 40:
            del row["actor/entropy"]
        rows.append((step, row))
    return rows


def cleanrl_rows(updates: int = 60) -> Rows:
    """As cleanrl/ppo.py: episodes as they end, losses once an update, all on the clock of environment steps."""
    noise = np.random.default_rng(6).normal(size=(updates, 4))
    rows: Rows = []
    for update, (a, b, c, d) in enumerate(noise.tolist(), start=1):
        step = update * 512
        for ended in range(3):
            episode = {"charts/episodic_return": 20 + update + a + ended, "charts/episodic_length": 20 + update + ended}
            rows.append((step - 400 + 100 * ended, episode))
        losses = {
            "charts/learning_rate": 2.5e-4 * (1 - update / updates),
            "losses/value_loss": 10 + b,
            "losses/policy_loss": 0.01 * c,
            "losses/entropy": 0.69 - update / 200,
            "losses/old_approx_kl": 0.001 * d,
            "losses/approx_kl": 0.002 * abs(d),
            "losses/clipfrac": 0.1 * abs(a),
            "losses/explained_variance": 1 - 1 / update,
            "charts/SPS": 900 + update,
        }
        rows.append((step, losses))
    return rows


def torch_writer(out: Path, rows: Rows) -> None:
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(out / "log")) as writer:
        _scalars(writer, rows)


def tensorboardx(out: Path, rows: Rows) -> None:
    from tensorboardX import SummaryWriter

    with SummaryWriter(str(out / "log")) as writer:
        _scalars(writer, rows)


def cleanrl(out: Path, rows: Rows) -> None:
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(out / "runs" / "CartPole-v1__ppo__1__1763200000")) as writer:
        table = "|param|value|\n|-|-|\n|total_timesteps|30720|\n|learning_rate|0.00025|\n|update_epochs|4|"
        writer.add_text("hyperparameters", table)
        _scalars(writer, rows)


def _scalars(writer: object, rows: Rows) -> None:
    for step, row in rows:
        for key, value in row.items():
            writer.add_scalar(key, value, step)  # type: ignore[attr-defined]


def wandb(out: Path, rows: Rows) -> None:
    os.environ |= {"WANDB_MODE": "offline", "WANDB_DIR": str(out), "WANDB_SILENT": "true"}
    import wandb as tracker

    run = tracker.init(
        project="leadline",
        name="tiny",
        config=CONFIG,
        settings=tracker.Settings(x_stats_sampling_interval=0.2),
    )
    for step, row in rows:
        first, second = _halves(row)
        run.log(first, step=step)
        run.log(second, step=step)  # as trainers do: metrics, then timings of the same step
    run.finish()


def mlflow_file(out: Path, rows: Rows) -> None:
    _mlflow((out.resolve() / "mlruns").as_uri(), rows)


def mlflow_sqlite(out: Path, rows: Rows) -> None:
    _mlflow(f"sqlite:///{out.resolve() / 'mlflow.db'}", rows)


def _mlflow(where: str, rows: Rows) -> None:
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    import mlflow

    mlflow.set_tracking_uri(where)
    mlflow.set_experiment("leadline")
    with mlflow.start_run(run_name="tiny"):
        mlflow.log_params(dict(flat(CONFIG)))
        for step, row in rows:
            mlflow.log_metrics({key.replace("@", "_at_"): value for key, value in row.items()}, step=step)


def flat(settings: Mapping[str, object], before: str = "") -> list[tuple[str, object]]:
    """As verl hands its settings to MLflow."""
    found: list[tuple[str, object]] = []
    for key, value in settings.items():
        found += flat(value, f"{before}{key}/") if isinstance(value, dict) else [(f"{before}{key}", value)]
    return found


def trackio(out: Path, rows: Rows) -> None:
    os.environ["TRACKIO_DIR"] = str(out / "trackio")
    import trackio as tracker

    tracker.init(project="leadline", name="tiny", config=CONFIG, auto_log_gpu=False)
    for step, row in rows:
        tracker.log(row, step=step)
    tracker.finish()


def swanlab(out: Path, rows: Rows) -> None:
    import swanlab as tracker

    tracker.init(project="leadline", name="tiny", mode="offline", log_dir=str(out / "swanlog"), config=CONFIG)
    for step, row in rows:
        tracker.log(row, step=step)
    tracker.finish()


def _halves(row: Mapping[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    timings = {key: value for key, value in row.items() if key.startswith("timing")}
    return {key: value for key, value in row.items() if key not in timings}, timings


TRACKERS: dict[str, Callable[[Path, Rows], None]] = {
    one.__name__: one
    for one in (torch_writer, tensorboardx, cleanrl, wandb, mlflow_file, mlflow_sqlite, trackio, swanlab)
}


def main(out: Path, name: str) -> None:
    written = out / "run"
    written.mkdir(parents=True)
    rows = cleanrl_rows() if name == "cleanrl" else verl_rows()
    TRACKERS[name](written, rows)
    (out / "held.json").write_text(json.dumps([row | {"step": step} for step, row in rows]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
