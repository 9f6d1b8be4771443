"""A progress bar on standard error, where a person sees it and no pipe does."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from ..progress import heard_by
from .plain import printable

Piece = TypeVar("Piece")

SHOWN_AFTER = 1.0  # seconds: work that is done sooner needs no bar


class Progress:
    """How many of the expected pieces of work are done; silent where standard error is no terminal."""

    def __init__(self, what: str) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Bar(
            *columns, console=Console(stderr=True, force_jupyter=False), transient=True, disable=not sys.stderr.isatty()
        )
        self._task = self._bar.add_task(what, total=None)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def expect(self, count: int) -> None:
        self._bar.update(self._task, total=count)

    def advance(self) -> None:
        self._bar.advance(self._task)


@contextmanager
def progress_bar() -> Iterator[None]:
    """Shows how far the work inside is and how long it will take, once that has taken more than a second."""
    if not sys.stderr.isatty():
        yield
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Bar(*columns, console=Console(stderr=True, force_jupyter=False), transient=True)
    began, tasks = time.monotonic(), dict[str, TaskID]()

    def told(what: str, done: int, of: int) -> None:
        if what not in tasks:
            for earlier in tasks.values():
                bar.update(earlier, visible=False)
            tasks[what] = bar.add_task(escape(printable(what)), total=of)
        bar.update(tasks[what], completed=done, total=of)
        if time.monotonic() - began > SHOWN_AFTER:
            bar.start()

    try:
        with heard_by(told):
            yield
    finally:
        bar.stop()


def each(work: Iterator[Piece]) -> Iterator[Piece]:
    """The pieces of some work one after the other, with a bar for every piece that takes long."""
    while True:
        with progress_bar():
            piece = next(work, None)
        if piece is None:
            return
        yield piece
