"""A bounded look below a folder: what lies there, without entering weights or going round in circles."""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .checkpoints import looks_saved

DEEPEST = 8  # folders below the one that was asked for
MOST = 200_000  # names looked at in all
NOT_ENTERED = {
    ".git",
    ".hg",
    ".venv",
    "venv",
    "node_modules",
    "site-packages",
    "__pycache__",
    ".cache",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    "media",  # pictures and tables of trackers
}
WEIGHTS = {".safetensors", ".bin", ".pt", ".pth", ".distcp", ".gguf", ".onnx", ".pkl", ".npy", ".npz"}
STATES = {".zip", ".cleanrl_model", ".ckpt", ".nemo"}  # states that are single files
HEAP = 2000  # files of one folder whose names differ by a number alone
SAMPLES = {"#.jsonl", "completions_#.parquet", "train_data_step#.jsonl", "val_data_step#.jsonl"} | {
    "rollout_dump_data.step_#.jsonl",
}
DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Walk:
    """What was seen, shallow first and by name; `saved` are the places that look like saved states."""

    root: Path
    files: tuple[Path, ...] = ()  # that may tell something: no weights
    folders: tuple[Path, ...] = ()
    saved: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Seen:
    files: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    saved: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    names: int = 0


def walk(
    root: Path, *, deepest: int = DEEPEST, most: int = MOST, enter: Callable[[str], bool] = lambda name: True
) -> Walk:
    """The files and folders below `root`. What cannot be entered, or is too much, is noted and passed over. `enter`
    says which folders directly below `root` are of interest."""
    seen = _Seen()
    visited: set[tuple[int, int]] = set()
    waiting = deque([(root, 0)])
    while waiting and seen.names < most:
        folder, depth = waiting.popleft()
        try:
            state = folder.stat()
            if (state.st_dev, state.st_ino) in visited:
                continue  # a link that leads back
            visited.add((state.st_dev, state.st_ino))
            files, folders = _listed(folder, most - seen.names, seen)
        except OSError as error:
            seen.notes.append(f"{folder.name or folder} could not be entered: {error.strerror or error}")
            continue
        seen.folders.append(folder)
        _take_files(seen, files)
        inside_state = depth > 0 and looks_saved(folder.name) and folder.parent.name != "rollouts"
        for one in folders:
            if depth == 0 and not enter(one.name):
                continue
            if looks_saved(one.name):
                seen.saved.append(one)
            if not inside_state and depth < deepest:
                waiting.append((one, depth + 1))
    if seen.names >= most:
        seen.notes.append(f"{root.name or root} holds more than {most} names; the rest was not looked at")
    return Walk(root, tuple(seen.files), tuple(seen.folders), tuple(seen.saved), tuple(seen.notes))


def _listed(folder: Path, most: int, seen: _Seen) -> tuple[list[Path], list[Path]]:
    """What a folder holds, by name: the order in which a disk gives it means nothing."""
    files: list[str] = []
    folders: list[tuple[bool, str]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if most <= 0:
                break
            seen.names += 1
            most -= 1
            try:
                if entry.is_dir():
                    if entry.name not in NOT_ENTERED:
                        folders.append((entry.is_symlink(), entry.name))  # `latest` leads to what has a name of its own
                elif entry.is_file():
                    files.append(entry.name)
            except OSError:
                continue
    kept = sorted(_without_heaps(files, folder, seen))
    return [folder / name for name in kept], [folder / name for _, name in sorted(folders)]


def _without_heaps(names: list[str], folder: Path, seen: _Seen) -> list[str]:
    """The names without those of which there are thousands that differ by a number alone, unless samples are called so:
    pictures, shards, caches."""
    if len(names) <= HEAP:
        return names
    shapes = [DIGITS.sub("#", name) for name in names]
    heaps = {shape for shape, count in Counter(shapes).items() if count > HEAP and shape not in SAMPLES}
    if heaps:
        shown = ", ".join(sorted(heaps)[:3])
        seen.notes.append(f"{folder.name or folder} holds thousands of files like {shown}; they were not looked at")
    return [name for name, shape in zip(names, shapes, strict=True) if shape not in heaps]


def _take_files(seen: _Seen, files: list[Path]) -> None:
    for file in files:
        suffix = file.suffix
        if suffix in STATES:
            seen.saved.append(file)
        elif suffix not in WEIGHTS:
            seen.files.append(file)
