"""A logger for OpenRLHF, beside its own: what goes to W&B or TensorBoard goes to a journal too.

Its trainer lives in a Ray actor, so `register` has to run there: Ray does that for every worker with the runtime
environment `{"worker_process_setup_hook": "leadline.inside.openrlhf.register"}`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .attached import attach
from .quiet import quiet

FOLDER = "LEADLINE_FOLDER"
LOGGERS = ("WandbLogger", "TensorboardLogger")


class OpenRLHFLogger:
    """The calls that OpenRLHF's trainer makes to its loggers."""

    def __init__(self, args: Any) -> None:
        settings = _nested(args)
        name = _inside(settings, "logger.wandb.run_name") or settings.get("wandb_run_name") or "openrlhf"
        saved = _inside(settings, "ckpt.path") or settings.get("ckpt_path")
        self.run = attach(str(name), os.environ.get(FOLDER) or "leadline", config=settings)
        if saved is not None and Path(str(saved)).exists():
            self.run.link("checkpoints", str(saved))

    def log_train(self, global_step: int, logs_dict: Mapping[str, Any]) -> None:
        """Log a row under the names its trackers use. `generated_samples` is one sample: its text and its reward."""
        self.run.log(global_step, {f"train/{key}": value for key, value in logs_dict.items()})
        if sample := logs_dict.get("generated_samples"):
            text, reward = sample
            self.run.log_rollouts(global_step, [{"output": str(text), "score": float(reward)}])

    def log_eval(self, global_step: int, logs_dict: Mapping[str, Any]) -> None:
        self.run.log(global_step, {f"eval/{key}": value for key, value in logs_dict.items()})

    def close(self) -> None:
        self.run.close()


_told: dict[int, OpenRLHFLogger] = {}  # the journal of this process, by which of its loggers writes it


@quiet
def register() -> None:
    """Have OpenRLHF's own loggers write a journal too; twice does no harm, and of two loggers one writes."""
    module = importlib.import_module("openrlhf.utils.logging_utils")
    for theirs in (getattr(module, name) for name in LOGGERS):
        if not getattr(theirs, "tells_leadline", False):
            theirs.__init__ = _followed_by(theirs.__init__, _begin)
            for name in ("log_train", "log_eval", "close"):
                setattr(theirs, name, _followed_by(getattr(theirs, name), _telling(name)))
            theirs.tells_leadline = True


def _followed_by(theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., None]:
    """Return a method of theirs that calls ours after its own work."""

    def both(self: Any, *args: Any, **kwargs: Any) -> None:
        theirs(self, *args, **kwargs)
        ours(self, *args, **kwargs)

    return both


@quiet
def _begin(teller: object, args: Any) -> None:
    if not _told:
        _told[id(teller)] = OpenRLHFLogger(args)


def _telling(name: str) -> Callable[..., Any]:
    @quiet
    def tell(teller: object, *args: Any, **kwargs: Any) -> None:
        if (ours := _told.get(id(teller))) is not None:
            getattr(ours, name)(*args, **kwargs)

    return tell


def _nested(args: Any) -> dict[str, Any]:
    """Return settings as mappings: OpenRLHF nests namespaces."""
    return {
        key: _nested(value) if hasattr(value, "__dict__") and not callable(value) else value
        for key, value in vars(args).items()
    }


def _inside(settings: Mapping[str, Any], path: str) -> Any:
    found: Any = settings
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
