"""Pages kept in memory: however many ask for the same one at the same time, it is made once."""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable


class PageCache:
    """Pages by what was asked, compressed: a report has megabytes. Safe to call from many threads."""

    def __init__(self, most: int, *, at_once: int = 1) -> None:
        """Keep at most `most` pages, and make `at_once` at the same time."""
        self._most = most
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
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
                        self._kept[asked] = packed
                        while len(self._kept) > self._most:
                            self._kept.popitem(last=False)
        return page

    def _known(self, asked: Hashable) -> str | None:
        with self._guard:
            if asked not in self._kept:
                return None
            self._kept.move_to_end(asked)
            packed = self._kept[asked]
        return zlib.decompress(packed).decode()
