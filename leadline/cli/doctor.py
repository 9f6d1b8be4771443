"""`leadline doctor`: check the installation."""

from __future__ import annotations

import importlib.util

import click

from .. import __version__
from ..errors import install
from ..records import asdict, dataclass
from .options import NO_COLOR, command, option
from .screen import color, width

CORE = ("numpy", "orjson", "pyyaml", "rich", "click")
EXTRAS = {  # what to import, and what it gives
    "parquet": ("pyarrow", "reads samples in Parquet"),
    "wandb": ("wandb", "reads runs from a W&B server (local files need no extra)"),
    "mlflow": ("mlflow", "reads runs from an MLflow server (local stores need no extra)"),
    "remote": ("fsspec", "reads runs on s3://, gs://, hf://, and other storage"),
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
    """Something that is there, or how to get it."""

    name: str
    there: bool
    says: str


@command("doctor")
def verb(
    live: bool = option("--live", help="List running watchers; exit 1 if one died."),
    as_json: bool = option("--json", help="Print it as JSON."),
    no_color: bool = NO_COLOR,
) -> int:
    """Check the installation, optional extras, and running watchers.

    Example: leadline doctor --live
    """
    if live:
        return _live(as_json, no_color)
    from ..report.data import dump
    from ..report.lines import field, page

    found = {"versions": versions(), "extras": extras()}
    if as_json:
        click.echo(dump({about: [asdict(one) for one in some] for about, some in found.items()}), nl=False)
        return 0
    lines = [field(one.name, one.says, "yellow" * (not one.there)) for some in found.values() for one in some]
    click.echo(page(lines, color=color(no_color), width=width()), nl=False)
    return 0


def _live(as_json: bool, no_color: bool) -> int:
    import time

    from ..live import heartbeat
    from ..report.data import dump
    from ..report.lines import page

    now = time.time()
    found = heartbeat.listed()
    if as_json:
        for watch in found:
            click.echo(dump(heartbeat.as_data(watch, now), lines=True), nl=False)
    else:
        click.echo(page(heartbeat.watches_lines(found, now), color=color(no_color), width=width()), nl=False)
    return 0 if all(watch.alive(now) for watch in found) else 1


def versions() -> tuple[Presence, ...]:
    """Return the versions of Leadline, of Python, and of what reading a run needs."""
    import importlib.metadata  # takes longer to import than --help should
    import platform

    python = f"{platform.python_version()} on {platform.platform()}"
    needed = (Presence(name, True, importlib.metadata.version(name)) for name in CORE)
    return Presence("leadline", True, __version__), Presence("python", True, python), *needed


def extras() -> tuple[Presence, ...]:
    """Return the optional packages, with what each adds or how to install it."""
    found = []
    for name, (module, gives) in EXTRAS.items():
        there = importlib.util.find_spec(module) is not None
        found.append(Presence(name, there, gives if there else f"not installed; {gives}: {install(name)}"))
    return tuple(found)
