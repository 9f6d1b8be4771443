"""Runs that are not on this machine. Servers of trackers are asked (online.py); of remote storage (`s3://`, `gs://`,
`hf://`, ...), a local copy of the logs is kept up to date and read like any folder.

Weights are left where they are and only named: an empty file stands for each, so that checkpoints are still seen. What
a grown log adds is fetched alone. Needs the extra `remote` (fsspec) and the package for the kind of storage.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from ..errors import NothingReadable, need
from ..records import dataclass

if TYPE_CHECKING:
    from .online import Served

ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/{1,2}(?!/)(.*)", re.DOTALL)  # a Path folds the two slashes into one
WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".distcp", ".gguf", ".zip", ".npz", ".nemo", ".tar")
DEEPEST, MOST_FILES = 6, 2000
LARGEST_FILE, LARGEST_COPY = 1 << 30, 4 << 30  # bytes
OVERLAP = 256  # bytes at both ends of the copy that must agree before only the growth is fetched
PIECE = 1 << 22


@dataclass(frozen=True, slots=True)
class Copy:
    """Where the local copy of a remote place lies, and what was left out."""

    path: Path
    left_out: tuple[str, ...] = ()  # files too large to fetch


def is_address(place: Path | str) -> bool:
    """Return whether `place` is an address and not a path on this machine.

    >>> is_address("s3://bucket/run"), is_address(Path("gs://bucket/run")), is_address("runs/a"), is_address("C:/runs")
    (True, True, False, False)
    """
    return ADDRESS.fullmatch(str(place)) is not None


def address_of(place: Path | str) -> str:
    """Return an address as it is meant, whatever was made of it on the way.

    >>> address_of(Path("s3://bucket/run"))
    's3://bucket/run'
    """
    found = ADDRESS.fullmatch(str(place))
    return f"{found[1]}://{found[2]}" if found else str(place)


def reach(place: Path | str) -> Copy | tuple[Served, ...]:
    """Return the runs on a tracker's server, or a local copy of a remote place; raise LeadlineError only."""
    address = address_of(place)
    from . import online  # only for addresses

    served = online.open(address)
    if served is not None:
        return served
    home = os.environ.get("XDG_CACHE_HOME")
    return fetch(address, (Path(home) if home else Path.home() / ".cache") / "leadline" / "remote")


def fetch(place: Path | str, cache: Path) -> Copy:
    """Return a local copy of the logs at an address, below `cache`. Called again, it fetches what changed."""
    address = address_of(place)
    fsspec = need("fsspec", extra="remote", to=f"read {address.split('://')[0]}:// addresses")
    try:
        storage, root = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:  # no such protocol, or its package is missing
        raise NothingReadable(
            f"{address} cannot be reached: {error}",
            next_step="install the package it names, such as s3fs, gcsfs or huggingface_hub",
        ) from error
    folder = cache / hashlib.sha256(address.encode()).hexdigest()[:16]
    try:
        return _copied(storage, root, folder)
    except Exception as error:  # storages raise what their transports raise
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise NothingReadable(
            f"{address} could not be read: {reason}", next_step="check the address and your credentials"
        ) from error


def _copied(storage: Any, root: str, folder: Path) -> Copy:
    storage.invalidate_cache()  # listings are kept from one look to the next: a log that grows would never be seen to
    if not storage.exists(root):
        raise FileNotFoundError("it does not exist")
    name = PurePosixPath(root.rstrip("/")).name or "root"
    if storage.isfile(root):
        _bring(storage, root, folder / _harmless(name), int(storage.info(root).get("size") or 0))
        return Copy(folder / _harmless(name))
    top = folder / _harmless(name)
    top.mkdir(parents=True, exist_ok=True)
    left_out, total = [], 0
    for remote, size in _files(storage, root):
        inside = PurePosixPath(remote[len(root) :].strip("/"))
        local = top.joinpath(*(_harmless(part) for part in inside.parts))
        if remote.endswith(WEIGHTS):
            local.parent.mkdir(parents=True, exist_ok=True)
            local.touch()
        elif size > LARGEST_FILE or total + size > LARGEST_COPY:
            left_out.append(str(inside))
        else:
            total += size
            _bring(storage, remote, local, size)
    return Copy(top, tuple(left_out))


def _files(storage: Any, root: str) -> Iterator[tuple[str, int]]:
    """Yield the files below a remote folder with their sizes, a bounded number of them."""
    count = 0
    for _, _, files in storage.walk(root, maxdepth=DEEPEST, detail=True):
        for _, info in sorted(files.items()):
            count += 1
            if count > MOST_FILES:
                return
            yield str(info["name"]), int(info.get("size") or 0)


def _bring(storage: Any, remote: str, local: Path, size: int) -> None:
    """Make the local file like the remote one."""
    local.parent.mkdir(parents=True, exist_ok=True)
    have = local.stat().st_size if local.is_file() else -1
    start = have if 0 <= have <= size and _same_so_far(storage, remote, local, have) else 0
    if start == size == have:
        return
    with local.open("r+b" if start else "wb") as file:
        file.seek(start)
        while start < size:
            piece = storage.cat_file(remote, start=start, end=min(start + PIECE, size))
            if not piece:
                break
            file.write(piece)
            start += len(piece)


def _same_so_far(storage: Any, remote: str, local: Path, have: int) -> bool:
    """Return whether the remote file begins as the copy does and has at the copy's end what the copy has."""
    with local.open("rb") as file:
        first = file.read(OVERLAP)
        file.seek(max(have - OVERLAP, 0))
        last = file.read(OVERLAP)
    return not have or (
        storage.cat_file(remote, start=0, end=len(first)) == first
        and storage.cat_file(remote, start=max(have - OVERLAP, 0), end=have) == last
    )


def _harmless(name: str) -> str:
    """Return a remote name as one that stays inside the copy."""
    clean = re.sub(r"[\x00-\x1f/\\]", "_", name)
    return f"_{clean}" if clean in ("", ".", "..") else clean[:200]
