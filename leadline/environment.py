"""The environment of Leadline: versions, optional packages and what each adds, whether a GPU is visible."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import install
from .records import asdict, dataclass

CORE = ("numpy", "orjson", "pyyaml", "rich", "click")
EXTRAS = {  # what to import, and what it gives
    "parquet": ("pyarrow", "reads samples and exports in Parquet"),
    "wandb": ("wandb", "reads runs from a W&B server (local files need no extra)"),
    "mlflow": ("mlflow", "reads runs from an MLflow server (local stores need no extra)"),
    "remote": ("fsspec", "reads runs on s3://, gs://, hf://, and other storage"),
    "plots": ("matplotlib", "draws the picture in alerts"),
    "pandas": ("pandas", "reading.to_pandas()"),
    "polars": ("polars", "reading.to_polars()"),
    "trl": ("transformers", "LeadlineCallback for TRL and Hugging Face trainers"),
    "mcp": ("mcp", "serves tools to coding agents (leadline mcp)"),
    "serve": ("starlette", "serves a dashboard of all runs (leadline serve)"),
    "postgres": ("psycopg", "stores the rows of leadline scan in Postgres"),
    "ray": ("ray", "reads many runs on a Ray cluster (leadline scan --on ray)"),
    "record": ("psutil", "records GPUs and processes of a run (leadline record)"),
}


@dataclass(frozen=True, slots=True)
class Presence:
    """Something that is there, and which, or why not."""

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
        """Return whether all that reading a run needs is there."""
        return all(one.there for one in self.core)


def examine(version: str, *, cache: Path | None = None) -> Environment:
    """Examine this machine for Leadline `version`."""
    extras = []
    for name, (module, gives) in EXTRAS.items():
        there = importlib.util.find_spec(module) is not None
        extras.append(Presence(name, there, gives if there else f"{gives}: {install(name)}"))
    core = []
    for name in CORE:
        try:
            core.append(Presence(name, True, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            core.append(Presence(name, False, f"missing: pip install {name}"))
    return Environment(
        version,
        platform.python_version(),
        platform.platform(),
        tuple(core),
        tuple(extras),
        _gpu(),
        _writable(cache or cache_folder()),
    )


def cache_folder() -> Path:
    """Return where copies of remote logs are kept."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "leadline"


def _gpu() -> Presence:
    """Ask the driver. Reading a run needs no GPU."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return Presence("gpu", False, "no nvidia-smi on PATH (not needed to read logs)")
    query = [tool, "--query-gpu=name", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Presence("gpu", False, f"nvidia-smi failed: {error}")
    names = [line.strip() for line in answer.stdout.splitlines() if line.strip()]
    if answer.returncode != 0 or not names:
        return Presence("gpu", False, "nvidia-smi finds no GPU (not needed to read logs)")
    return Presence("gpu", True, f"{len(names)} x {names[0]}" if len(set(names)) == 1 else ", ".join(names))


def _writable(folder: Path) -> Presence:
    """Try whether copies of remote logs could be kept. Nothing is left behind, not even the folder."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            return Presence("cache", True, str(folder))
    except OSError as error:
        return Presence("cache", False, f"{folder} is not writable: {error.strerror or error}")


def as_data(environment: Environment) -> dict[str, object]:
    """Return the environment as plain data."""
    return {"schema": 1, "sound": environment.sound, **asdict(environment)}
