"""The journal: what a training process tells Leadline, one JSON object per line, appended and never rewritten.

A line is one `write` to a file opened for appending, so a crash tears the last line at most; readers skip that one.
Nothing waits for the disk: a power cut loses what the system had not yet written (docs/live.md).
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path

JOURNAL = "journal.jsonl"
STATE = "state.db"  # what the sidecar remembers, beside it
VERSION = 1
LONGEST_NAME = 100  # letters of a folder
TAIL = 1 << 16  # bytes at the end of a journal that hold its last lines
LARGEST_CONFIG = 1 << 20  # bytes: more is no settings but data

SECRET = re.compile(r"(?:^|[_.-])(?:key|token|secret|password|passwd|credentials?)$", re.IGNORECASE)
HIDDEN = "<hidden>"
PLAIN = frozenset((float, int, bool))  # what JSON writes as it is

_encode = json.JSONEncoder(separators=(",", ":"), skipkeys=True).encode
_plain = json.JSONEncoder(separators=(",", ":"), default=str).encode


class Appended:
    """A file that whole lines are appended to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            self._torn = size > 0 and file.read(1) != b"\n"

    def write(self, lines: bytes) -> None:
        """Append whole lines. If the last ones were cut off, by a crash or a full disk, these begin on a new line."""
        if self._torn:
            lines = b"\n" + lines
        self._torn = True
        self._torn = os.write(self._file, lines) != len(lines)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def first_line(
    name: str, *, token: str, planned_steps: int | None = None, config: Mapping[str, object] | None = None
) -> bytes:
    """Return the line by which a process begins: who it is, and its settings. `token` is its own: an answer to an
    earlier process of the run is none to it."""
    begins: dict[str, object] = {
        "leadline": VERSION,
        "run": name,
        "at": time.time(),
        "pid": os.getpid(),
        "started": began(os.getpid()),
        "token": token,
    }
    if planned_steps is not None:
        begins["planned_steps"] = int(planned_steps)
    settings = _plain(_settled(config or {}))
    line = _encode(begins)
    if len(settings) <= LARGEST_CONFIG:
        line = f'{line[:-1]},"config":{settings}}}'
    return line.encode() + b"\n"


def row(step: int, metrics: Mapping[str, object]) -> bytes:
    """Return the line of one row of metrics. What is not a number is left out."""
    data = metrics
    if not (type(metrics) is dict and PLAIN.issuperset(map(type, metrics.values()))):  # nearly always it is
        data = {name: number for key, value in metrics.items() for name, number in _numbers(str(key), value).items()}
    return f'{{"step":{int(step)},"at":{time.time():.6f},"data":{_encode(data)}}}\n'.encode()


def record(content: Mapping[str, object]) -> bytes:
    """Return the line of anything else; what is not JSON becomes text."""
    return _plain(content).encode() + b"\n"


def folder_for(name: str, parent: Path, *, resume: bool) -> Path:
    """Make the folder of a run below `parent`: its name, with a number if an earlier run has it. A resumed run
    continues in the newest one."""
    stem = re.sub(r"[^\w.+=-]+", "-", name).strip("-.")[:LONGEST_NAME] or "run"
    parent.mkdir(parents=True, exist_ok=True)
    taken: Path | None = None
    number = 1
    while True:
        folder = parent / (stem if number == 1 else f"{stem}-{number}")
        if resume and taken is not None and not folder.exists():
            return taken
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            taken, number = folder, number + 1


def started_at(pid: int) -> str:
    """Return when a process began, in the system's own count; "" if it is gone, a zombie, or there is no /proc. Read by
    hand: a training need not have psutil."""
    try:
        # The name of a program may hold blanks and brackets: what counts stands behind the last bracket.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if len(fields) < 20 or fields[0] in (b"Z", b"X") else fields[19].decode()


def began(pid: int) -> str:
    """Return the same with the boot: this tells a process from a later one with its pid."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
    return f"{started_at(pid)} {boot}"


def ended(journal: Path) -> bool:
    """Return whether the last line of a journal says that the run is over."""
    return _last_lines(journal)[-1].startswith(b'{"end":')


def last_step(journal: Path) -> int | None:
    """Return the step of the last row."""
    for line in reversed(_last_lines(journal)):
        if (row := re.match(rb'\{"step":(-?\d+),', line)) is not None:
            return int(row[1])
    return None


def _last_lines(journal: Path) -> list[bytes]:
    """Return the last finished lines of a journal; the first of them may be cut."""
    try:
        with journal.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            return file.read().rpartition(b"\n")[0].split(b"\n")
    except OSError:
        return [b""]


def _numbers(key: str, value: object) -> dict[str, float]:
    """Return the numbers in a value: of numpy, torch, and the like, or of an inner mapping under joined keys."""
    if isinstance(value, Mapping):
        return {
            name: number for inner, one in value.items() for name, number in _numbers(f"{key}/{inner}", one).items()
        }
    if type(value) in PLAIN:
        return {key: value}  # type: ignore[dict-item]  # just checked
    if value is None or isinstance(value, (str, bytes)):
        return {}
    try:
        return {key: float(value)}  # type: ignore[arg-type]  # what has no float says so
    except (TypeError, ValueError, RuntimeError):  # a list, an object, a tensor of many numbers
        return {}


def _settled(value: object, deepest: int = 12) -> object:
    """Return settings as JSON can hold them, OmegaConf's and argparse's objects, tuples, and paths among them."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if deepest == 0:
        return str(value)
    if isinstance(value, Mapping):
        return {
            str(key): HIDDEN if isinstance(one, str) and SECRET.search(str(key)) else _settled(one, deepest - 1)
            for key, one in value.items()
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_settled(one, deepest - 1) for one in value]
    return str(value)
