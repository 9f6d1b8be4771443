"""Where a watch keeps its state when nobody says where."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..state import state_folder

SUFFIX = ".watch.db"
# File systems that live on this machine alone. What is not known to is taken for one that others may share.
LOCAL = frozenset(
    ("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "jfs", "bcachefs", "tmpfs", "ramfs", "overlay", "aufs")
)


def is_shared(path: Path) -> bool:
    """Whether a path may lie on a disk that several machines share. Only Linux tells."""
    kind = _file_system(path)
    return kind is not None and kind not in LOCAL


def local_place(folder: Path, name: str) -> Path:
    """Where to keep a file that must not lie on a shared disk: in `folder` if that is local, else in the user's folder
    for such things, else where the system keeps temporary files."""
    if not is_shared(folder):
        return folder / name
    digest = hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:12]
    if not is_shared(state_folder()):
        return state_folder() / f"{digest}-{name}"
    own = Path(tempfile.gettempdir()) / f"leadline-{os.getuid()}"
    own.mkdir(mode=0o700, exist_ok=True)
    return own / f"{digest}-{name}" if own.stat().st_uid == os.getuid() else folder / name


def _file_system(path: Path) -> str | None:
    """The kind of file system a path lies on, by the deepest mount above it."""
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
    """The state of a watch of these paths: the same for the same paths, in whatever order."""
    whole = sorted(path if "://" in path else str(Path(path).absolute()) for path in paths)
    digest = hashlib.sha256("\0".join(whole).encode("utf-8", errors="surrogateescape")).hexdigest()[:12]
    first = "".join(letter if letter.isalnum() else "-" for letter in Path(whole[0]).name)[:40]
    return state_folder() / f"{first}-{digest}{SUFFIX}"


def state_files() -> list[Path]:
    """All states that watches left in the user's folder, the latest first."""
    found = state_folder().glob(f"*{SUFFIX}")
    return sorted(found, key=lambda file: file.stat().st_mtime, reverse=True)
