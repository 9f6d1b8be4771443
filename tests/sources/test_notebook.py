"""A notebook is known by its name, however much it says of itself before its cells."""

from __future__ import annotations

import json
from pathlib import Path

from leadline.sources import open_run


def test_a_notebook_whose_cells_come_late_is_read(tmp_path: Path) -> None:
    rows = "".join(f"{{'loss': 0.1, 'reward': {0.1 * step}, 'step': {step}}}\n" for step in range(1, 9))
    cells = [
        {"cell_type": "code", "outputs": [{"output_type": "stream", "name": "stdout", "text": rows}], "source": ""}
    ]
    file = tmp_path / "training.ipynb"
    file.write_text(json.dumps({"metadata": {"widgets": "x" * 100_000}, "cells": cells, "nbformat": 4}))
    reward = open_run(file).get("reward/mean")
    assert reward is not None
    assert reward.points == 8
