"""Progress of long work, from the code that works to the code that shows it; processes that end with their parent."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Listener: TypeAlias = Callable[[str, int, int], None]  # what is done, how much of it, of how much

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(what: str, done: int, of: int) -> None:
    """Report progress. Costs next to nothing if no listener is set."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, of)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Send progress reported inside to `listener`.

    >>> heard = []
    >>> with heard_by(lambda *told: heard.append(told)):
    ...     tell("reading", 1, 2)
    >>> tell("reading", 2, 2)
    >>> heard
    [('reading', 1, 2)]
    """
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def end_with_parent(parent: int | None = None, *, every: float = 1.0) -> None:
    """End this process when the one that started it has ended, even by SIGKILL. `parent`: its pid, for a process that
    may have lost it before this call."""
    started_by = os.getppid() if parent is None else parent

    def wait() -> None:
        while os.getppid() == started_by:
            time.sleep(every)
        os._exit(1)

    threading.Thread(target=wait, name="leadline-parent", daemon=True).start()
