"""Where the sets of runs lie. Packed ones are unpacked when first asked for. The score knows five names; our own runs
(bench/own_zoo.py) go by `zoo2_held`, whose layout they have."""

from __future__ import annotations

import atexit
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
ZOO2, OWN = SHARED / "zoo2.tar.gz", Path(__file__).resolve().parent / "own_zoo.tar.xz"
LOGS = SHARED / "logs.tar.gz"


def set_environment() -> None:
    """What the score asks the environment for: where each set lies."""
    os.environ.setdefault("ZOO_DEV", str(SHARED / "zoo"))
    os.environ.setdefault("RUNS_DEV", str(SHARED / "runs"))
    for name, packed, folder in (("ZOO2_DEV", ZOO2, "zoo2"), ("ZOO2_HELD", OWN, "zoo3")):
        if name not in os.environ and packed.exists():
            os.environ[name] = str(_unpacked(packed) / folder)


def folders(name: str) -> list[Path]:
    """The folders of runs with a hidden truth."""
    set_environment()
    return sorted(path.parent for path in Path(os.environ[name.upper()]).glob("*/truth.json"))


def logs() -> list[Path]:
    """The folders of further public logs, about which no truth is known."""
    if "LOGS_DEV" not in os.environ and LOGS.exists():
        os.environ["LOGS_DEV"] = str(_unpacked(LOGS) / "logs")
    return sorted(path for path in Path(os.environ.get("LOGS_DEV", "")).glob("*/*") if path.is_dir())


def _unpacked(archive: Path) -> Path:
    place = Path(tempfile.mkdtemp(prefix="zoo-"))
    owner = os.getpid()  # a forked worker must not remove it
    atexit.register(lambda: shutil.rmtree(place, ignore_errors=True) if os.getpid() == owner else None)
    with tarfile.open(archive) as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extractall(place, filter="data")
        else:
            packed.extractall(place)
    return place
