"""Two projects of two runs each, written by a real tracker: python projects.py OUT wandb|mlflow|trackio [ADDRESS].

`mlflow` writes to the server at ADDRESS, else to OUT/mlruns or, as `mlflow-sqlite`, to OUT/mlflow.db.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path


def rows(project: int, seed: int, steps: int = 40) -> Iterator[tuple[int, dict[str, float]]]:
    for step in range(1, steps + 1):
        reward = (1 - math.exp(-step / 15)) * (1 + seed) + 0.05 * math.sin(7.3 * step + seed + 9 * project)
        yield step, {"train/reward": reward, "train/kl": 0.01 * step, "train/loss": 0.1 / (1 + seed + project)}


def main(out: Path, tracker: str, address: str = "") -> None:
    for number, project in enumerate(("math", "code")):
        for seed in range(2):
            write(out, tracker, address, project, f"grpo-seed{seed}", list(rows(number, seed)))


def write(
    out: Path, tracker: str, address: str, project: str, name: str, held: list[tuple[int, dict[str, float]]]
) -> None:
    if tracker == "wandb":
        os.environ |= {"WANDB_MODE": "offline", "WANDB_DIR": str(out), "WANDB_SILENT": "true"}
        import wandb

        run = wandb.init(project=project, name=name)
        for step, row in held:
            run.log(row, step=step)
        run.finish()
    elif tracker == "trackio":
        os.environ |= {"TRACKIO_DIR": str(out), "HF_HUB_OFFLINE": "1"}
        import trackio

        trackio.init(project=project, name=name)
        for step, row in held:
            trackio.log(row, step=step)
        trackio.finish()
    else:
        os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
        import mlflow

        store = (out / "mlruns").as_uri() if tracker == "mlflow" else f"sqlite:///{out / 'mlflow.db'}"
        mlflow.set_tracking_uri(address or store)
        mlflow.set_experiment(project)
        with mlflow.start_run(run_name=name):
            for step, row in held:
                mlflow.log_metrics(row, step=step)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), *sys.argv[2:])
