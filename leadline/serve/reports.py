"""Make the report of a run when it is asked for, as `leadline read --html` writes it, and keep it for a while."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
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
from .kept import PageCache

KEPT = 32  # reports in memory
AT_ONCE = 2  # readings at the same time: each takes a core for a second or more


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
