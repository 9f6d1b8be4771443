"""The user's folder for what is remembered from one call to the next."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """Return that folder."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if base else Path.home() / ".local" / "state") / "leadline"
