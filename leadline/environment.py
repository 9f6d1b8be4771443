"""The environment of Leadline: versions, optional packages and what each adds."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform

from .errors import install
from .records import dataclass

CORE = ("numpy", "orjson", "pyyaml", "rich", "click")
EXTRAS = {  # what to import, and what it gives
    "parquet": ("pyarrow", "reads samples and exports in Parquet"),
    "wandb": ("wandb", "reads runs from a W&B server (local files need no extra)"),
    "mlflow": ("mlflow", "reads runs from an MLflow server (local stores need no extra)"),
    "remote": ("fsspec", "reads runs on s3://, gs://, hf://, and other storage"),
    "pandas": ("pandas", "reading.to_pandas()"),
    "polars": ("polars", "reading.to_polars()"),
    "trl": ("transformers", "LeadlineCallback for TRL and Hugging Face trainers"),
    "mcp": ("mcp", "serves tools to coding agents (leadline mcp)"),
    "serve": ("starlette", "serves a dashboard of all runs (leadline serve)"),
    "postgres": ("psycopg", "stores the rows of leadline scan in Postgres"),
    "record": ("psutil", "records GPUs and processes of a run (leadline record)"),
}


@dataclass(frozen=True, slots=True)
class Presence:
    """Something that is there, or how to get it."""

    name: str
    there: bool
    says: str


def versions(leadline: str) -> tuple[Presence, ...]:
    """Return the versions of Leadline, of Python, and of what reading a run needs."""
    python = f"{platform.python_version()} on {platform.platform()}"
    needed = (Presence(name, True, importlib.metadata.version(name)) for name in CORE)
    return Presence("leadline", True, leadline), Presence("python", True, python), *needed


def extras() -> tuple[Presence, ...]:
    """Return the optional packages, with what each adds or how to install it."""
    found = []
    for name, (module, gives) in EXTRAS.items():
        there = importlib.util.find_spec(module) is not None
        found.append(Presence(name, there, gives if there else f"not installed; {gives}: {install(name)}"))
    return tuple(found)
