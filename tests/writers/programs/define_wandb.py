"""Logs as trainers do that count their own steps: python define_wandb.py OUT. Offline."""

from __future__ import annotations

import os
import sys

os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true")
import wandb

out = sys.argv[1]
with wandb.init(project="axes", name="axes", dir=out, config={"beta": 0.1}) as run:
    for part in ("rollout", "train"):
        run.define_metric(f"{part}/step")
        run.define_metric(f"{part}/*", step_metric=f"{part}/step")
    for rollout in range(20):
        run.log({"rollout/step": rollout, "rollout/raw_reward": rollout / 20, "long": "x" * 20_000})
        for update in range(4):
            run.log(
                {"train/step": 4 * rollout + update, "train/pg_loss": update / 7, "unseen": wandb.Histogram([1, 2])}
            )
    run.config.update({"ended": True})
    print("the last line")
