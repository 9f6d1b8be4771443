"""Limit reading to the folders given when the server starts. A path is checked with its links resolved; while a tool
works, whatever it opens is checked again, so that a link inside a run leads nowhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ..errors import LeadlineError
from ..records import dataclass
from ..review.store import reviews_folder

OPENING = ("open", "os.listdir", "os.scandir", "sqlite3.connect")  # audit events before something is opened or listed
LONGEST = 4000  # characters of a path
SHOWN = 200  # of one that is refused


@dataclass(frozen=True, slots=True)
class Roots:
    """The folders that may be read."""

    folders: tuple[Path, ...]  # resolved
    files: tuple[Path, ...] = ()  # that Leadline itself may open, too; no caller can ask for them

    @classmethod
    def of(cls, paths: Sequence[Path | str], *, files: Sequence[Path] = ()) -> Roots:
        """Return the folders at `paths`; raise if one is missing."""
        folders = []
        for path in paths:
            folder = Path(path).resolve()
            if not folder.is_dir():
                raise LeadlineError(f"{path} is not a folder.", next_step="name the folder that holds your runs")
            folders.append(folder)
        return cls(tuple(dict.fromkeys(folders)), tuple(file.resolve() for file in files))

    def holds(self, path: Path) -> bool:
        """Return whether a resolved path lies in one of them."""
        return any(path == folder or folder in path.parents for folder in self.folders)

    def find(self, told: str) -> Path:
        """Return the place a path means, relative to a root unless it is absolute."""
        why = "is not below a folder this server may read"
        if "\0" not in told and len(told) <= LONGEST:
            places = [folder / told for folder in self.folders]  # an absolute path stays itself
            try:
                inside = [place for place in (one.resolve() for one in places) if self.holds(place)]
                if inside:
                    return next((place for place in inside if place.exists()), inside[0])
                if any(self.holds(_unresolved(place)) and os.path.lexists(place) for place in places):
                    why = "links to a place outside of the folders this server may read"
            except OSError:  # a name that is too long, links that lead in a circle
                pass
        raise LeadlineError(
            f"{told[:SHOWN]!r} {why}.",
            next_step="call triage for the runs there are, or start the server with that folder",
        )

    def shown(self, path: str) -> str:
        """Return a path as a caller may pass it back: relative if there is one root."""
        if len(self.folders) == 1 and path.startswith(f"{self.folders[0]}{os.sep}"):
            return path[len(str(self.folders[0])) + 1 :]
        return path


Links = dict[str, None]  # paths below the roots that were not opened, since they lead outside, in order
_guarded: ContextVar[tuple[Roots, Links] | None] = ContextVar("leadline_roots", default=None)
_installed: list[bool] = []


@contextmanager
def only_below(roots: Roots) -> Iterator[Links]:
    """Refuse to open, list, or write anything outside of `roots` in this block; yield the links that were refused."""
    if not _installed:  # a hook can't be removed; without roots it does nothing
        _installed.append(True)
        sys.addaudithook(_refuse)
    links: Links = {}
    around = _guarded.get()
    token = _guarded.set((roots, links))
    try:
        yield links
    finally:
        _guarded.reset(token)
        if around is not None:
            around[1].update(links)


@contextmanager
def unguarded() -> Iterator[None]:
    """Allow what this server itself does: write reviews, and ask the shelf."""
    token = _guarded.set(None)
    try:
        yield
    finally:
        _guarded.reset(token)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event not in OPENING:
        return
    guarded = _guarded.get()
    if guarded is None or not arguments or not isinstance(arguments[0], (str, bytes, os.PathLike)):
        return
    roots, links = guarded
    told = os.fsdecode(arguments[0])
    if event == "sqlite3.connect":
        if told == ":memory:":
            return
        told = unquote(urlsplit(told).path) if told.startswith("file:") else told
    place = Path(os.path.realpath(told))
    packages = [Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    if any(home in place.parents for home in (*_HOMES, *packages)):
        return  # a module that is imported late
    mode = arguments[1] if event == "open" and len(arguments) > 1 else None
    writes = isinstance(mode, str) and set(mode) & set("wax+")
    if not writes and (
        roots.holds(place)
        or place in roots.files
        or str(place.parent) == os.path.realpath(reviews_folder())  # the user's own: no caller can ask for it by path
    ):
        return
    if not writes and roots.holds(_unresolved(Path(told))):
        links[told] = None
    raise PermissionError(13, "outside of the folders that may be read", str(arguments[0]))


def _unresolved(path: Path) -> Path:
    """Return the path in full, its links as they are."""
    return Path(os.path.normpath(path.absolute()))


_HOMES = tuple(
    Path(os.path.realpath(home))
    for home in (sys.prefix, sys.base_prefix, Path(os.__file__).parent, Path(__file__).parent.parent)
)
