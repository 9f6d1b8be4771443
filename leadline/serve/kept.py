"""Pages kept in memory: however many ask for the same one at the same time, it is made once."""

from __future__ import annotations

import math
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable


class PageCache:
    """Pages by what was asked, compressed: a report has megabytes. Safe to call from many threads."""

    def __init__(
        self, most: int, *, at_once: int = 1, lasting: float = math.inf, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Keep at most `most` pages, each for `lasting` seconds, and make `at_once` at the same time."""
        self._most, self._lasting, self._clock = most, lasting, clock
        self._kept: OrderedDict[Hashable, tuple[float, bytes]] = OrderedDict()
        self._guard = threading.Lock()
        self._working = threading.Semaphore(at_once)

    def get(self, asked: Hashable, make: Callable[[], str]) -> str:
        """Return the page that is kept for `asked`, or make it."""
        page = self._known(asked)
        if page is None:
            with self._working:
                page = self._known(asked)  # somebody else may have made it meanwhile
                if page is None:
                    page = make()
                    packed = zlib.compress(page.encode("utf-8", "replace"), 1)
                    with self._guard:
                        self._kept[asked] = self._clock(), packed
                        while len(self._kept) > self._most:
                            self._kept.popitem(last=False)
        return page

    def _known(self, asked: Hashable) -> str | None:
        with self._guard:
            made, page = self._kept.get(asked, (-math.inf, b""))
            if self._clock() - made > self._lasting or not page:
                return None
            self._kept.move_to_end(asked)
        return zlib.decompress(page).decode()
