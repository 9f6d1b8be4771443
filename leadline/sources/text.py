"""Files that grow: what was added since the last look, unpacked, in blocks, and for text in whole lines."""

from __future__ import annotations

import codecs
import contextlib
import itertools
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from ..progress import tell
from .source import HEAD, Log, Parser

BLOCK = 1 << 22  # bytes read at a time
GZIP = b"\x1f\x8b"
WIDE = (b"\xff\xfe", b"\xfe\xff")  # as PowerShell writes what is sent to a file: two bytes a letter
IDENTITY, OF_TEXT = 64, 4096  # first bytes by which a replaced file is told from one that grew
TRAINED = "\x1c"  # stands behind the training in what a notebook printed: nobody prints a separator of files
LONGEST = 1 << 24  # bytes of a line; a longer one is a dump of something, and is left out


class GrowingFile:
    """Hands each new stretch of a file to a decoder once. Reading again costs what was added."""

    def __init__(self, path: Path, identity: int = IDENTITY) -> None:
        self.path, self._identity = path, identity
        self.gone = False  # it could be read before and no longer can
        self.offset = 0  # bytes decoded
        self._seen: tuple[int, int, int] | None = None  # inode, size and time of the last look
        self._start = b""

    @property
    def torn(self) -> bool:
        """Whether bytes are left that make no complete record yet."""
        return self._seen is not None and self.offset < self._seen[1]

    def update(self, decode: Callable[[bytes, int, int], int], start_over: Callable[[], None]) -> bool:
        """Hand what is new to `decode(data, offset, size of the file)`, which returns how many bytes it took: more than
        it was given skips ahead, none waits for more. Call `start_over` if the file was cut or replaced. A file that
        vanishes after it was read keeps what was read; one that never opened raises OSError."""
        try:
            with self.path.open("rb") as file:
                self.gone = False
                state = os.fstat(file.fileno())
                seen = (state.st_ino, state.st_size, state.st_mtime_ns)
                if seen == self._seen:
                    return False
                start = file.read(min(self._identity, state.st_size))
                if self._seen is not None and not (
                    self._seen[0] == state.st_ino and state.st_size >= self.offset and start.startswith(self._start)
                ):
                    self.offset = 0
                    start_over()
                self._seen, self._start = seen, start
                while self.offset < state.st_size:
                    file.seek(self.offset)
                    # What is written meanwhile waits for the next look, or it would be taken twice.
                    used = decode(file.read(min(BLOCK, state.st_size - self.offset)), self.offset, state.st_size)
                    if used <= 0:
                        break
                    self.offset = min(self.offset + used, state.st_size)
                    tell(f"reading {self.path.name}", self.offset, state.st_size)
        except OSError:
            if self._seen is None:
                raise
            changed, self.gone = not self.gone, True
            return changed
        return True


class TextReader:
    """A text file behind a parser."""

    def __init__(self, path: Path, parser: Callable[[], Parser]) -> None:
        self._file, self._new_parser = GrowingFile(path, OF_TEXT), parser
        self._start_over()

    def _start_over(self) -> None:
        self._parser = self._new_parser()
        self._packed: Unpacking | Narrowing | None = None

    def update(self) -> bool:
        return self._file.update(self._decode, self._start_over)

    def _decode(self, data: bytes, offset: int, size: int) -> int:
        if offset == 0:
            self._packed = _machine(data)
        for piece in (data,) if self._packed is None else self._packed.feed(data):
            self._parser.feed(piece)
        return len(data)

    @property
    def log(self) -> Log:
        return self._parser.log()


class Unpacking:
    """The text inside gzip, a bounded piece at a time. What is torn or damaged ends it quietly."""

    def __init__(self) -> None:
        self._machine = zlib.decompressobj(wbits=31)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        with contextlib.suppress(zlib.error):
            while chunk:
                if piece := self._machine.decompress(chunk, BLOCK):
                    yield piece
                chunk = self._machine.unconsumed_tail
                if self._machine.eof:  # logs are often packed in several members, one after the other
                    chunk, self._machine = self._machine.unused_data, zlib.decompressobj(wbits=31)


class Narrowing:
    """Text of two bytes a letter as the text that everything else is."""

    def __init__(self) -> None:
        self._machine = codecs.getincrementaldecoder("utf-16")(errors="replace")

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        yield self._machine.decode(chunk).encode(errors="replace")


def _machine(head: bytes) -> Unpacking | Narrowing | None:
    """Return what unpacks a file that begins so; None if nothing has to."""
    return Unpacking() if head.startswith(GZIP) else Narrowing() if head.startswith(WIDE) else None


def unpacked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the text that comes in chunks as its writer wrote it, before it was packed."""
    first = next(chunks, b"")
    machine = _machine(first)
    for chunk in itertools.chain([first], chunks):
        yield from (chunk,) if machine is None else machine.feed(chunk)


def head_of(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked; none of a folder."""
    if path.is_dir():
        return b""
    with path.open("rb") as file:
        return next(unpacked(iter([file.read(HEAD)])), b"")[:HEAD]


class Lines:
    """Cuts blocks into whole lines. The unfinished last line waits for more; one that never ends is dropped."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self.rest = b""  # the unfinished last line
        self._skipping = False  # inside a line that is too long
        self._too_long = 0

    def take(self, chunk: bytes) -> list[bytes]:
        """Return the whole lines that `chunk` completes, without their newlines."""
        block = self.block(chunk)
        return block[:-1].split(b"\n") if block else []

    def block(self, chunk: bytes) -> bytes:
        """Return the whole lines that `chunk` completes, in one piece."""
        if self._skipping:
            start = chunk.find(b"\n") + 1
            chunk, self._skipping = chunk[start:] if start else b"", not start
        text = self.rest + chunk
        end = text.rfind(b"\n") + 1
        self.rest = text[end:]
        if len(self.rest) > self._longest:
            self.rest, self._skipping = b"", True
            self._too_long += 1
        return text[:end]

    @property
    def notes(self) -> tuple[str, ...]:
        if not self._too_long:
            return ()
        what = "1 line was" if self._too_long == 1 else f"{self._too_long} lines were"
        return (f"{what} left out: longer than {self._longest >> 20} MiB",)
