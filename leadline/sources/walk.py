"""A bounded look below a folder: what lies there, without entering weights, following links out of it (but for those
that lie beside a journal of ours), or opening what is no file: pipes, devices, the system's own folders."""

from __future__ import annotations

import functools
import os
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path

from ..records import dataclass, field, replace
from ..vocabulary.names import listed
from .checkpoints import looks_saved
from .paths import DIGITS, STATES, WEIGHTS

DEEPEST = 8  # folders below the one that was asked for
MOST = 200_000  # names looked at in all
NOT_ENTERED = {*listed("not entered")}
MEDIA, TABLES = "media", "table"  # of which the tables are looked at: they may be what the policy wrote
HEAP = 2000  # files of one folder whose names differ by a number alone
SAMPLES = {"#.jsonl", "completions_#.parquet", "train_data_step#.jsonl", "val_data_step#.jsonl"} | {
    "rollout_dump_data.step_#.jsonl",
}
OF_THE_SYSTEM = ("/proc", "/sys", "/dev")  # endless, and reading there may act
SHOWN = 5  # links that are named
JOURNAL = "journal.jsonl"
LAID = {"checkpoints", "rollouts", "completions"}  # links that whoever writes a journal lays beside it


@dataclass(slots=True)
class Walk:
    """What was seen, shallow first and by name; `saved` are the places that look like saved states."""

    root: Path
    files: list[Path] = field(default_factory=list)  # that may tell something: no weights
    saved: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    outward: list[str] = field(default_factory=list)  # names of links that lead out of the root: not followed
    names: int = 0  # looked at

    def where(self, belongs: Callable[[Path], bool]) -> Walk:
        """Return the same with the places alone of which that is true; paths are given whole."""
        files = [path for path in self.files if belongs(path.absolute())]
        return replace(self, files=files, saved=[path for path in self.saved if belongs(path.absolute())])


def walk(
    root: Path, *, deepest: int = DEEPEST, most: int = MOST, enter: Callable[[str], bool] = lambda name: True
) -> Walk:
    """Return the files and folders below `root`. What cannot be entered, or is too much, is noted and passed over.
    `enter` says which folders directly below `root` are of interest."""
    seen = Walk(root)
    visited: set[tuple[int, int]] = set()
    inside = Path(os.path.realpath(root))
    waiting = deque([(root, 0)])
    while waiting and seen.names < most:
        folder, depth = waiting.popleft()
        try:
            state = folder.stat()
            if (state.st_dev, state.st_ino) in visited or state.st_dev in system_disks():
                continue  # a link that leads back
            visited.add((state.st_dev, state.st_ino))
            files, folders = _listed(folder, most - seen.names, seen, inside)
        except OSError as error:
            seen.notes.append(f"{folder.name or folder} could not be entered: {error.strerror or error}")
            continue
        seen.saved += [file for file in files if file.suffix in STATES]
        seen.files += [file for file in files if file.suffix not in STATES | WEIGHTS]
        inside_state = depth > 0 and looks_saved(folder.name) and folder.parent.name != "rollouts"
        journaled = any(file.name == JOURNAL for file in files)
        for below, is_outward in folders:
            leads_out = is_outward and not (journaled and below.name in LAID)
            if depth == 0 and not enter(below.name):
                continue
            if looks_saved(below.name):
                seen.saved.append(below)  # also where its weights were moved to a larger disk and left a link
            elif leads_out:
                seen.outward.append(below.name)
            if not inside_state and not leads_out and depth < deepest:
                waiting.append((below, depth + 1))
    if seen.names >= most:
        seen.notes.append(f"{root.name or root} holds more than {most} names; the rest was not looked at")
    if seen.outward:
        shown = ", ".join(seen.outward[:SHOWN]) + f" and {len(seen.outward) - SHOWN} more" * (len(seen.outward) > SHOWN)
        seen.notes.append(f"Skipped symlinks outside the folder: {shown}")
    return seen


@functools.cache
def system_disks() -> frozenset[int]:
    """Return the disks on which the system shows itself as files; `/dev/shm` and others below it are none."""
    return frozenset(place.stat().st_dev for place in map(Path, OF_THE_SYSTEM) if place.is_dir())


def _listed(folder: Path, most: int, seen: Walk, inside: Path) -> tuple[list[Path], list[tuple[Path, bool]]]:
    """Return what a folder holds, by name: the order in which a disk gives it means nothing. With each folder, whether
    it is a link that leads out of `inside`; a file that is such a link is left out."""
    files: list[str] = []
    folders: list[tuple[bool, str, bool]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if most <= 0:
                break
            seen.names += 1
            most -= 1
            try:
                linked = entry.is_symlink()
                leads_out = linked and not Path(os.path.realpath(entry.path)).is_relative_to(inside)
                if entry.is_dir():
                    if entry.name == TABLES if folder.name == MEDIA else entry.name not in NOT_ENTERED - {MEDIA}:
                        folders.append((linked, entry.name, leads_out))  # `latest` leads to what has a name of its own
                elif entry.is_file():
                    if leads_out:
                        seen.outward.append(entry.name)
                    else:
                        files.append(entry.name)
            except OSError:
                continue
    if len(files) > HEAP:
        files = _without_heaps(files, folder, seen)
    below = [(folder / name, leads_out) for _, name, leads_out in sorted(folders)]
    return [folder / name for name in sorted(files)], below


def _without_heaps(names: list[str], folder: Path, seen: Walk) -> list[str]:
    """Return the names without those of which there are thousands that differ by a number alone, unless samples are
    called so: pictures, shards, caches."""
    shapes = [DIGITS.sub("#", name) for name in names]
    heaps = {shape for shape, count in Counter(shapes).items() if count > HEAP and shape not in SAMPLES}
    if heaps:
        shown = ", ".join(sorted(heaps)[:3])
        seen.notes.append(f"{folder.name or folder} holds thousands of files like {shown}; they were not looked at")
    return [name for name, shape in zip(names, shapes, strict=True) if shape not in heaps]
