"""Folders divided into what is read as a whole, by names, sizes and times alone: no log is opened for it.

A run's folder may hold several logs, saved states and samples, and a folder of runs may hold stray files. A folder that
holds files that may be logs is one unit with all below it, unless two folders in it hold logs of their own: then it is
a folder of runs.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ..errors import NothingReadable, need
from ..records import dataclass, field
from ..review.store import mark as reviewed
from ..shelf.row import Unit
from ..sources.checkpoints import looks_saved
from ..sources.paths import NO_LOGS, NO_SUFFIX, OF_THE_RUN, STATES, WEIGHTS, may_hold_settings
from ..sources.remote import address_of, is_address
from ..sources.rollouts import dumped
from ..sources.walk import NOT_ENTERED

DEEPEST = 24  # folders below a root: they are entered once each, so this only ends what has no end
MOST_LOGS = 100  # in one unit; a source reads at most 200 together (sources/folders.py)
# Folders of one run. Not "mlruns": that holds runs.
TRACKERS = {"wandb", "tensorboard", "tb", "tb_logs", "logs", "log", "runs", "swanlog", "trackio", "outputs", "metrics"}
WHOLE = {"wandb"}  # a run that was resumed has several folders there, and only its logs tell which
BESIDE = ("-wal", "-shm", "-journal", ".lock", ".part", ".tmp", ".swp", ".watch.db", ".parquet")


class File(NamedTuple):
    """A file as a listing shows it."""

    name: str
    size: int
    changed: str  # its time, or whatever else tells versions apart


Listing = tuple[list[File], list[str]]  # files and folders, by name
Lister = Callable[[str], Listing]


@dataclass(slots=True)
class _Part:
    """The contents of one folder."""

    units: list[tuple[str, str, bool]] = field(default_factory=list)  # place, mark, and whether it is stray
    logs: int = 0
    mark: str = ""
    spread: bool = False  # a folder of runs


def units(root: str, *, skip: Iterable[Path] = ()) -> Iterator[Unit]:
    """Yield the units at a folder, a file or an address. Raises LeadlineError where there is nothing."""
    if is_address(root):
        from ..sources import online  # only for addresses

        address = address_of(root)
        if (served := online.listed(address)) is not None:
            yield from (Unit(root, place, _digest([told]) if told else "") for place, told in served)
            return
        yield from _divided(root, address, _remote(address))
        return
    place = Path(root).absolute()
    if place.is_dir():
        yield from _divided(root, str(place), _local(set(skip)))
        return
    try:
        state = place.stat()
    except OSError as error:
        raise NothingReadable(
            f"{root} cannot be scanned: {error.strerror or error}.",
            next_step="check how it is spelled and its permissions",
        ) from error
    mark = _digest([(place.name, state.st_size, state.st_mtime_ns)])
    yield Unit(root, str(place), mark + reviewed(str(place)))


def _divided(root: str, place: str, listed: Lister) -> Iterator[Unit]:
    yield from (Unit(root, where, mark + reviewed(where), stray) for where, mark, stray in _part(place, listed).units)


def _part(place: str, listed: Lister, depth: int = 0) -> _Part:
    """Return what a folder holds, judged after all that lies below it."""
    files, folders = listed(place)
    samples = {path.name for path in dumped([Path(place) / file.name for file in files])}
    own = [file for file in files if may_be_log(file.name) and file.name not in samples]
    if "metrics" in folders:  # so MLflow marks a run; without metrics it marks a folder of runs
        own += [file for file in files if file.name == "meta.yaml"]
    part = _Part(logs=len(own), spread=len(own) > MOST_LOGS)
    seen: list[object] = [tuple(file) for file in files]
    several = 0
    for name in folders:
        if name in NOT_ENTERED or depth >= DEEPEST:
            continue
        inside = f"{place}/{name}"
        below = _saved(inside, listed) if looks_saved(name) else _part(inside, listed, depth + 1)
        seen.append((name, below.mark))
        part.logs += below.logs
        part.units += below.units
        several += bool(below.units) and not _belongs_to_a_run(name)
        whole = PurePosixPath(place).name in WHOLE
        part.spread |= below.spread or (several > 1 and not whole) or part.logs > MOST_LOGS
    part.mark = _digest(seen)
    if part.spread:
        runs = sum(map(may_be_run, folders))
        alike = Counter(PurePosixPath(file.name).suffix for file in own)
        for file in own:
            stray = runs > 1 and alike[PurePosixPath(file.name).suffix] == 1
            part.units.append((f"{place}/{file.name}", _digest([tuple(file)]), stray))
    elif part.logs and (own or len(part.units) != 1):
        part.units = [(place, part.mark, False)]
    return part


def _saved(place: str, listed: Lister) -> _Part:
    """Return a saved state: it may hold a log, and is never a run of its own."""
    files, folders = listed(place)
    logs = sum(may_be_log(file.name) for file in files)
    return _Part(logs=min(logs, 1), mark=_digest([*map(tuple, files), *folders]))


def may_be_log(name: str) -> bool:
    """
    >>> may_be_log("train.log"), may_be_log("model.safetensors"), may_be_log("README.md"), may_be_log("mlflow.db-wal")
    (True, False, False, False)
    """
    path = PurePosixPath(name)
    if name.startswith(".") or name in NO_LOGS or name.lower().endswith(BESIDE):
        return False
    return path.suffix.lower() not in WEIGHTS | STATES | NO_SUFFIX and not may_hold_settings(Path(name))


def may_be_run(name: str) -> bool:
    """Return whether a folder may be a run beside others, by its name."""
    return name not in NOT_ENTERED and not _belongs_to_a_run(name)


def _belongs_to_a_run(name: str) -> bool:
    """Return whether a folder is a part of a run by its name, not a run beside others."""
    return name.lower() in TRACKERS or any(name.lower().startswith(word) for word in OF_THE_RUN)


def _local(skip: set[Path]) -> Lister:
    """Return a lister of folders of this machine. What cannot be entered is empty: the reader of the unit says why."""
    visited: set[tuple[int, int]] = set()
    hidden = {str(path) + end for path in skip for end in ("", "-wal", "-shm", "-journal")}

    def listed(place: str) -> Listing:
        files: list[File] = []
        folders: list[str] = []
        try:
            here = Path(place).stat()
            if (here.st_dev, here.st_ino) in visited:
                return [], []  # a link that leads back
            visited.add((here.st_dev, here.st_ino))
            with os.scandir(place) as entries:
                for entry in entries:
                    try:
                        if entry.is_dir():
                            folders.append(entry.name)
                        elif entry.is_file() and entry.path not in hidden:
                            state = entry.stat()
                            files.append(File(entry.name, state.st_size, str(state.st_mtime_ns)))
                    except OSError:
                        continue
        except OSError:
            return files, []
        return sorted(files), sorted(folders)

    return listed


def _remote(address: str) -> Lister:
    """Return the same for storage that fsspec reaches: one listing of all that is there."""
    fsspec = need("fsspec", extra="remote", to=f"scan {address.split('://')[0]}:// addresses")
    try:
        storage, root = fsspec.core.url_to_fs(address, use_listings_cache=False)
        found: dict[str, dict[str, Any]] = storage.find(root, detail=True)
    except Exception as error:  # storages raise what their transports raise
        said = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise NothingReadable(
            f"{address} could not be listed: {said}", next_step="check the address and your credentials"
        ) from error
    if not found:
        raise NothingReadable(f"{address} holds nothing.", next_step="check how the address is spelled")
    tree: dict[str, tuple[list[File], set[str]]] = {}
    for path, info in found.items():
        inner = path[len(root.rstrip("/")) :].lstrip("/")
        folders = inner.split("/")[:-1]
        changed = next(
            (str(info[key]) for key in ("ETag", "etag", "LastModified", "mtime", "created") if key in info), ""
        )
        for depth, name in enumerate(folders):
            tree.setdefault("/".join(folders[:depth]), ([], set()))[1].add(name)
        held = tree.setdefault("/".join(folders), ([], set()))
        held[0].append(File(inner.rpartition("/")[2], int(info.get("size") or 0), changed))
    base = address.rstrip("/")

    def listed(place: str) -> Listing:
        files, below = tree.get(place[len(base) :].strip("/"), ([], set()))
        return sorted(files), sorted(below)

    return listed


def _digest(parts: Iterable[object]) -> str:
    told = "\0".join(map(repr, parts))
    return hashlib.sha256(told.encode("utf-8", errors="surrogateescape")).hexdigest()[:32]
