"""How far long work has come: told by whoever works, heard by whoever shows it. Nobody listens unless asked to. And
whoever works for another process ends with it."""

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
    """Say how far the work is. Costs next to nothing where nobody listens."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, of)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """What is told inside goes to `listener`.

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


def end_with_parent(every: float = 1.0) -> None:
    """Have this process end when the one that started it has, whatever ended that: by SIGKILL nobody is told."""
    parent = os.getppid()

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(every)
        os._exit(1)

    threading.Thread(target=wait, name="leadline-parent", daemon=True).start()
