"""A checkpoint kept safe from whatever deletes old ones, and a note about it beside the checkpoints.

A second name for every file (a hard link) costs no room and no time, and holds the data when the first name is deleted.
Where a file system has no such thing, the files are copied; where there is no room either, the caller is told so.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

KEPT = "kept-by-leadline"
NOTE = "LEADLINE.md"


def keep(checkpoint: Path, beside: Path) -> Path | None:
    """The checkpoint under a name of its own, in a folder in `beside` that no rotation looks into; None where it cannot
    be kept. It is whole or not there."""
    if not checkpoint.is_dir():
        return None
    kept = beside / KEPT / checkpoint.name
    if kept.is_dir():
        return kept
    unfinished = beside / KEPT / f".{checkpoint.name}.{os.getpid()}"
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copytree(checkpoint, unfinished, copy_function=os.link, symlinks=True)
        except (OSError, shutil.Error):  # another disk, or one without links
            shutil.rmtree(unfinished, ignore_errors=True)
            shutil.copytree(checkpoint, unfinished, symlinks=True)
        unfinished.rename(kept)
    except (OSError, shutil.Error):
        shutil.rmtree(unfinished, ignore_errors=True)
        return kept if kept.is_dir() else None
    return kept


def let_go(kept: Path) -> None:
    """Remove what `keep` made, and nothing else."""
    if kept.parent.name == KEPT:
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
