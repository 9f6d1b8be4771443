"""The user's options for the page."""

from __future__ import annotations

from ..records import dataclass


@dataclass(frozen=True, slots=True)
class ServeOptions:
    roots: tuple[str, ...]
    store: str | None
    host: str
    port: int
    names: tuple[str, ...]
    every: float
    workers: int | None
    allow_act: bool
