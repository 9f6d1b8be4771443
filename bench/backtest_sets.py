"""Where the sets of runs lie, and which of their runs are sound. Packed sets are unpacked when first asked for; an
environment variable of a set's name says that it lies elsewhere, $SHARED where all of them do.

The score knows some names and tells a layout by them, so it is asked for our own runs (bench/own_zoo.py) as for parts
of zoo2. `logs` and `third` are public logs that it cannot read itself, `wild` any folder of such logs.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import backtest_public as public

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("SHARED", HERE.parent.parent / "shared"))
PACKED = {  # set: its archive, and the folder in it
    "zoo2_dev": (SHARED / "zoo2.tar.gz", "zoo2"),
    "zoo3_dev": (SHARED / "zoo3.tar.xz", "zoo3"),
    "own": (HERE / "own_zoo.tar.xz", "zoo3"),
    "own_third": (HERE / "own_zoo_third.tar.xz", "own_third"),
    "logs": (SHARED / "logs.tar.gz", "logs"),
    "third": (SHARED / "third.tar.xz", "third"),
}
LIKE = {"own": "zoo2_own", "own_third": "zoo2_own_third"}  # as the score may know them
PUBLIC = ("logs", "third", "wild")
# Families of the first zoo whose logged score is not what the policy is worth, or falls apart on the way (its README);
# the other zoos say so themselves.
UNSOUND = (
    *("contains", "rm_overopt", "rm_overopt_ppo", "random_reward", "format_hack", "len_exploit"),
    *("drift", "entropy_collapse", "lr_too_high", "lr_step", "stale", "reward_swap"),
)


def here(name: str) -> bool:
    """Whether a set is on this machine."""
    place = PACKED[name][0] if name in PACKED else SHARED / name.removesuffix("_dev")
    return name.upper() in os.environ or place.exists()


def root(name: str) -> Path:
    """The folder of a set."""
    if name.upper() not in os.environ:
        if name in PACKED:
            archive, folder = PACKED[name]
            os.environ[name.upper()] = str(unpacked(archive) / folder)
        else:
            os.environ[name.upper()] = str(SHARED / name.removesuffix("_dev"))
    return Path(os.environ[name.upper()])


def names(runs: Any, name: str) -> Iterator[str]:
    """The runs of a set, as the tables name them."""
    if name in PUBLIC:
        yield from (f"{name}/{place}" for place in public.names(root(name)))
    else:
        like = LIKE.get(name, name)
        yield from (run.replace(like, name, 1) for run in runs.list_runs(like, str(root(name))))


def load(runs: Any, run: str) -> Any:
    name = run.partition("/")[0]
    if name in PUBLIC:
        return public.load(runs, run, root(name))
    like = LIKE.get(name, name)
    found = runs.load_run(run.replace(name, like, 1), {like: str(root(name))})
    found.id, found.set = run, name
    return found


def sound(run: Any) -> bool | None:
    """Whether what the policy is worth follows the score it was trained on; None: nobody knows."""
    if run.kind == "public":
        return None
    told = json.loads((Path(run.folder) / "truth.json").read_text()).get("sound")
    return run.family not in UNSOUND if told is None else bool(told)


def logs() -> list[Path]:
    """The folders of further public logs, about which no truth is known."""
    return sorted(path for path in root("logs").glob("*/*") if path.is_dir())


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
