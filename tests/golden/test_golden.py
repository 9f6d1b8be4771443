"""Exact reports of the bundled runs."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

RECORD = runpy.run_path(str(Path(__file__).parent / "record.py"))


@pytest.mark.parametrize("run", RECORD["RUNS"])
def test_reports_are_as_recorded(run: str) -> None:
    reports = RECORD["reports"](run)
    assert reports.keys() == {file.name for file in (RECORD["GOLDEN"] / run).iterdir()}
    for name, text in reports.items():
        assert text == (RECORD["GOLDEN"] / run / name).read_text(), (
            f"{run}/{name} has changed; record it again: python tests/golden/record.py"
        )
