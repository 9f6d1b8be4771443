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


def test_other_tables_of_a_notebook_are_named(tmp_path: Path) -> None:
    def table(steps: range) -> dict[str, object]:
        cells = "".join(f"<tr><td>{step}</td><td>{step / 10}</td></tr>" for step in steps)
        shown = f"<table><tr><th>Step</th><th>reward</th></tr>{cells}</table>"
        return {"cell_type": "code", "outputs": [{"output_type": "display_data", "data": {"text/html": shown}}]}

    file = tmp_path / "sweep.ipynb"
    file.write_text(json.dumps({"cells": [table(range(1, 9)), table(range(1, 21)), table(range(1, 7))], "nbformat": 4}))
    run = open_run(file)
    assert run.last_step == 20
    assert any(note.startswith("2 other tables") for note in run.notes)
