"""Where the sets of runs lie. Packed ones are unpacked when first asked for. The score knows six names; our own runs
(bench/own_zoo.py) go by `zoo2_held`, whose layout they have. `logs` are the public logs it cannot read, `wild` any
folder of such logs that $WILD names."""

from __future__ import annotations

import atexit
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import backtest_public as public

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
PUBLIC = ("logs", "wild")
ZOO2, LOGS, OWN = SHARED / "zoo2.tar.gz", SHARED / "logs.tar.gz", Path(__file__).resolve().parent / "own_zoo.tar.xz"


def set_environment() -> None:
    """What the score asks the environment for: where each set lies."""
    os.environ.setdefault("ZOO_DEV", str(SHARED / "zoo"))
    os.environ.setdefault("RUNS_DEV", str(SHARED / "runs"))
    packs = (("ZOO2_DEV", ZOO2, "zoo2"), ("ZOO2_HELD", OWN, "zoo3"), ("LOGS", LOGS, "logs"))
    for name, packed, folder in packs:
        if name not in os.environ and packed.exists():
            os.environ[name] = str(unpacked(packed) / folder)


def folders(name: str) -> list[Path]:
    """The folders of runs with a hidden truth."""
    set_environment()
    return sorted(path.parent for path in Path(os.environ[name.upper()]).glob("*/truth.json"))


def names(runs: Any, name: str) -> Iterator[str]:
    """The runs of a set, as the score names them."""
    if name in PUBLIC:
        yield from (f"{name}/{place}" for place in public.names(Path(os.environ[name.upper()])))
    else:
        yield from runs.list_runs(name, runs.roots()[name])


def load(runs: Any, run: str) -> Any:
    name = run.partition("/")[0]
    if name in PUBLIC:
        return public.load(runs, run, Path(os.environ[name.upper()]))
    return runs.load_run(run, runs.roots())


def logs() -> list[Path]:
    """The folders of further public logs, about which no truth is known."""
    set_environment()
    return sorted(path for path in Path(os.environ.get("LOGS", "")).glob("*/*") if path.is_dir())


def unpacked(archive: Path) -> Path:
    """What an archive holds, in a folder that goes when this process ends."""
    place = Path(tempfile.mkdtemp(prefix="zoo-"))
    owner = os.getpid()  # a forked worker must not remove it
    atexit.register(lambda: shutil.rmtree(place, ignore_errors=True) if os.getpid() == owner else None)
    with tarfile.open(archive) as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extractall(place, filter="data")
        else:
            packed.extractall(place)
    return place
