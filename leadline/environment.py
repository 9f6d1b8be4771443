"""Where Leadline runs: versions, optional packages and what each of them adds, whether a GPU can be seen."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

CORE = ("numpy", "orjson", "pyyaml", "rich", "click")
OLDEST_PYTHON = (3, 10)


@dataclass(frozen=True, slots=True)
class Extra:
    """An optional package: its extra, what to import, what it adds."""

    name: str
    module: str
    gives: str


EXTRAS = (
    Extra("parquet", "pyarrow", "reads samples and exports kept as Parquet"),
    Extra("wandb", "wandb", "reads runs from a W&B server (its local files need nothing)"),
    Extra("mlflow", "mlflow", "reads runs from an MLflow server (its local stores need nothing)"),
    Extra("remote", "fsspec", "reads runs on s3://, gs://, hf:// and other storage"),
    Extra("plots", "matplotlib", "draws PNG files beside the SVG of --plots, and in alerts"),
    Extra("pandas", "pandas", "gives readings as pandas frames"),
    Extra("polars", "polars", "gives readings as polars frames"),
    Extra("trl", "transformers", "tells Leadline from inside a TRL or Hugging Face trainer (LeadlineCallback)"),
    Extra("mcp", "mcp", "serves readings to agents (leadline mcp)"),
    Extra("serve", "starlette", "shows all runs on one page (leadline serve)"),
    Extra("postgres", "psycopg", "keeps the rows of leadline scan in Postgres"),
    Extra("ray", "ray", "reads many runs on a Ray cluster (leadline scan --on ray)"),
    Extra("record", "psutil", "records GPUs and processes while a run goes on (leadline record)"),
)


@dataclass(frozen=True, slots=True)
class Presence:
    """Whether something is there, and which or why not."""

    name: str
    there: bool
    says: str


@dataclass(frozen=True, slots=True)
class Environment:
    leadline: str
    python: str
    platform: str
    core: tuple[Presence, ...]
    extras: tuple[Presence, ...]
    gpu: Presence
    cache: Presence

    @property
    def sound(self) -> bool:
        """Whether everything is there that reading a run needs."""
        return sys.version_info >= OLDEST_PYTHON and all(one.there for one in self.core)


def examine(version: str, *, cache: Path | None = None) -> Environment:
    """The environment of Leadline `version` as it is now. Looks only at this machine."""
    return Environment(
        version,
        platform.python_version(),
        platform.platform(),
        tuple(_installed(name) for name in CORE),
        tuple(_extra(extra) for extra in EXTRAS),
        _gpu(),
        _writable(cache or cache_folder()),
    )


def cache_folder() -> Path:
    """Where copies of remote logs are kept."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "leadline"


def _installed(name: str) -> Presence:
    try:
        return Presence(name, True, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Presence(name, False, f"missing: pip install {name}")


def _extra(extra: Extra) -> Presence:
    if importlib.util.find_spec(extra.module) is not None:
        return Presence(extra.name, True, extra.gives)
    return Presence(extra.name, False, f"{extra.gives}: pip install 'leadline[{extra.name}]'")


def _gpu() -> Presence:
    """Whether the driver answers. Reading a run needs no GPU; watching one live does."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return Presence("gpu", False, "no nvidia-smi on the path; logs are read without one")
    query = [tool, "--query-gpu=name", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Presence("gpu", False, f"nvidia-smi does not answer: {error}")
    names = [line.strip() for line in answer.stdout.splitlines() if line.strip()]
    if answer.returncode != 0 or not names:
        return Presence("gpu", False, "nvidia-smi finds no GPU; logs are read without one")
    return Presence("gpu", True, f"{len(names)} x {names[0]}" if len(set(names)) == 1 else ", ".join(names))


def _writable(folder: Path) -> Presence:
    """Whether copies of remote logs could be kept. Nothing is left behind, not even the folder."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            return Presence("cache", True, str(folder))
    except OSError as error:
        return Presence("cache", False, f"{folder} cannot be written to: {error.strerror or error}")


def as_data(environment: Environment) -> dict[str, object]:
    """The environment as plain data."""

    def found(one: Presence) -> dict[str, object]:
        return {"name": one.name, "there": one.there, "says": one.says}

    return {
        "schema": 1,
        "sound": environment.sound,
        "leadline": environment.leadline,
        "python": environment.python,
        "platform": environment.platform,
        "core": [found(one) for one in environment.core],
        "extras": [found(one) for one in environment.extras],
        "gpu": found(environment.gpu),
        "cache": found(environment.cache),
    }
