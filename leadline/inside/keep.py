"""A checkpoint kept safe from whatever deletes old ones, and a note about it beside the checkpoints.

A second name for every file (a hard link) costs no room and no time, and holds the data when the first name is deleted.
A file system that has no such thing, or has no room for it now, says so to the caller.
"""

from __future__ import annotations

import itertools
import os
import shutil
import time
from pathlib import Path

KEPT = "kept-by-leadline"
NOTE = "LEADLINE.md"


def keep(checkpoint: Path, beside: Path, *, copy: bool = False) -> Path | None:
    """The checkpoint under a name of its own, in a folder in `beside` that no rotation looks into; None where it cannot
    be kept. It is whole or not there. `copy`: by copying it, which takes room and time."""
    if not checkpoint.is_dir():
        return None
    kept = _place_for(checkpoint, beside / KEPT)
    if kept.is_dir():
        return kept
    unfinished = kept.with_name(f".{kept.name}.{os.getpid()}")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(checkpoint, unfinished, copy_function=shutil.copy2 if copy else os.link, symlinks=True)
        if not _holds(unfinished, checkpoint):  # it was deleted or written over meanwhile
            raise OSError
        unfinished.rename(kept)
    except (OSError, shutil.Error):
        shutil.rmtree(unfinished, ignore_errors=True)
        return kept if kept.is_dir() else None
    return kept


def part(checkpoint: Path, beside: Path) -> None:
    """A checkpoint of this name is about to be saved again. Trainers write into the files that are there, and what is
    kept shares them: it is left the only name of them."""
    if not checkpoint.is_dir() or not (beside / KEPT).is_dir():
        return
    kept = {_node(file) for file in (beside / KEPT).rglob("*") if file.is_file() and not file.is_symlink()}
    for file in checkpoint.rglob("*"):
        if file.is_file() and not file.is_symlink() and _node(file) in kept:
            file.unlink()


def _place_for(checkpoint: Path, folder: Path) -> Path:
    """Where this very checkpoint is kept, or will be: a run that is trained again gives its names twice."""
    for number in itertools.count(1):
        place = folder / (checkpoint.name if number == 1 else f"{checkpoint.name}-{number}")
        if not place.exists() or _holds(place, checkpoint):
            return place
    raise AssertionError


def _holds(kept: Path, checkpoint: Path) -> bool:
    """Whether all files of a checkpoint are there, the same ones or copies of them."""
    for file in checkpoint.rglob("*"):
        if file.is_symlink() or not file.is_file():
            continue
        ours = kept / file.relative_to(checkpoint)
        if not ours.is_file() or not (_node(ours) == _node(file) or _looks(ours) == _looks(file)):
            return False
    return checkpoint.is_dir()


def _node(file: Path) -> tuple[int, int]:
    state = file.stat()
    return state.st_dev, state.st_ino


def _looks(file: Path) -> tuple[int, int]:
    state = file.stat()
    return state.st_size, state.st_mtime_ns // 1_000_000_000  # not every disk keeps more than seconds


def size_of(checkpoint: Path) -> int:
    """Bytes of a checkpoint."""
    return sum(file.stat().st_size for file in checkpoint.rglob("*") if file.is_file() and not file.is_symlink())


def let_go(kept: Path) -> None:
    """Remove what `keep` made, and nothing else."""
    if kept.parent.name == KEPT and not kept.is_symlink():
        shutil.rmtree(kept, ignore_errors=True)


def note(folder: Path, *, step: int, said: str, kept: str, saved: str, resume: str | None) -> None:
    """Lay down what was seen, what is kept and how to go on. An older note moves aside."""
    place = folder / NOTE
    if place.exists():
        place.rename(folder / f"LEADLINE-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(place.stat().st_mtime))}.md")
    going_on = (
        f"    trainer.train(resume_from_checkpoint={resume!r})\n\n"
        "A run that is resumed is judged anew: nothing said before holds for it. Change what broke it first, or\n"
        "it will break again. To go on regardless, leave LeadlineCallback out or pass stop=False.\n"
        if resume is not None
        else "There is no checkpoint to go back to that Leadline knows of.\n"
    )
    place.write_text(
        f"# Leadline stopped this training at step {step}\n\n"
        f"{time.strftime('%Y-%m-%d %H:%M:%S UTC', time.gmtime())}\n\n"
        f"## What was seen\n\n{_quoted(said)}\n\n"
        f"## What is kept\n\n- {kept}\n- {saved}\n\n"
        f"## How to go on\n\n{going_on}\n"
        f"`leadline read {folder}` shows the whole reading, `leadline history {folder}` what was said before.\n",
        encoding="utf-8",
        errors="replace",
    )


def _quoted(text: str) -> str:
    """Text from elsewhere as a quotation: nothing in it is markup of ours."""
    return "\n".join(f"> {line}" for line in text.splitlines()) or ">"
