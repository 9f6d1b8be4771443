"""Writes one of everything with torch's SummaryWriter: python accumulate_tensorboard.py OUT.

OUT/held.json is what TensorBoard's EventAccumulator reads in it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter
from torch.utils.tensorboard.summary import hparams

out = Path(sys.argv[1])
with SummaryWriter(str(out / "events")) as writer:
    writer.add_text("args", json.dumps({"max_steps": 25}))
    for summary in hparams({"lr": 0.001, "algorithm": "grpo"}, {"reward": 0.0}):
        writer.file_writer.add_summary(summary)
    for step in range(25):
        writer.add_scalar("train/reward", step / 25, step)
        writer.add_scalar("train/new_style", -step / 3, step, new_style=True)
        writer.add_histogram("weights", np.arange(200.0), step)
        writer.add_image("picture", np.zeros((3, 64, 64)), step)
        writer.add_text("sample", "x" * 1000, step)
    writer.add_scalar("odd/Ω tag", 1e-30, 2**31)
seen = EventAccumulator(str(out / "events"), size_guidance={"scalars": 0, "tensors": 0})
seen.Reload()
held = {tag: [[event.step, event.value] for event in seen.Scalars(tag)] for tag in seen.Tags()["scalars"]}
for tag in seen.Tags()["tensors"]:
    events = seen.Tensors(tag)
    if events[0].tensor_proto.dtype == 1:
        held[tag] = [[event.step, float(event.tensor_proto.float_val[0])] for event in events]
(out / "held.json").write_text(json.dumps(held))
