"""A progress bar on standard error, where a person sees it and no pipe does."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from ..progress import heard_by
from .plain import printable

if TYPE_CHECKING:
    from rich.progress import TaskID

Piece = TypeVar("Piece")

SHOWN_AFTER = 1.0  # seconds: work that is done sooner needs no bar


@contextmanager
def progress_bar() -> Iterator[None]:
    """Show how far the work inside is and how long it will take, once that has taken more than a second."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # only if a bar is shown: rich takes long to import
    from rich.markup import escape
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True, force_jupyter=False), transient=True)
    began = time.monotonic()
    tasks: dict[str, TaskID] = {}

    def told(what: str, done: int, of: int) -> None:
        if what not in tasks:
            tasks[what] = bar.add_task(escape(printable(what)), total=of)
        for name, task in tasks.items():
            bar.update(task, visible=name == what)
        bar.update(tasks[what], completed=done, total=of)
        if time.monotonic() - began > SHOWN_AFTER:
            bar.start()

    try:
        with heard_by(told):
            yield
    finally:
        bar.stop()


def each(work: Iterator[Piece]) -> Iterator[Piece]:
    """Yield the pieces of some work one after the other, with a bar for every piece that takes long."""
    while True:
        with progress_bar():
            piece = next(work, None)
        if piece is None:
            return
        yield piece
