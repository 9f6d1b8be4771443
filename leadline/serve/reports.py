"""Make the report of a run when it is asked for, as `leadline read --html` writes it, and keep it for a while."""

from __future__ import annotations

import gc
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

from ..comparison.gather import gather
from ..comparison.together import compare
from ..errors import LeadlineError, NothingReadable
from ..fleet.divide import units
from ..live.memory import give_back
from ..pipeline import read
from ..report import html
from ..report.compare_html import page as compare_page
from ..shelf.row import Row
from ..sources.remote import is_address
from ..words.serve import OUTSIDE

KEPT = 32  # reports in memory
AT_ONCE = 2  # readings at the same time: each takes a core for a second or more


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


class Reports:
    """Make reports. Safe to call from many threads; the same report is made once."""

    def __init__(self) -> None:
        self._kept = PageCache(KEPT, at_once=AT_ONCE)

    def of(self, row: Row) -> str:
        """Return the page of a run as it stands now. Raises LeadlineError."""
        path = allowed(row)
        return self._made((row.identity, mark_of(row)), lambda: html.render(read(path)))

    def compared(self, rows: Sequence[Row]) -> str:
        """Return the page that compares these runs. Raises LeadlineError."""
        paths = [allowed(row) for row in rows]
        key = ("compare", *(f"{row.identity} {mark_of(row)}" for row in rows))
        return self._made(key, lambda: compare_page(compare(gather(paths))))

    def _made(self, key: tuple[str, ...], make: Callable[[], str]) -> str:
        def made() -> str:
            page = make()
            gc.collect()  # a reading refers to itself, and holds megabytes of arrays
            give_back()
            return page

        return self._kept.get(key, made)


def allowed(row: Row) -> str:
    """Return the path to read a run by. Links are resolved first: what was scanned may lead elsewhere by now."""
    if is_address(row.place):
        return row.identity
    place, root = Path(row.place.partition("#")[0]), Path(row.root)
    try:
        where, home = place.resolve(strict=True), root.resolve(strict=True)
    except OSError as error:
        raise NothingReadable(f"{row.name} is not there any more.", next_step="scan again") from error
    if where != home and home not in where.parents:
        raise NothingReadable(OUTSIDE, next_step="scan the folder it lies in")
    return row.identity


def mark_of(row: Row) -> str:
    """Return the mark that tells whether a run changed."""
    if is_address(row.place):
        return row.mark
    try:
        return " ".join(unit.mark for unit in units(row.place))
    except LeadlineError:
        return ""
