"""A run's own page: the HTML report that `leadline read --html` writes, made when it is asked for and kept a while."""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from ..compare import compare, gather
from ..errors import LeadlineError, NothingReadable
from ..fleet.divide import units
from ..pipeline import read
from ..report import html
from ..report.compare_html import page as compare_page
from ..shelf.row import Row
from ..sources.remote import is_address
from ..words.serve import OUTSIDE

KEPT = 32  # reports in memory
AT_ONCE = 2  # readings at the same time: each takes a core for a second or more
RULES = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')


class Reports:
    """Makes reports. Safe to call from many threads; the same report is made once."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._guard = threading.Lock()
        self._working = threading.Semaphore(AT_ONCE)

    def of(self, row: Row) -> str:
        """The page of a run as it stands now. Raises LeadlineError."""
        path = allowed(row)
        key = (row.identity, mark_of(row))
        if (kept := self._known(key)) is not None:
            return kept
        with self._working:
            if (kept := self._known(key)) is None:
                kept = html.render(read(path, now=time.time()))
                self._keep(key, kept)
        return kept

    def compared(self, rows: Sequence[Row]) -> str:
        paths = [allowed(row) for row in rows]
        key = ("compare", "\0".join(f"{row.identity} {mark_of(row)}" for row in rows))
        if (kept := self._known(key)) is not None:
            return kept
        with self._working:
            kept = compare_page(compare(gather(paths)))
            self._keep(key, kept)
        return kept

    def _known(self, key: tuple[str, str]) -> str | None:
        with self._guard:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep(self, key: tuple[str, str], page: str) -> None:
        with self._guard:
            self._kept[key] = page
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)


def allowed(row: Row) -> str:
    """The path to read a run by. Links are resolved first: what was scanned may lead elsewhere by now."""
    if is_address(row.place):
        return row.identity
    place, root = Path(row.place.partition("#")[0]), Path(row.root)
    try:
        where, home = place.resolve(strict=True), root.resolve(strict=True)
    except OSError as error:
        raise NothingReadable(
            f"{row.name} is not there any more.", tried="the path it was scanned at", next_step="scan again"
        ) from error
    if where != home and home not in where.parents:
        raise NothingReadable(OUTSIDE, tried=str(where), next_step="scan the folder it lies in")
    return row.identity


def mark_of(row: Row) -> str:
    """By what it is told that a run changed."""
    if is_address(row.place):
        return row.mark
    try:
        return " ".join(unit.mark for unit in units(row.place))
    except LeadlineError:
        return ""


def rules_of(page: str) -> str:
    """What a report lets a browser run: its own scripts by their digests. As a header it also says who may frame it."""
    found = RULES.search(page)
    rules = found[1].replace("&#x27;", "'") if found else "default-src 'none'"
    return f"{rules}; frame-ancestors 'self'"
