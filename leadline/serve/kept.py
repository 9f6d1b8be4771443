"""Answers kept for a moment: a thousand people who open the same page at once are one question to the store."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

MOMENT = 1.0  # seconds: what goes by the clock alone, such as silence, may be as old
MOST = 64  # answers


class AnswerCache:
    """Answers by what was asked. The same one is worked out once, however many ask for it meanwhile."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._guard = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[float, str]] = OrderedDict()

    def get(self, asked: Hashable, make: Callable[[], str]) -> str:
        with self._guard:
            made, answer = self._kept.get(asked, (float("-inf"), ""))
            if self._clock() - made > MOMENT:
                answer = make()
                self._kept[asked] = self._clock(), answer
            self._kept.move_to_end(asked)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return answer
