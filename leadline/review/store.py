"""Reviews on disk: one append-only file of JSON lines per run, in the user's state folder or beside the run.

A line is written by one call under a lock, so writers never interleave and a killed one leaves at most half a line,
which is skipped. Nothing in a file is trusted: a line is a review only if every field is what it must be. A path may
come to hold another run: a review keeps digests of samples its reader saw, and counts as long as the run holds them.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..errors import FURTHEST, CannotWrite
from ..records import asdict, astuple, dataclass, replace
from ..run import Grade, Review, Rollouts, Run
from ..state import replacing, state_folder
from ..words.review import damaged_lines, of_other_samples

if sys.platform != "win32":  # there a short append is one call as well
    import fcntl

BESIDE = ".leadline-reviews.jsonl"
LARGEST = 4_000_000  # bytes of a file that are read
TEXT = 300  # characters of a reader's name or note
MOST_GRADES = 1000
DIGEST = 12  # bytes that identify the samples of a step
MOST_SEEN = 2  # steps with a digest


@dataclass(frozen=True, slots=True)
class Reviews:
    """The reviews of one run, how many lines could not be read, and how many reviews are of other samples than the run
    holds."""

    reviews: tuple[Review, ...] = ()
    damaged: int = 0
    of_others: int = 0


def reviews_folder() -> Path:
    return state_folder() / "reviews"


def load(path: str) -> Reviews:
    """Return the reviews of the run at `path`, from the state folder and from beside it, oldest first."""
    found: list[Review] = []
    damaged = 0
    for file, runs in _places(path):
        told, broken = _lines(file)
        damaged += broken
        for line in told:
            review = _review(line)
            if review is None:
                damaged += 1
            elif line.get("run") in runs:
                found.append(review)
    return Reviews(tuple(sorted(dict.fromkeys(found), key=lambda review: review.at)), damaged)


def load_of(run: Run) -> Reviews:
    """Return the reviews of a run, without those of other samples than it holds."""
    kept = load(run.path)
    held = {step: _digest(run.rollouts, step) for step in {step for one in kept.reviews for step, _ in one.saw}}
    right = tuple(one for one in kept.reviews if all(held[step] in ("", digest) for step, digest in one.saw))
    return Reviews(right, kept.damaged, len(kept.reviews) - len(right))


def as_seen(review: Review, samples: Rollouts) -> Review:
    """Return the review with digests of what its reader saw: at the first step kept and at the last one. Of several the
    newest is passed over, since its file may still be written to."""
    steps = [step for step in samples.steps if step <= review.seen_until]
    seen = dict.fromkeys((*steps[:1], *(steps[-2:-1] if len(steps) > 2 else steps[-1:])))
    return replace(review, saw=tuple((step, digest) for step in seen if (digest := _digest(samples, step))))


def _digest(samples: Rollouts, step: int) -> str:
    """Return what identifies the samples of a step, in any order; "" where there are none."""
    texts = sorted(f"{one.prompt}\0{one.output}\0" for one in samples.at(step)) if step in samples.steps else []
    return blake2b("".join(texts).encode("utf-8", "replace"), digest_size=DIGEST).hexdigest() if texts else ""


def with_reviews(run: Run) -> Run:
    """Return the run with the reviews that were given of what it holds, of each reader the one who saw furthest, and of
    those the last; as it is if it carries some already."""
    if run.reviews:
        return run
    kept = load_of(run)
    if kept == Reviews():
        return run
    last = max((run.last_step or 0, *run.rollouts.steps[-1:]))
    skipped = ((damaged_lines, kept.damaged), (of_other_samples, kept.of_others))
    notes = (*run.notes, *(say(count) for say, count in skipped if count))
    held = sorted((one for one in kept.reviews if one.seen_until <= last), key=lambda one: (one.seen_until, one.at))
    latest = {one.reader: one for one in held}
    return replace(run, reviews=tuple(one for one in kept.reviews if one is latest.get(one.reader)), notes=notes)


def add(path: str, review: Review, *, beside: bool = False) -> Path:
    """Append a review of the run at `path` and return the file it went to."""
    if not any(_places(path)):
        raise CannotWrite("A review needs the path of a run.", next_step="pass a file or folder")
    file, run = _beside(path) if beside else _home(path)
    review = replace(review, reader=_text(review.reader), note=_text(review.note), at=review.at or time.time())
    line = {"run": run, **asdict(review), "grades": [astuple(grade) for grade in review.grades]}
    with _explained(file):
        if not beside:
            file.parent.mkdir(parents=True, exist_ok=True)
        with _locked(file) as number:
            end = os.lseek(number, 0, os.SEEK_END)
            os.lseek(number, max(end - 1, 0), os.SEEK_SET)
            torn = os.read(number, 1) not in (b"", b"\n")  # a killed writer: its half line ends here
            os.write(number, b"\n" * torn + json.dumps(line).encode() + b"\n")
            os.fsync(number)
    return file


def forget(path: str) -> int:
    """Delete all reviews of the run at `path`, none of the folder around it; return how many there were."""
    count = 0
    for file, (*_, own) in _places(path):  # its last name there
        if not file.is_file() or file.is_symlink():
            continue
        with _explained(file), _locked(file):
            told, _ = _lines(file)
            others = [line for line in told if line.get("run") != own]
            count += sum(_review(line) is not None for line in told if line not in others)
            if not others:
                file.unlink()
            elif len(others) < len(told):
                with replacing(file) as kept:
                    shutil.copymode(file, kept.name)
                    kept.writelines(json.dumps(line).encode() + b"\n" for line in others)
    return count


def mark(path: str) -> str:
    """Return another text whenever a review of the run at `path` was added or deleted; "" as long as there is none."""
    marks = []
    for file, _ in _places(path):
        with contextlib.suppress(OSError):
            state = file.stat()
            marks.append(f"{file}\0{state.st_size}\0{state.st_mtime_ns}")
    return blake2b("\0".join(marks).encode("utf-8", "replace"), digest_size=8).hexdigest() if marks else ""


def _places(path: str) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Return the files that may hold reviews of a run, each with the names it may have there. What was said of a folder
    holds for a log in it, too."""
    if path in ("", "-") or len(path) >= 4096 or "\0" in path:
        return
    file, run = _home(path)
    yield file, (run,)
    if "://" in path:
        return
    beside, name = _beside(path)
    if name:
        above, folder = _home(str(beside.parent))
        yield above, (folder, run)
    yield beside, ("", name)


def _home(path: str) -> tuple[Path, str]:
    run = path if "://" in path else os.path.realpath(path)
    return reviews_folder() / f"{blake2b(run.encode('utf-8', 'replace'), digest_size=12).hexdigest()}.jsonl", run


def _beside(path: str) -> tuple[Path, str]:
    """Return the file beside a run, and what the run is called in it: nothing if it is the folder itself."""
    if "://" in path:
        raise CannotWrite("Reviews of a remote run are kept in your state folder.", next_step="leave out --beside")
    place = Path(os.path.realpath(path))
    is_folder = os.path.isdir(place)  # noqa: PTH112 - Path.is_dir raises for a name that is too long
    return (place / BESIDE, "") if is_folder else (place.parent / BESIDE, place.name)


def _lines(file: Path) -> tuple[list[Mapping[str, Any]], int]:
    """Return the objects in a file, and how many lines are not one."""
    try:
        number = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return [], 0
    with os.fdopen(number, "rb") as opened:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return [], 0
        data = opened.read(LARGEST)
    told, broken = list[Mapping[str, Any]](), 0
    for raw in data.splitlines():
        if not raw.strip():
            continue
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            line = None
        if isinstance(line, dict):
            told.append(line)
        else:
            broken += 1
    return told, broken


def _review(line: Mapping[str, Any]) -> Review | None:
    """Return the review in a line; None unless every field is what it must be."""
    answer, since = line.get("answer"), line.get("since_step")
    if answer not in ("ok", "hacked"):
        return None
    try:
        review = Review(
            answer,
            _step(line.get("seen_until")),
            None if since is None else _step(since),
            tuple(Grade(_step(first), _step(last), _number(mark)) for first, last, mark in line.get("grades", [])),
            _text(line.get("reader")),
            _number(line.get("at")),
            tuple((_step(step), digest) for step, digest in line.get("saw", [])),
            _text(line.get("note")),
        )
    except (TypeError, ValueError, OverflowError):
        return None
    grades, saw = review.grades, review.saw
    right = all(one.first_step <= one.last_step and 0 <= one.quality <= 1 for one in grades)
    right &= all(before.first_step <= after.first_step for before, after in pairwise(grades))
    right &= all(isinstance(digest, str) for _, digest in saw)
    return review if right and len(grades) <= MOST_GRADES and len(saw) <= MOST_SEEN else None


def _step(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= FURTHEST:
        raise ValueError
    return value


def _number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError
    return float(value)


def _text(value: object) -> str:
    """Return one line of text without anything a terminal obeys."""
    if not isinstance(value, str):
        return ""
    return "".join(char if char.isprintable() else " " for char in value[:TEXT]).strip()


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[int]:
    """Return the file open for appending, held by nobody else, and still the one of that name."""
    while True:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        number = os.open(file, flags, 0o600)
        try:
            if sys.platform != "win32":
                fcntl.flock(number, fcntl.LOCK_EX)
            is_still = False
            with contextlib.suppress(FileNotFoundError):  # whoever deletes reviews may have replaced it meanwhile
                is_still = os.path.samestat(os.fstat(number), file.stat())
            if is_still:
                yield number
                return
        finally:
            os.close(number)


@contextlib.contextmanager
def _explained(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWrite(
            f"Can't write {file}: {error.strerror or error}.",
            next_step="make the folder writable, or set XDG_STATE_HOME",
        ) from error
