"""LevelDB's log framing, in which W&B and SwanLab keep their records: bytes in, whole records out.

A file is cut into blocks of 32 KiB. A chunk is a checksum, a length, a type and data, and never crosses a block; a
record is one chunk or several. After damage the next chunk whose checksum agrees is looked for, so that only the
records it touched are lost.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from .source import Log, Reader
from .text import GrowingFile
from .tracked import Tracked

FILE_HEADER = 7  # the writer's mark: four letters and a version
BLOCK = 1 << 15
CHUNK_HEADER = struct.Struct("<IHB")  # CRC-32 (of zlib, over type and data), length, type
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
LARGEST = 1 << 24  # bytes of a record that is still put together; larger ones are pictures and tables


class Framing:
    """Puts the records of one file together, stretch after stretch."""

    def __init__(self) -> None:
        self.damaged = 0  # records that were lost
        self._parts: list[bytes] | None = None  # of a record whose last chunk has not come yet
        self._size = 0

    def records(self, data: bytes, offset: int) -> tuple[list[bytes], int]:
        """Return every record that ends in `data`, which stands at `offset` of the file and begins where a chunk does,
        and how many bytes need not be read again."""
        found: list[bytes] = []
        if not offset and len(data) < FILE_HEADER:
            return found, 0
        at = 0 if offset else FILE_HEADER
        while True:
            block_end = at + BLOCK - (offset + at) % BLOCK
            if block_end - at < CHUNK_HEADER.size:  # too short for a chunk: filled up with zeros
                if block_end > len(data):
                    return found, at
                at = block_end
                continue
            if at + CHUNK_HEADER.size > len(data):
                return found, at
            if (end := _chunk_end(data, at, min(block_end, len(data)))) is not None:
                if (record := self._take(data[at + CHUNK_HEADER.size : end], data[at + 6])) is not None:
                    found.append(record)
                at = end
                continue
            stop = min(block_end, len(data))
            places = (place for place in range(at + 1, stop - CHUNK_HEADER.size) if FULL <= data[place + 6] <= LAST)
            following = next((place for place in places if _chunk_end(data, place, stop, least=1) is not None), None)
            if following is None and block_end >= len(data):
                return found, at  # the chunk is still being written, as far as one can tell
            if data[at:block_end].strip(b"\0"):  # zeros to the end of the block are a writer's padding
                self._lose()
            at = block_end if following is None else following

    def _take(self, chunk: bytes, kind: int) -> bytes | None:
        """Return the record that this chunk completes, if it does."""
        if kind in (FULL, FIRST) and self._parts is not None:
            self._lose()  # the record before it never ended
        if kind == FULL:
            return chunk
        if kind == FIRST:
            self._parts, self._size = [chunk], len(chunk)
            return None
        if self._parts is None:
            return None  # of a record whose beginning was lost
        self._size += len(chunk)
        if self._size <= LARGEST:
            self._parts.append(chunk)
        if kind == MIDDLE:
            return None
        record = b"".join(self._parts) if self._size <= LARGEST else None
        self._parts = None
        return record

    def _lose(self) -> None:
        self.damaged += 1
        self._parts = None


class FramedReader:
    """A growing file of framed records of one run: hands each record to `_take` once. MARK begins the file, and SUFFIX
    ends its name."""

    MARK = b""
    SUFFIX = ""

    def __init__(self, path: Path) -> None:
        self._path, self._growing = path, GrowingFile(path)
        self._begin()

    @classmethod
    def recognises(cls, path: Path, head: bytes) -> bool:
        named = path.suffix == cls.SUFFIX and not path.is_dir()
        return head.startswith(cls.MARK) or (named and begins_like(head, cls.MARK))

    @classmethod
    def open(cls, path: Path) -> tuple[Reader, ...]:
        return (cls(path),)

    def _begin(self) -> None:
        self._framing = Framing()
        self._foreign = False  # it does not begin as such a file does
        self._strange = 0  # records that are whole, by their checksum, and yet not what is written today
        self._run = Tracked(ended=False)

    def _take(self, record: bytes) -> None:
        """File one record; raise ValueError for one that is not what is written today."""
        raise NotImplementedError

    def update(self) -> bool:
        return self._growing.update(self._decode, self._begin)

    def _decode(self, data: bytes, offset: int, size: int) -> int:
        if not offset:
            self._foreign = not begins_like(data, self.MARK)
        if self._foreign:
            return 0
        records, used = self._framing.records(data, offset)
        for record in records:
            try:
                self._take(record)
            except ValueError:
                self._strange += 1
        return used

    @property
    def log(self) -> Log:
        name, notes = self._path.name, []
        if self._foreign:
            notes.append(f"{name} does not start with {self.MARK.decode()} and was not read")
        if self._framing.damaged:
            notes.append(f"{name}: {self._framing.damaged} damaged records were left out")
        if self._strange:
            notes.append(f"{name}: {self._strange} records were of an unknown kind")
        if self._growing.gone:
            notes.append(f"{name} is gone; what was read from it before stands")
        return self._run.log(notes, torn=self._growing.torn and not self._foreign)


def begins_like(head: bytes, mark: bytes) -> bool:
    """Return whether a file that begins with `head` is framed so: by its mark, or by its first chunk where that is
    damaged."""
    if head.startswith(mark[: len(head)]):
        return True
    return len(head) >= FILE_HEADER + CHUNK_HEADER.size and _chunk_end(head, FILE_HEADER, len(head)) is not None


def _chunk_end(data: bytes, at: int, stop: int, least: int = 0) -> int | None:
    """Return where the chunk at `at` ends, which holds `least` bytes or more; None if it ends after `stop`, or does not
    agree with its checksum."""
    checksum, length, kind = CHUNK_HEADER.unpack_from(data, at)
    end = int(at + CHUNK_HEADER.size + length)
    if not FULL <= kind <= LAST or length < least or end > stop or zlib.crc32(data[at + 6 : end]) != checksum:
        return None
    return end
