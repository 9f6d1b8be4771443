"""Exact reports of the bundled runs."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

RECORD = runpy.run_path(str(Path(__file__).parent / "record.py"))


@pytest.mark.parametrize("run", RECORD["RUNS"])
def test_terminal_report_is_as_recorded(run: str) -> None:
    recorded = (RECORD["GOLDEN"] / run / "terminal.txt").read_text()
    assert RECORD["printed"]("read", f"leadline/examples/{run}") == recorded, (
        "record it again: python tests/golden/record.py"
    )
