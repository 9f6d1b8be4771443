"""A notebook is known by its name, however much it says of itself before its cells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(("done", "events"), [(40, ["ended"]), (30, [])])
def test_the_bar_above_a_table_tells_the_plan_and_the_end(tmp_path: Path, done: int, events: list[str]) -> None:
    rows = "".join(f"<tr><td>{step}</td><td>0.1</td><td>0.{step}</td></tr>" for step in range(1, done, 4))
    table = f"<table><tr><th>Step</th><th>Training Loss</th><th>reward</th></tr>{rows}</table>"
    page = f"<div><progress value='{done}' max='40'></progress> [{done}/40 45:50, Epoch 2/3]</div>{table}"
    cell = {"cell_type": "code", "outputs": [{"output_type": "display_data", "data": {"text/html": [page]}}]}
    (tmp_path / "train.ipynb").write_text(json.dumps({"cells": [cell]}))
    run = open_run(tmp_path)
    assert run.config.planned_steps == 40
    assert [event.kind for event in run.events] == events
