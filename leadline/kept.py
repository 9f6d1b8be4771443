"""Answers kept from one check of a run to the next: what did not change is not computed again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")

FEW, SOME, MANY = 4, 24, 512  # answers kept: of all texts of a look, of a megabyte or two, of a few numbers

_KEPT: list[OrderedDict[object, Any]] = []


def kept(most: int) -> Callable[[Callable[Asked, Answer]], Callable[Asked, Answer]]:
    """Let a pure function remember its last `most` answers, which must not be changed. Unlike `lru_cache`, it knows an
    argument with a `fingerprint` by that and does not keep it alive."""

    def remembering(answer: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
        known: OrderedDict[object, Answer] = OrderedDict()
        lock = Lock()
        _KEPT.append(known)

        @wraps(answer)
        def ask(*given: Asked.args, **named: Asked.kwargs) -> Answer:
            key = _key((given, *named.items()))
            with lock:
                if key in known:
                    known.move_to_end(key)
                    return known[key]
            told = answer(*given, **named)
            with lock:
                known[key] = told
                while len(known) > most:
                    known.popitem(last=False)
            return told

        return ask

    return remembering


def forget() -> None:
    """Forget all answers."""
    for known in _KEPT:
        known.clear()


def _key(asked: object) -> object:
    if isinstance(asked, (list, tuple)):
        return tuple(map(_key, asked))
    return getattr(asked, "fingerprint", asked)
