"""The answer file: what the last check of each run said, for programs that poll a file, such as a callback."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..report.data import dump
from .records import Look


class AnswerFile:
    """One JSON file, replaced as a whole: a reader sees the old answer or the new one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._runs: dict[str, Mapping[str, object]] = {}

    def say(self, look: Look, best: Mapping[str, object] | None, *, name: str, act: bool, to: str | None) -> None:
        """Take the latest check of a run. `to`: the process of the training that it is meant for, if known: a later one
        must ignore it. Raises OSError."""
        told = {key: getattr(look, key) for key in ("step", "verdict", "outcome", "p_continue_pays", "says", "at")}
        kept = None if best is None else {"step": best["step"], "path": best["path"]}
        self._runs[look.run] = {"run": name, **told, "best_checkpoint": kept, "act": act, "to": to}
        content = self._runs[look.run] if len(self._runs) == 1 else {"runs": list(self._runs.values())}
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            beside.write_text(dump(content))
            beside.replace(self._path)
        finally:
            beside.unlink(missing_ok=True)
