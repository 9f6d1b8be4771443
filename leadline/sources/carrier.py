"""A log and where it was found."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from .checkpoints import looks_saved
from .source import Log
from .walk import Walk

TRACKERS = {"wandb", "swanlog", "files", "logs", "tensorboard", "tb", "tensorboard_log", "mlruns"}
PARTS = {"eval", "evals", "evaluation", "val", "validation", "train", "training", "metrics"}
SETTINGS = re.compile(r"(?:config|args|training_args|hparams|hyperparameters)\.(?:json|ya?ml)")


@dataclass(frozen=True, slots=True, eq=False)
class Carrier:
    """One log and where it was found."""

    source: str
    path: Path
    log: Log
    modified: float
    own: Collection[Path] = field(default=frozenset(), repr=False)  # folders with settings or states of their own

    @property
    def home(self) -> Path:
        """The folder that is the run's own: above saved states, a tracker's folders and parts of a run, and not above
        one that has its own settings or states."""
        folder = self.path if self.path.is_dir() else self.path.parent
        while _is_inside_a_run(folder) and not (folder in self.own and folder.name != "files"):
            folder = folder.parent
        return folder

    @property
    def in_a_state(self) -> bool:
        return looks_saved(self.path.parent.name)

    @property
    def short(self) -> str:
        """`seed1/metrics.jsonl`"""
        called = f"{self.path.parent.name}/{self.path.name}"
        return called if self.log.label is None or self.path.is_dir() else f"{called}#{self.log.label}"


def _is_inside_a_run(folder: Path) -> bool:
    return looks_saved(folder.name) or folder.name in TRACKERS | PARTS or folder.parent.name in TRACKERS


def own_folders(seen: Walk) -> frozenset[Path]:
    """Folders that hold settings, saved states or a trainer's state: each is a run's own."""
    marked = {file.parent for file in seen.files if SETTINGS.fullmatch(file.name)}
    marked |= {file.parent for file in seen.files if file.name == "trainer_state.json"}
    marked |= {place.parent for place in seen.saved}
    return frozenset(folder.absolute() for folder in marked if not looks_saved(folder.name))
