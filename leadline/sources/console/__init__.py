"""Console logs: whatever a trainer printed, among all else that was printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

from ...event import Because
from ...records import replace
from ..source import Log
from ..text import Lines
from .line import plain
from .mappings import Mappings
from .rows import Rows
from .tables import Boxes, Columns
from .words import Bars, Bullets, Pairs, Words

STRANGE = bytes({*range(9), *range(14, 32)} - {27})  # of no text
BARS = (b"it/s", b"s/it", b"Total optimization steps")
BANNER = b"Unsloth"
PIECE = 1 << 18  # bytes looked at between two chances to settle
SETTLED = 1 << 20  # bytes after which grammars that found nothing while others did are not asked any more
ROWS = 3  # and as many rows, with a reward among them
PATIENCE = 1 << 26  # bytes after which rows without one settle it too

# Settings of a data set or an evaluation also end in "steps"; these are the ones that say how many are trained.
PLANNED = re.compile(
    rb"""(?ix) (?<![\w.-])
    (?: (?:total|max|num|number\ of|planned) [\ _-] (?:of[\ _-])?
        (?P<training>(?:training|train|optimization|update|rl|grpo|ppo|policy)[\ _-])? (?:steps|iterations|updates)
      | (?P<of_it>(?:training|train) [\ _-] steps | num_rollout) )
    ["'*]* \s* (?: [:=]+ | \s ) \s* ["']? (?P<steps>\d[\d,_]{0,15}) (?![\d.\w])""",
)
EPOCHS = re.compile(rb"(?<![\w.-])num_train_epochs[\"']?\s*[:=]\s*[\"']?(\d{1,4}(?:\.\d+)?)(?![\d\w])")
FEWEST = 2  # steps of a plan
TAIL = 1 << 16  # bytes at the end of a log in which an end is looked for
# The surest first: a job that ran out of time is also called cancelled.
ENDED: tuple[tuple[Because, re.Pattern[bytes]], ...] = (
    ("time_limit", re.compile(rb"CANCELLED AT .*DUE TO TIME LIMIT|^State: TIMEOUT\b", re.MULTILINE)),
    ("preempted", re.compile(rb"CANCELLED AT .*DUE TO PREEMPTION|^State: PREEMPTED\b", re.MULTILINE)),
    (
        "out_of_memory",
        re.compile(rb"oom[-_]kill event|by the cgroup out-of-memory handler|^State: OUT_OF_MEMORY\b", re.MULTILINE),
    ),
    ("cancelled", re.compile(rb"\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT|^State: CANCELLED\b", re.MULTILINE)),
    (
        "completed",
        re.compile(
            rb"(?i)(?:^|[\]:|>=#*\-]\s*)training (?:is |has )?(?:complete[d]?|finished|done)\b|\bfinished training\b",
            re.MULTILINE,
        ),
    ),
)


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file is text: only reading it tells whether there are rows in it. A JSON document in which no
    carrier of JSON found rows holds none."""
    if not head.strip() or (path.suffix == ".json" and head.lstrip()[:1] in (b"{", b"[")):
        return False
    sample = head[:4096]
    strange = len(sample) - len(sample.translate(None, STRANGE))
    return sample[0] not in STRANGE and strange * 50 < len(sample) and not sample.startswith((b"PK", b"\x89", b"%PDF"))


class Grammar(Protocol):
    """One way in which trainers print a row. It names bytes without which no line is its own, so that the rest of a
    large log need not be looked at."""

    @property
    def marks(self) -> tuple[bytes, ...]:
        """A line of this grammar holds one of these."""

    def take(self, line: str, rows: Rows) -> bool:
        """Return whether the line was understood; what it holds is then filed."""


class Console:
    """A parser of console logs. Lines without any grammar's marks are never looked at one by one."""

    def __init__(self) -> None:
        self._lines = Lines()
        self._rows = Rows()
        # Lines in a loop's own words are kept apart: beside rows that a framework printed they are chatter.
        self._chatter = Rows()
        # The surest wording first: the first grammar that understands a line has it.
        self._words = Words()
        self._mappings = Mappings()
        self._boxes = Boxes()
        self._columns = Columns()
        self._bar_rows = Bars()
        self._grammars: list[Grammar] = [
            self._bar_rows,
            Pairs(),
            self._mappings,
            Bullets(),
            self._boxes,
            self._columns,
            self._words,
        ]
        # Announced at the start: steps, and whether they are surely of the training (`max_steps` alone may be an
        # agent's), and epochs. Of several nothing is known.
        self._steps, self._epochs = set[tuple[bool, int]](), set[float]()
        self._tail = b""  # in which an end is looked for
        self._found = [0] * len(self._grammars)
        self._seen = 0
        self._settled = False
        self._bars = True
        self._marks = self._all_marks()

    def feed(self, chunk: bytes) -> None:
        chunk = chunk.replace(b"\r", b"\n")
        self._tail = chunk[-TAIL:] if len(chunk) >= TAIL else (self._tail + chunk)[-TAIL:]
        block, start = self._lines.block(chunk), 0
        while start < len(block):
            stop = len(block) if self._settled else block.find(b"\n", min(start + PIECE, len(block) - 1)) + 1
            self._look(block, start, stop)
            start = stop

    def _look(self, block: bytes, start: int, end: int) -> None:
        """Take the whole lines between two places of a block."""
        if not self._rows.unsloth and self._seen < SETTLED and block.find(BANNER, start, end) >= 0:
            self._rows.unsloth = True
        if self._seen < SETTLED:
            self._epochs |= {float(epochs) for epochs in EPOCHS.findall(block, start, end)}
            for plan in PLANNED.finditer(block, start, end):
                if (steps := int(plan["steps"].replace(b",", b"").replace(b"_", b""))) >= FEWEST:
                    self._steps.add((bool(plan["training"] or plan["of_it"]), steps))
        done = start
        for first, last in (*_lines_with(block, self._marks, start, end), (end, end)):
            while self._goes_on and done < first:  # what is open goes on with the very next line
                stop = block.find(b"\n", done, first)
                stop = first if stop < 0 else stop
                self._take(plain(block[done:stop]))
                done = stop + 1
            if done <= first < end:
                self._take(plain(block[first:last]))
                done = last + 1
        self._seen += end - start
        enough = not self._settled and self._seen >= SETTLED and self._rows.taken >= ROWS
        if enough and (self._rows.rewarded or self._seen >= PATIENCE):
            self._settle()

    @property
    def _goes_on(self) -> bool:
        """Whether the very next line may belong to what was read, whatever it holds."""
        return self._mappings.is_open or self._columns.is_open or (self._words.is_open and not self._settled)

    def _take(self, line: str) -> None:
        if self._bars:
            self._mappings.counted.see(line)
            if self._rows.see(line) and "=" not in line:
                return
        for place, grammar in enumerate(self._grammars):
            rows = self._chatter if grammar is self._words else self._rows
            before = rows.taken
            if grammar.take(line, rows):
                self._found[place] += rows.taken - before
                return

    def _settle(self) -> None:
        """Drop the grammars that have found nothing: a trainer does not change its wording."""
        self._settled = True
        useful = [*map(bool, self._found)]
        useful[self._grammars.index(self._words)] = False
        kept = [place for place, found in enumerate(useful) if found]
        self._grammars = [self._grammars[place] for place in kept]
        self._found = [self._found[place] for place in kept]
        self._bars = self._rows.family == "trl"
        self._marks = self._all_marks()

    def _all_marks(self) -> tuple[bytes, ...]:
        marks = [mark for grammar in self._grammars for mark in grammar.marks]
        return tuple(dict.fromkeys([*marks, *(BARS if self._bars else ())]))

    def log(self) -> Log:
        rest = self._lines.rest
        if rest.rstrip().endswith(b"}"):  # a printed mapping that is closed cannot grow
            before = self._rows.taken
            self._take(plain(rest))
            if self._rows.taken > before:
                self._lines.rest = b""
        self._boxes.finish(self._rows)
        torn = any(mark in self._lines.rest for mark in self._marks if mark not in BARS)
        kept_apart = (self._mappings.counted, self._chatter, self._words.counted, self._bar_rows.counted)
        found = [rows for rows in (self._rows, *kept_apart) if rows.taken]
        enough = [rows for rows in found if rows.taken >= ROWS]
        # A loss that is printed earlier, such as that of a reward model, does not make the rest no RL.
        told = next((rows for rows in enough if rows.scored), None)
        rows = told or next(iter(enough or found), self._rows)
        if self._rows.family is not None and self._rows.taken and self._rows.rewarded:
            rows = self._rows  # what a framework printed, however little it is yet: the rest is talk about samples
        planned = {steps for sure, steps in self._steps if sure} or {steps for _, steps in self._steps}
        log = rows.log(torn=torn, notes=self._lines.notes, planned=min(planned) if len(planned) == 1 else None)
        epochs = {"num_train_epochs": min(self._epochs)} if len(self._epochs) == 1 else {}
        return replace(log, settings={**epochs, **log.settings}, ended=self._ended())

    def _ended(self) -> Because | None:
        """Return why the run is over; None if nothing says so, or rows follow what does."""
        for because, says in ENDED:
            if heard := list(says.finditer(self._tail)):
                after = Console()
                after.feed(self._tail[heard[-1].end() :])
                return None if after._rows.taken or after._chatter.taken >= ROWS else because
        return None


def _lines_with(block: bytes, marks: tuple[bytes, ...], start: int, stop: int) -> list[tuple[int, int]]:
    """Return where the lines lie that hold one of the marks, in order."""
    spans: dict[int, int] = {}
    for mark in marks:
        at = block.find(mark, start, stop)
        while at >= 0:
            end = block.find(b"\n", at, stop)
            end = stop if end < 0 else end
            spans[max(block.rfind(b"\n", start, at) + 1, start)] = end
            at = block.find(mark, end if mark[-1:] == b"\n" else end + 1, stop)
    return sorted(spans.items())


parser = Console
