"""A tracking backend for verl: `trainer.logger='["console","leadline"]'`.

verl imports the modules that VERL_USE_EXTERNAL_MODULES names, in every process of a training; importing this one adds
the backend. Rows go to a journal below LEADLINE_FOLDER (default: ./leadline), by project and experiment.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .attached import attach
from .quiet import quiet

BACKEND = "leadline"
FOLDER = "LEADLINE_FOLDER"


class VerlLogger:
    """The calls that verl's `Tracking` makes."""

    def __init__(self, project: str, experiment: str, config: Mapping[str, Any] | None) -> None:
        trainer = dict((config or {}).get("trainer") or {})
        saved, samples = trainer.get("default_local_dir"), trainer.get("rollout_data_dir")
        resumes = trainer.get("resume_mode", "auto") != "disable"
        self.run = attach(
            experiment,
            Path(os.environ.get(FOLDER) or "leadline") / project,
            planned_steps=trainer.get("total_training_steps"),
            config=config,
            resume=resumes and saved is not None and (Path(saved) / "latest_checkpointed_iteration.txt").exists(),
        )
        for name, place in (("checkpoints", saved), ("rollouts", samples)):
            if place is not None:
                self.run.link(name, place)

    def log(self, data: Mapping[str, object], step: int, **_: object) -> None:
        self.run.log(step, data)

    def finish(self, **_: object) -> None:
        self.run.close()


@quiet
def register() -> None:
    """Teach verl's `Tracking` the backend "leadline"; twice does no harm."""
    tracking: Any = importlib.import_module("verl.utils.tracking").Tracking
    if BACKEND in tracking.supported_backend:
        return
    begin, finish = tracking.__init__, tracking.finish

    def begin_with_ours(
        self: Any, project_name: str, experiment_name: str, default_backend: Any = "console", config: Any = None
    ) -> None:
        asked = [default_backend] if isinstance(default_backend, str) else list(default_backend)
        begin(self, project_name, experiment_name, [one for one in asked if one != BACKEND], config)
        if BACKEND in asked:
            _add(self.logger, project_name, experiment_name, config)

    def finish_with_ours(self: Any, *args: Any, **kwargs: Any) -> None:
        _finish(getattr(self, "logger", {}))
        finish(self, *args, **kwargs)

    tracking.supported_backend = [*tracking.supported_backend, BACKEND]
    tracking.__init__, tracking.finish = begin_with_ours, finish_with_ours


@quiet
def _add(loggers: dict[str, object], project: str, experiment: str, config: Any) -> None:
    loggers[BACKEND] = VerlLogger(project, experiment, config)


@quiet
def _finish(loggers: Mapping[str, object]) -> None:
    ours = loggers.get(BACKEND)
    if isinstance(ours, VerlLogger):
        ours.finish()


if "verl" in sys.modules:  # verl is importing us
    register()
