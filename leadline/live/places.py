"""Default places for the state of a watch."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..state import state_folder

SUFFIX = ".watch.db"
# File systems of one machine alone. Any other is assumed to be shared.
LOCAL = frozenset(
    ("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "jfs", "bcachefs", "tmpfs", "ramfs", "overlay", "aufs")
)


def is_shared(path: Path) -> bool:
    """Return whether a path may be on a disk that several machines share, if Linux shows it."""
    kind = _file_system(path)
    return kind is not None and kind not in LOCAL


def local_place(folder: Path, name: str) -> Path:
    """Return where to keep a file that must be on a local disk: in `folder`, the user's state folder, or the system's
    folder for temporary files, whichever is local first."""
    if not is_shared(folder):
        return folder / name
    digest = hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:12]
    if not is_shared(state_folder()):
        return state_folder() / f"{digest}-{name}"
    own = Path(tempfile.gettempdir()) / f"leadline-{os.getuid()}"
    own.mkdir(mode=0o700, exist_ok=True)
    return own / f"{digest}-{name}" if own.stat().st_uid == os.getuid() else folder / name


def _file_system(path: Path) -> str | None:
    """Return the file system type of a path, from the deepest mount above it."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
    except OSError:
        return None
    place = path.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    place = place.resolve()
    best, kind = -1, None
    for line in mounts:
        left, _, right = line.partition(" - ")
        point = re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), left.split()[4])
        if place.is_relative_to(point) and len(point) >= best:
            best, kind = len(point), right.split()[0]
    return kind


def state_file(paths: Sequence[str]) -> Path:
    """Return the state file of a watch of these paths, in whatever order."""
    whole = sorted(path if "://" in path else str(Path(path).absolute()) for path in paths)
    digest = hashlib.sha256("\0".join(whole).encode("utf-8", errors="surrogateescape")).hexdigest()[:12]
    first = "".join(letter if letter.isalnum() else "-" for letter in Path(whole[0]).name)[:40]
    return state_folder() / f"{first}-{digest}{SUFFIX}"


def state_files() -> list[Path]:
    """Return all state files in the user's folder, the latest first."""
    found = state_folder().glob(f"*{SUFFIX}")
    return sorted(found, key=lambda file: file.stat().st_mtime, reverse=True)
