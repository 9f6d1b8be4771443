"""Runs that are not on this machine: which door an address goes through.

Servers are asked through their own clients; other storage is copied first and then read like any folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from . import mlflow_online, wandb_online
from .remote import Copy, address_of, fetch
from .source import Reader


def reach(place: Path | str) -> Copy | tuple[Reader, ...]:
    """Readers of the runs on a tracker's server, or a local copy of a remote place. Raises LeadlineError only."""
    address = address_of(place)
    if address.startswith(wandb_online.SCHEME):
        return wandb_online.open(address)
    if address.startswith(mlflow_online.SCHEMES):
        return mlflow_online.open(address)
    return fetch(address, _cache())


def servers_runs(place: str) -> Iterator[tuple[str, str]] | None:
    """The addresses of all runs at an address of a tracker's server, each with what tells that it changed ("" where
    only reading it tells); None for other storage. Raises LeadlineError only."""
    address = address_of(place)
    if address.startswith(wandb_online.SCHEME):
        return wandb_online.listed(address)
    return mlflow_online.listed(address) if address.startswith(mlflow_online.SCHEMES) else None


def _cache() -> Path:
    """Where copies are kept from one look to the next."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "leadline" / "remote"
