"""The third set of our own runs (bench/own_zoo_third.py) under a name of its own, `own_third`.

The score knows six names and tells a layout by them, so it is asked for these runs as for a part of zoo2.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import backtest_sets as sets

NAME, LIKE = "own_third", "zoo2_third"
PACKED = Path(__file__).resolve().parent / "own_zoo_third.tar.xz"


class WithThird:
    """The score's way to runs, which knows the third set as well."""

    def __init__(self, runs: Any) -> None:
        self._runs = runs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runs, name)

    def roots(self) -> dict[str, str]:
        if NAME.upper() not in os.environ and PACKED.exists():
            os.environ[NAME.upper()] = str(sets.unpacked(PACKED) / NAME)
        third = {NAME: os.environ[NAME.upper()]} if NAME.upper() in os.environ else {}
        return dict(self._runs.roots()) | third

    def list_runs(self, name: str, root: str) -> list[str]:
        if name != NAME:
            return list(self._runs.list_runs(name, root))
        return [run.replace(LIKE, NAME, 1) for run in self._runs.list_runs(LIKE, root)]

    def load_run(self, name: str, where: dict[str, str]) -> Any:
        if not name.startswith(NAME + "/"):
            return self._runs.load_run(name, where)
        run = self._runs.load_run(name.replace(NAME, LIKE, 1), {LIKE: where[NAME]})
        run.id, run.set = name, NAME
        return run
