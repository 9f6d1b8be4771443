"""Names of a run: project, variant and seed, from its path and nothing else."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import NamedTuple

from ..sources.source import Log

SEED = re.compile(r"(?:^|[-_./ ])(?:seed|s)[-_=]?(\d{1,10})(?=$|[-_./ #])|[-_](\d{1,4})$", re.IGNORECASE)
# Folders that name no project.
TRACKERS = {"wandb", "mlruns", "runs", "logs", "log", "tensorboard", "tb", "trackio", "swanlog", "outputs"}


class Called(NamedTuple):
    """The names of a run."""

    name: str
    project: str
    variant: str
    seed: str | None


def called(identity: str, root: str, log: Log | None = None) -> Called:
    """Return the names of a run: by its path, or, if that holds only the id of its tracker, as its tracker has it.

    >>> called("/runs/math/grpo-seed2", "/runs")
    Called(name='math/grpo-seed2', project='math', variant='math/grpo', seed='2')
    >>> called("/runs/ppo_7", "/runs"), called("/runs", "/runs").name
    (Called(name='ppo_7', project='runs', variant='ppo', seed='7'), 'runs')
    >>> called("/runs/mlflow.db#abc", "/runs").project
    'mlflow.db'
    >>> from ..sources.table import Table
    >>> called("/runs/mlflow.db#abc", "/runs", Log(Table(), label="grpo-seed2", run_id="abc", project="math"))
    Called(name='math/grpo-seed2', project='math', variant='math/grpo', seed='2')
    """
    if log is not None and log.run_id and log.label and log.run_id in PurePosixPath(identity).name:
        project = log.project or called(identity, root).project
        return _parted(f"{project}/{log.label}", project)
    base = root.rstrip("/")
    inside = identity.startswith((f"{base}/", f"{base}#"))
    name = identity[len(base) + 1 :] if inside else PurePosixPath(identity).name
    name = name or identity
    path, _, label = name.partition("#")
    folders = PurePosixPath(path).parts if label else PurePosixPath(path).parts[:-1]
    named = [folder for folder in folders if folder.lower() not in TRACKERS]
    project = "/".join(named) or PurePosixPath(base).name or base
    return _parted(name, project)


def _parted(name: str, project: str) -> Called:
    """Return a name without its seed, and the seed."""
    found = list(SEED.finditer(name))
    if not found:
        return Called(name, project, name, None)
    last = found[-1]
    variant = (name[: last.start()] + name[last.end() :]).strip("-_ ") or name
    return Called(name, project, variant, last[1] or last[2])
