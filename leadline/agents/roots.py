"""The folders that may be read, fixed when the server starts. A path is checked with its links resolved; while a tool
works, whatever it opens is checked once more, so that a link inside a run leads nowhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ..errors import LeadlineError
from ..review.store import reviews_folder

# What Python tells its audit hooks before it opens or lists something.
OPENING = ("open", "os.listdir", "os.scandir", "sqlite3.connect")


LONGEST = 4000  # characters of a path
SHOWN = 200  # of one that is refused


class OutsideRoots(LeadlineError):
    """A path that the server was not told to read."""


@dataclass(frozen=True, slots=True)
class Roots:
    """The folders that may be read; nothing else is."""

    folders: tuple[Path, ...]  # resolved
    files: tuple[Path, ...] = ()  # that the product itself may open besides; nobody can ask for them

    @classmethod
    def of(cls, paths: Sequence[Path | str], *, files: Sequence[Path] = ()) -> Roots:
        """The folders at `paths`; an error where one is not there."""
        folders = []
        for path in paths:
            folder = Path(path).resolve()
            if not folder.is_dir():
                raise LeadlineError(
                    f"{path} is no folder.", tried=str(folder), next_step="name the folder that holds your runs"
                )
            folders.append(folder)
        return cls(tuple(dict.fromkeys(folders)), tuple(file.resolve() for file in files))

    def holds(self, path: Path) -> bool:
        """Whether a resolved path lies in one of them."""
        return any(path == folder or folder in path.parents for folder in self.folders)

    def find(self, told: str) -> Path:
        """The place a path means, relative to a root where it is not absolute."""
        if "\0" in told or len(told) > LONGEST:
            raise self._outside(told)
        places = [folder / told for folder in self.folders]  # an absolute path stays itself
        try:
            resolved = [place.resolve() for place in places]
            inside = [place for place in resolved if self.holds(place)]
            if inside:
                return next((place for place in inside if place.exists()), inside[0])
        except OSError:  # a name that is too long, links that lead in a circle
            pass
        raise self._outside(told)

    def shown(self, path: str) -> str:
        """A path as a caller may pass it back: short where there is one root."""
        if len(self.folders) == 1 and path.startswith(f"{self.folders[0]}{os.sep}"):
            return path[len(str(self.folders[0])) + 1 :]
        return path

    def _outside(self, told: str) -> OutsideRoots:
        return OutsideRoots(
            f"{told[:SHOWN]!r} is not below a folder this server may read.",
            tried=", ".join(map(str, self.folders)),
            next_step="call triage for the runs there are, or start the server with that folder",
        )


_guarded: ContextVar[Roots | None] = ContextVar("leadline_roots", default=None)
_installed: list[bool] = []


@contextmanager
def only_below(roots: Roots) -> Iterator[None]:
    """While this holds, nothing outside of `roots` can be opened or listed here, and nothing written."""
    if not _installed:  # a hook cannot be taken back; without roots it does nothing
        _installed.append(True)
        sys.addaudithook(_refuse)
    token = _guarded.set(roots)
    try:
        yield
    finally:
        _guarded.reset(token)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event not in OPENING:
        return
    roots = _guarded.get()
    if roots is None or not arguments or not isinstance(arguments[0], (str, bytes, os.PathLike)):
        return
    told = os.fsdecode(arguments[0])
    if event == "sqlite3.connect":
        if told == ":memory:":
            return
        told = unquote(urlsplit(told).path) if told.startswith("file:") else told
    place = Path(os.path.realpath(told))
    if _interpreter(place):
        return  # a module that is imported late
    mode = arguments[1] if event == "open" and len(arguments) > 1 else None
    writes = isinstance(mode, str) and set(mode) & set("wax+")
    if writes or not (roots.holds(place) or place in roots.files or _is_review(place)):
        raise PermissionError(13, "outside of the folders that may be read", str(arguments[0]))


def _is_review(place: Path) -> bool:
    """Whether it is what a reader said of a run: kept in the user's own folder, and nobody can ask for it by path."""
    return str(place.parent) == os.path.realpath(reviews_folder())


def _interpreter(place: Path) -> bool:
    """Whether it belongs to Python or an installed package: modules are imported when they are first needed."""
    homes = [Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    return any(home in place.parents for home in (*_HOMES, *homes))


_HOMES = tuple(
    Path(os.path.realpath(home))
    for home in (sys.prefix, sys.base_prefix, Path(os.__file__).parent, Path(__file__).parent.parent)
)
