"""Errors of ours never reach the training loop: each kind is logged once and the loop continues."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

LOGGER = logging.getLogger("leadline")

P = ParamSpec("P")
R = TypeVar("R")

_said: set[str] = set()


class Once:
    """Passes each text on the first time only."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say, self._said = say, set[str]()

    def __call__(self, says: str) -> None:
        if says not in self._said:
            self._said.add(says)
            self._say(says)


def quiet(call: Callable[P, R]) -> Callable[P, R | None]:
    """Return the same call, which returns None if it would have raised."""

    @functools.wraps(call)
    def safely(*args: P.args, **kwargs: P.kwargs) -> R | None:
        try:
            return call(*args, **kwargs)
        except Exception as error:
            complain(f"{call.__qualname__} failed", error)
            return None

    return safely


def complain(what: str, error: BaseException) -> None:
    """Log what went wrong, the first time only: a full disk would otherwise say so at every step."""
    said = f"{what}: {type(error).__name__}"
    if said not in _said:
        _said.add(said)
        LOGGER.warning("leadline: %s (%s); training continues. This is logged once.", what, error)
