"""What a source is, and what it hands on: a log as it was written, not yet understood.

A source is one kind of file or folder. It knows files, not metrics; what a key means is the vocabulary's business. A
new one is a module and an entry in SOURCES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Literal, Protocol

from ..event import Because
from ..records import dataclass, field
from ..run import Telemetry
from .table import Table

Repeats = Literal["resume", "rewrite", "parts"]
HEAD = 1 << 16  # bytes by which a file or stream is recognised
BLANK = b"\xef\xbb\xbf \t\r\n"  # a byte order mark among it
SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """Everything understood so far of one log. Its table goes on growing with the reader; the rest is as of now."""

    table: Table
    settings: Mapping[str, object] = field(default_factory=dict)  # what the log says that held from the start
    dialect: str | None = None  # where the carrier proves it: a dialect, or a family of which the keys tell the dialect
    trust: Literal["exact", "rounded"] = "exact"  # a console prints fewer digits than were logged
    # A step that comes again right away: it was trained again ("resume"), it is one more line about it ("rewrite": the
    # last value stands), or its rows are parts of one step, such as micro-batches ("parts": their mean stands).
    repeats: Repeats = "rewrite"
    counts_rows: bool = False  # the log names no step: its rows were counted
    attempts: int = 1  # how often it begins anew, the first time counted
    attempt: float | None = None  # order among logs of the same run: a number or the time it began
    writers: tuple[Mapping[str, object], ...] = ()  # what each process that wrote it said of itself when it began
    ended: Because | None = None  # why the run is over, where the log says so after its last row
    label: str | None = None  # what the run is called inside its file
    run_id: str | None = None  # what its tracker tells runs apart by, where names may repeat
    project: str | None = None  # what its tracker keeps it under
    captured: bool = False  # a tracker's copy of what was printed, beside what was logged: the least to be trusted
    torn: bool = False  # the log breaks off in the middle of a record
    unreadable: tuple[tuple[int, int], ...] = ()  # (line, rows read before it) of every record that made no sense
    not_rl: str | None = None  # what kind of log it is, where the carrier knows that it is no RL run
    notes: tuple[str, ...] = ()  # sentences for the user
    telemetry: Telemetry = field(default_factory=Telemetry)  # what the tracker sampled of the machine


class Reader(Protocol):
    """One log that may still grow."""

    def update(self) -> bool:
        """Take what was written since the last call, at the cost of the growth; True when something changed. The first
        call reads all. A file that was cut or replaced is read anew. Never raises for what the file holds."""

    @property
    def log(self) -> Log:
        """Everything understood so far."""


class Parser(Protocol):
    """A reader's inner half for text: bytes in, a log out. It knows no files, so a pipe reads like a file."""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes, cut anywhere. Never raises."""

    def log(self) -> Log:
        """Everything understood so far. An unfinished last record is held back, not guessed."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where logs come from: a module of this folder, imported once a file may be its own. `recognises(path, head)` says
    whether the file is one, given its first HEAD bytes, unpacked, or b"" for a folder; `open(path)` returns a reader
    for every run the file holds. One of text has a `parser`, so it also reads standard input, and needs no `open` if a
    file holds one run."""

    module: str
    name: str
    may_be: Callable[[Path, bytes], bool]  # cheap, and true of every file that the module recognises
    is_text: bool = False

    def recognises(self, path: Path, head: bytes) -> bool:
        return self.may_be(path, head) and bool(self.imported().recognises(path, head))

    def open(self, path: Path) -> tuple[Reader, ...]:
        from .text import TextReader  # here, as what reads files rests on what is said of them above

        module = self.imported()
        readers: tuple[Reader, ...] = (
            module.open(path) if hasattr(module, "open") else (TextReader(path, module.parser),)
        )
        return readers

    def parser(self) -> Parser:
        parser: Parser = self.imported().parser()
        return parser

    def imported(self) -> ModuleType:
        return import_module(f".{self.module}", __package__)


SOURCES = (  # asked in this order: folders, databases and binary files of trackers, then text
    Source("wandb_file", "wandb", lambda path, head: head.startswith(b":W&B") or path.suffix == ".wandb"),
    Source("swanlab_file", "swanlab", lambda path, head: head.startswith(b":SWL") or path.suffix == ".swanlab"),
    Source(
        "tensorboard",
        "tensorboard",
        lambda path, head: not head or ".tfevents." in path.name or b"brain.Event:" in head[:80],
    ),
    Source("mlflow_store", "mlflow", lambda path, head: not head or head.startswith(SQLITE)),
    Source("trackio_store", "trackio", lambda path, head: head.startswith(SQLITE)),
    Source("notebook", "notebook", lambda path, head: path.suffix == ".ipynb" or b'"cell_type"' in head, is_text=True),
    Source("json_lines", "jsonl", lambda path, head: head.lstrip(BLANK).startswith(b"{"), is_text=True),
    Source(
        "json_document",
        "json",
        lambda path, head: path.name == "trainer_state.json" or head.lstrip(BLANK).startswith((b"{", b"[")),
        is_text=True,
    ),
    Source("delimited", "csv", lambda path, head: True, is_text=True),
    Source("console", "console", lambda path, head: True, is_text=True),  # any text at all, so last
)


def recognised(place: Path, head: bytes) -> Source | None:
    """Return the source that reads a file or tracker folder. Text holds no zero."""
    plain = bool(head) and b"\0" not in head
    return next((one for one in SOURCES if (one.is_text or not plain) and one.recognises(place, head)), None)
