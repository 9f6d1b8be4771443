"""A logger for OpenRLHF, beside its own: what goes to W&B or TensorBoard goes to a journal too.

Its trainer lives in a Ray actor, so `register` has to run there: Ray does that for every worker with the runtime
environment `{"worker_process_setup_hook": "leadline.inside.openrlhf.register"}`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .attached import Attached, attach
from .quiet import quiet

FOLDER = "LEADLINE_FOLDER"
LOGGERS = ("WandbLogger", "TensorboardLogger")


class OpenRLHFLogger:
    """What OpenRLHF's trainer calls of its loggers."""

    def __init__(self, args: Any) -> None:
        settings = _nested(args)
        name = _inside(settings, "logger.wandb.run_name") or settings.get("wandb_run_name") or "openrlhf"
        saved = _inside(settings, "ckpt.path") or settings.get("ckpt_path")
        self.run: Attached = attach(str(name), os.environ.get(FOLDER) or "leadline", config=settings)
        if saved is not None and Path(str(saved)).exists():
            self.run.link("checkpoints", str(saved))

    def log_train(self, global_step: int, logs_dict: Mapping[str, Any]) -> None:
        """As its trackers name them. `generated_samples` is one sample: its text and its reward."""
        self.run.log(global_step, {f"train/{key}": value for key, value in logs_dict.items()})
        if sample := logs_dict.get("generated_samples"):
            text, reward = sample
            self.run.log_rollouts(global_step, [{"output": str(text), "score": float(reward)}])

    def log_eval(self, global_step: int, logs_dict: Mapping[str, Any]) -> None:
        self.run.log(global_step, {f"eval/{key}": value for key, value in logs_dict.items()})

    def close(self) -> None:
        self.run.close()


@quiet
def register() -> None:
    """Have OpenRLHF's own loggers tell us too. Doing so twice does no harm; of two loggers one tells us."""
    module = importlib.import_module("openrlhf.utils.logging_utils")
    for name in LOGGERS:
        _listen_to(getattr(module, name))


_told: dict[int, OpenRLHFLogger] = {}  # the journal of this process, by which of its loggers tells it


def _listen_to(theirs: Any) -> None:
    if getattr(theirs, "tells_leadline", False):
        return
    begin, train, evaluate, close = theirs.__init__, theirs.log_train, theirs.log_eval, theirs.close

    def begun(self: Any, args: Any) -> None:
        begin(self, args)
        _begin(self, args)

    def trained(self: Any, global_step: int, logs_dict: Mapping[str, Any]) -> None:
        train(self, global_step, logs_dict)
        _tell(self, "log_train", global_step, logs_dict)

    def evaluated(self: Any, global_step: int, logs_dict: Mapping[str, Any]) -> None:
        evaluate(self, global_step, logs_dict)
        _tell(self, "log_eval", global_step, logs_dict)

    def closed(self: Any) -> None:
        _tell(self, "close")
        close(self)

    theirs.__init__, theirs.log_train, theirs.log_eval, theirs.close = begun, trained, evaluated, closed
    theirs.tells_leadline = True


@quiet
def _begin(teller: object, args: Any) -> None:
    if not _told:
        _told[id(teller)] = OpenRLHFLogger(args)


@quiet
def _tell(teller: object, what: str, *words: Any) -> None:
    if (ours := _told.get(id(teller))) is not None:
        getattr(ours, what)(*words)


def _nested(args: Any) -> dict[str, Any]:
    """Settings as mappings: OpenRLHF nests namespaces."""
    return {
        key: _nested(value) if hasattr(value, "__dict__") and not callable(value) else value
        for key, value in vars(args).items()
    }


def _inside(settings: Mapping[str, Any], path: str) -> Any:
    found: Any = settings
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
