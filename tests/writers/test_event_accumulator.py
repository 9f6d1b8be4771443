"""TensorBoard's own reader and ours agree on a file that holds everything TensorBoard's writers write."""

from __future__ import annotations

import json
from pathlib import Path

from writers.launch import run_program

from leadline.sources import tensorboard


def test_both_readers_find_the_same_scalars(tmp_path: Path) -> None:
    run_program("accumulate_tensorboard", tmp_path)
    held = json.loads((tmp_path / "held.json").read_text())
    reader = tensorboard.open(tmp_path / "events")[0]
    reader.update()
    log = reader.log
    read = {
        key: [list(point) for point in zip(column.steps.tolist(), column.values.tolist(), strict=True)]
        for key, column in log.table.columns().items()
    }
    assert read == held
    assert not log.notes
    assert log.settings["max_steps"] == 25
