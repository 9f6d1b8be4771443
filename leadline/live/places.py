"""Where a watch keeps its state when nobody says where."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from ..shelf.home import state_folder

SUFFIX = ".watch.db"


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
