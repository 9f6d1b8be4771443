"""Logs a run and dumps samples with verl's own writers: python log_verl.py OUT.

verl trains on GPUs only, so its `Tracking` is given rows made here. OUT/metrics/leadline/tiny.jsonl is its file logger,
OUT/tensorboard its TensorBoard adapter, what it prints its console logger; OUT/rollouts are the dumps of its trainer.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
from track import CONFIG, verl_rows
from verl.trainer.ppo.ray_trainer import RayPPOTrainer
from verl.utils.tracking import Tracking


def main(out: Path) -> None:
    os.environ |= {
        "VERL_FILE_LOGGER_ROOT": str(out / "metrics"),
        "TENSORBOARD_DIR": str(out / "tensorboard"),
    }
    rows = verl_rows()
    tracking = Tracking("leadline", "tiny", default_backend=["console", "file", "tensorboard"], config=CONFIG)
    for step, row in rows:
        row = row | {"perf/throughput": np.float64(step / 3)}  # many of verl's metrics are numpy scalars
        tracking.log(data=row, step=step)
    tracking.finish()
    for step in (1, 100, 200, 300):
        RayPPOTrainer._write_generations(
            [f"prompt {number // 4}" for number in range(16)],
            [f"answer {number} of step {step}\nwith a second line" for number in range(16)],
            [f"truth {number // 4}" for number in range(16)],
            [step / 300 + number / 100 for number in range(16)],
            {"acc": [float(number % 2) for number in range(16)]},
            str(out / "rollouts"),
            step,
        )
    (out / "held.json").write_text(
        json.dumps([row | {"perf/throughput": step / 3, "step": step} for step, row in rows])
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
