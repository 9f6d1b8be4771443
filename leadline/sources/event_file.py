"""TensorBoard's event records: bytes in, columns of scalars out.

A record is a length, the checksum of the length, the event and the checksum of the event. Nearly all events of a
training run are one scalar in one fixed layout, so those are decoded together with numpy; the rest one by one. Every
checksum is verified (docs/decisions/0005): a flipped bit costs its record and never becomes a value.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .crc32c import LONGEST, crc32c, crc32c_of_many, masked, masked_of_many
from .event_values import Layouts, clock, contents

HEADER, TRAILER = 12, 4  # length and its checksum; checksum of the event
SHORTEST = 9 + 2 + 2 + 2 + 5  # an event of one scalar: wall time, then summary, value, tag and number
SAMPLED = 1 << 20  # bytes of a record beyond which it holds pictures, graphs or tables, never only scalars
TRIED = 32  # places that are tried one by one
NEAR, FAR = 1 << 10, 1 << 16  # bytes that are searched at once for the next record
KNOWN_HEADERS = 4096  # lengths remembered with their checksum: a log repeats a few hundred
FARTHEST_STEP = 2**53  # as everywhere: beyond it a float cannot count

Column = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]  # steps, values, wall times


@dataclass(slots=True)
class Scalars:
    """What a stretch of an event file holds."""

    columns: dict[str, Column] = field(default_factory=dict)  # by tag, each in written order
    texts: dict[str, str] = field(default_factory=dict)  # tag to text, first one wins: settings are written once
    settings: dict[str, object] = field(default_factory=dict)  # of the hparams plugin
    started: float | None = None  # wall time of the first event
    damaged: int = 0  # records that were lost
    used: int = 0  # bytes taken; what follows is a record that is not complete yet
    wants: int = 0  # how long that record will be, where its header is there


@dataclass(slots=True)
class _Odd:
    """Scalars of events that had to be decoded one by one, and which record each stood in."""

    records: list[int] = field(default_factory=list)
    tags: list[bytes] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    walls: list[float] = field(default_factory=list)

    def add(self, record: int, tag: bytes, step: int, value: float, wall: float) -> None:
        self.records.append(record)
        self.tags.append(tag)
        self.steps.append(step)
        self.values.append(value)
        self.walls.append(wall)


@dataclass(frozen=True, slots=True)
class _Clocked:
    """Records that begin with a wall time and a step, decoded together."""

    records: NDArray[np.int64]
    steps: NDArray[np.int64]
    walls: NDArray[np.float64]
    behind: NDArray[np.int64]  # the place after the step
    ends: NDArray[np.int64]
    plain: NDArray[np.bool_]  # the rest is `summary{value{tag, simple_value}}` and nothing else
    tags: NDArray[np.int64]  # where the tag of a plain one begins


class EventDecoder:
    """Turns stretches of one event file into scalars; knows the tags and record lengths it has met."""

    def __init__(self) -> None:
        self._headers: dict[bytes, int] = {}
        self._tags: dict[bytes, int] = {}
        self._layouts = Layouts()

    def decode(self, data: bytes) -> Scalars:
        """The scalars of all complete records in `data`, which starts where a record does."""
        found = Scalars()
        begins, lengths = self._records(data, found)
        if begins:
            self._read(data, np.array(begins, np.int64), np.array(lengths, np.int64), found)
        return found

    def length(self, header: bytes) -> int | None:
        """The length a record header gives; None when its checksum does not agree."""
        length = self._headers.get(header)
        if length is None and len(header) == HEADER:
            size, checksum = struct.unpack("<QI", header)
            if masked(crc32c(header[:8])) != checksum:
                return None
            if len(self._headers) > KNOWN_HEADERS:
                self._headers.clear()
            length = self._headers[header] = size
        return length

    def _records(self, data: bytes, found: Scalars) -> tuple[list[int], list[int]]:
        """Where each complete record begins, and its length."""
        begins: list[int] = []
        lengths: list[int] = []
        known = self._headers.get
        at, size = 0, len(data)
        while at + HEADER <= size:
            header = data[at : at + HEADER]
            length = known(header)
            if length is None and (length := self.length(header)) is None:
                found.damaged += 1
                at = self._next_record(data, at + 1)
                continue
            after = at + HEADER + length + TRAILER
            if after > size:
                found.wants = after - at
                break
            begins.append(at + HEADER)
            lengths.append(length)
            at = after
        found.used = at
        return begins, lengths

    def _next_record(self, data: bytes, at: int) -> int:
        """The next place at or after `at` where a header agrees with its checksum, or where one could still begin. It
        looks near first and then further: what it costs is in proportion to what is skipped, however often it is."""
        for _ in range(TRIED):  # no record is as long as 4 GB: the upper half of its length is nought
            zeros = data.find(b"\0\0\0\0", at + 4, at + NEAR)
            if zeros < 0:
                break
            at = zeros - 4
            if len(data) - at >= HEADER and self.length(data[at : at + HEADER]) is not None:
                return at
            at += 1
        width = NEAR
        while len(data) - at >= HEADER:
            stretch = np.frombuffer(data, np.uint8, count=min(len(data) - at, width), offset=at)
            width = min(2 * width, FAR)
            places = np.arange(len(stretch) - HEADER + 1, dtype=np.int64)
            checksums = masked_of_many(crc32c_of_many(stretch, places, np.full(len(places), 8, np.int64)))
            agree = np.flatnonzero(checksums == _numbers(stretch, places + 8, "<u4"))
            if len(agree):
                return at + int(agree[0])
            at += len(places)
        return at

    def _read(self, data: bytes, begins: NDArray[np.int64], lengths: NDArray[np.int64], found: Scalars) -> None:
        view = np.frombuffer(data, np.uint8)
        short = lengths <= LONGEST
        whole = np.ones(len(begins), dtype=np.bool_)
        checksums = masked_of_many(crc32c_of_many(view, begins[short], lengths[short]))
        whole[short] = checksums == _numbers(view, (begins + lengths)[short], "<u4")
        found.damaged += int(np.count_nonzero(~whole))
        clocked = _clocked(view, begins, lengths, short & whole)
        plain = clocked.plain
        records, steps, walls = clocked.records[plain], clocked.steps[plain], clocked.walls[plain]
        values = _numbers(view, clocked.ends[plain] - 4, "<f4").astype(np.float64)
        spans = zip(clocked.tags[plain].tolist(), (clocked.ends[plain] - 5).tolist(), strict=True)
        tags = [data[begin:end] for begin, end in spans]
        odd = self._odd(data, begins, lengths, whole, clocked, found)
        if odd.records:
            written = np.argsort(np.concatenate([records, np.array(odd.records, np.int64)]), kind="stable")
            tags = [*tags, *odd.tags]
            tags = [tags[place] for place in written.tolist()]
            steps = np.concatenate([steps, np.array(odd.steps, np.int64)])[written]
            values = np.concatenate([values, np.array(odd.values, np.float64)])[written]
            walls = np.concatenate([walls, np.array(odd.walls, np.float64)])[written]
        if found.started is None and len(walls):
            found.started = float(walls[0])
        self._spread(tags, steps, values, walls, found)

    def _odd(
        self,
        data: bytes,
        begins: NDArray[np.int64],
        lengths: NDArray[np.int64],
        whole: NDArray[np.bool_],
        clocked: _Clocked,
        found: Scalars,
    ) -> _Odd:
        """The scalars of all other layouts. One that was met before is read by what surrounds its number."""
        odd = _Odd()
        others = np.flatnonzero(~clocked.plain)
        met: dict[int, tuple[list[int], list[bytes], list[int]]] = {4: ([], [], []), 8: ([], [], [])}  # by width
        spans = zip(others.tolist(), clocked.behind[others].tolist(), clocked.ends[others].tolist(), strict=True)
        for other, begin, end in spans:
            for (after, width), known in self._layouts.known.items():
                stop = end - after
                tag = known.get((data[begin : stop - width], data[stop:end]))
                if tag is not None:
                    which, tags, places = met[width]
                    which.append(other)
                    tags.append(tag)
                    places.append(stop - width)
                    break
            else:
                record = int(clocked.records[other])
                self._one(data, int(begins[record]), end, record, odd, found, behind=begin)
        view = np.frombuffer(data, np.uint8)
        for width, (which, tags, places) in met.items():
            odd.records += clocked.records[which].tolist()
            odd.tags += tags
            odd.steps += clocked.steps[which].tolist()
            odd.values += _numbers(view, np.array(places, np.int64), f"<f{width}").astype(np.float64).tolist()
            odd.walls += clocked.walls[which].tolist()
        rest = whole.copy()
        rest[clocked.records] = False
        for record in np.flatnonzero(rest).tolist():
            begin = int(begins[record])
            self._one(data, begin, begin + int(lengths[record]), record, odd, found)
        return odd

    def _one(
        self, data: bytes, begin: int, end: int, record: int, odd: _Odd, found: Scalars, *, behind: int | None = None
    ) -> None:
        """An event of any layout. A long one is looked at before its checksum is: most are histograms and pictures."""
        if end - begin > SAMPLED:
            return
        try:
            held = contents(data, begin, end)
            if end - begin > LONGEST:
                if not any(content.value is not None for content in held):
                    return
                if masked(crc32c(data[begin:end])) != int.from_bytes(data[end : end + TRAILER], "little"):
                    raise ValueError("the checksum does not agree")
            step, wall = clock(data, begin, end)
            if abs(step) >= FARTHEST_STEP:
                raise ValueError("a step that no trainer counts to")
        except ValueError:
            found.damaged += 1
            return
        if found.started is None:
            found.started = wall
        for content in held:
            if isinstance(content.value, float):
                odd.add(record, content.tag, step, content.value, wall)
            elif isinstance(content.value, str):
                found.texts.setdefault(content.tag.decode("utf-8", errors="replace"), content.value)
            elif isinstance(content.value, dict):
                found.settings.update(content.value)
        if behind is not None and len(held) == 1:
            self._layouts.learn(data, behind, end, held[0])

    def _spread(
        self,
        tags: list[bytes],
        steps: NDArray[np.int64],
        values: NDArray[np.float64],
        walls: NDArray[np.float64],
        found: Scalars,
    ) -> None:
        """Sorts scalars into the columns of their tags, in written order."""
        places = np.fromiter((self._tags.setdefault(tag, len(self._tags)) for tag in tags), np.int64, len(tags))
        order = np.argsort(places, kind="stable")
        ranked = places[order]
        cuts = np.flatnonzero(ranked[1:] != ranked[:-1]) + 1
        for rows in np.split(order, cuts) if len(order) else ():
            tag = tags[rows[0]].decode("utf-8", errors="replace")
            found.columns[tag] = (steps[rows], values[rows], walls[rows])


def _clocked(
    view: NDArray[np.uint8], begins: NDArray[np.int64], lengths: NDArray[np.int64], candidates: NDArray[np.bool_]
) -> _Clocked:
    """Those of the candidates that begin with a wall time and a step."""
    records = np.flatnonzero(candidates & (lengths >= SHORTEST))
    records = records[view[begins[records]] == 0x09]
    at, ends = begins[records] + 9, begins[records] + lengths[records]
    walls = _numbers(view, at - 8, "<f8").astype(np.float64)
    stepped = _byte(view, at) == 0x10  # absent for step 0
    step, after = _varints(view, at + 1)
    steps = np.where(stepped, step, 0)
    behind = np.where(stepped, after, at)
    near = (steps > -FARTHEST_STEP) & (steps < FARTHEST_STEP) & (behind < ends)
    records, steps, walls, behind, ends = (column[near] for column in (records, steps, walls, behind, ends))
    at, plain = behind, np.ones(len(records), dtype=np.bool_)
    for opening in (0x2A, 0x0A):  # the summary, then its only value: both reach to the end of the record
        plain &= _byte(view, at) == opening
        size, at = _varints(view, at + 1)
        plain &= at + size == ends
    plain &= _byte(view, at) == 0x0A
    size, at = _varints(view, at + 1)
    plain &= (size >= 0) & (at + size + 5 == ends) & (_byte(view, ends - 5) == 0x15)
    return _Clocked(records, steps, walls, behind, ends, plain, at)


def _byte(view: NDArray[np.uint8], at: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The byte at each place; a place past the end gives the last byte, and its record is told apart elsewhere."""
    return view.take(at, mode="clip")


def _numbers(view: NDArray[np.uint8], at: NDArray[np.int64], dtype: str) -> NDArray[np.generic]:
    """The little-endian number that begins at each place."""
    width = np.dtype(dtype).itemsize
    picked = view.take(at[:, None] + np.arange(width), mode="clip")
    return picked.view(dtype)[:, 0] if len(at) else np.zeros(0, dtype)


def _varints(view: NDArray[np.uint8], at: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The varint at each place, as int64, and the place after it."""
    value = np.zeros(len(at), dtype=np.int64)
    after = at.copy()
    going = np.arange(len(at))
    for shift in range(0, 70, 7):
        byte = _byte(view, after[going]).astype(np.int64)
        value[going] |= (byte & 0x7F) << shift
        after[going] += 1
        going = going[byte >= 0x80]
        if not len(going):
            break
    return value, after
