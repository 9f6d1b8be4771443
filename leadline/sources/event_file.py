"""TensorBoard's event records: bytes in, columns of scalars out.

A record is a length, the checksum of the length, the event and the checksum of the event. Nearly all events of a
training run are one scalar in one fixed layout, so those are decoded together with numpy; the rest one by one. Every
checksum is verified (docs/decisions/0005): a flipped bit costs its record and never becomes a value.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from ..records import dataclass, field
from .crc32c import LONGEST, crc32c, crc32c_of_many, masked
from .wire import BYTES, DOUBLE, FLOAT, VARINT, counts, double, fields, inside, signed, single, text

HEADER, TRAILER = 12, 4  # length and its checksum; checksum of the event
SHORTEST = 9 + 2 + 2 + 2 + 5  # an event of one scalar: wall time, then summary, value, tag and number
SAMPLED = 1 << 20  # bytes of a record beyond which it holds pictures, graphs or tables, never only scalars
TRIED = 32  # places that are tried one by one
NEAR, FAR = 1 << 10, 1 << 16  # bytes that are searched at once for the next record
KNOWN_HEADERS = 4096  # lengths remembered with their checksum: a log repeats a few hundred
FARTHEST_STEP = 2**53  # as everywhere: beyond it a float cannot count
FLOAT32, FLOAT64, STRING = 1, 2, 7  # DataType of a tensor
NUMPY_NAMES = {FLOAT32: "<f4", FLOAT64: "<f8", 3: "<i4", 4: "<u1", 5: "<i2", 6: "<i1", 9: "<i8"}
SETTINGS_TEXT = 1 << 18  # bytes of a text that may hold the settings of a run

Integers = NDArray[np.int64]
Column = tuple[Integers, NDArray[np.float64], NDArray[np.float64]]  # steps, values, wall times


@dataclass(slots=True)
class Scalars:
    """What a stretch of an event file holds."""

    columns: dict[str, Column] = field(default_factory=dict)  # by tag, each in written order
    texts: dict[str, str] = field(default_factory=dict)  # tag to text, first one wins: settings are written once
    started: float | None = None  # wall time of the first event
    damaged: int = 0  # records that were lost
    used: int = 0  # bytes taken; what follows is a record that is not complete yet
    wants: int = 0  # how long that record will be, if its header is there


@dataclass(slots=True)
class _Found:
    """Scalars with the record that each stood in."""

    records: Integers
    tags: list[bytes]
    steps: Integers
    values: NDArray[np.float64]
    walls: NDArray[np.float64]


class EventDecoder:
    """Turns stretches of one event file into scalars; knows the record lengths it has met."""

    def __init__(self) -> None:
        self._headers: dict[bytes, int] = {}

    def decode(self, data: bytes) -> Scalars:
        """Return the scalars of all complete records in `data`, which starts where a record does."""
        found = Scalars()
        begins, lengths = self._records(data, found)
        if len(begins):
            view = np.frombuffer(data, np.uint8)
            whole = _whole(view, begins, lengths)
            found.damaged += int(np.count_nonzero(~whole))
            plain = _plain(data, view, begins, lengths, whole & (lengths <= LONGEST))
            whole[plain.records] = False
            scalars = _with_odd(data, begins, lengths, np.flatnonzero(whole), plain, found)
            if found.started is None and len(scalars.walls):
                found.started = float(scalars.walls[0])
            known: dict[bytes, int] = {}  # each tag has a column, in written order
            tags = scalars.tags
            places = np.fromiter((known.setdefault(tag, len(known)) for tag in tags), np.int64, len(tags))
            order = np.argsort(places, kind="stable")
            for rows in np.split(order, np.flatnonzero(np.diff(places[order])) + 1) if len(order) else ():
                tag = tags[rows[0]].decode("utf-8", errors="replace")
                found.columns[tag] = scalars.steps[rows], scalars.values[rows], scalars.walls[rows]
        return found

    def length(self, header: bytes) -> int | None:
        """Return the length a record header gives; None if its checksum does not agree."""
        length = self._headers.get(header)
        if length is None and len(header) == HEADER:
            size, checksum = struct.unpack("<QI", header)
            if masked(crc32c(header[:8])) != checksum:
                return None
            if len(self._headers) > KNOWN_HEADERS:
                self._headers.clear()
            length = self._headers[header] = size
        return length

    def _records(self, data: bytes, found: Scalars) -> tuple[Integers, Integers]:
        """Return where each complete record begins, and its length."""
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
        return np.array(begins, np.int64), np.array(lengths, np.int64)

    def _next_record(self, data: bytes, at: int) -> int:
        """Return the next place at or after `at` where a header agrees with its checksum, or where one could still
        begin. It looks near first and then further, so its cost is in proportion to what is skipped."""
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
            checksums = masked(crc32c_of_many(stretch, places, np.full(len(places), 8, np.int64)))
            agree = np.flatnonzero(checksums == _numbers(stretch, places + 8, "<u4"))
            if len(agree):
                return at + int(agree[0])
            at += len(places)
        return at


def _whole(view: NDArray[np.uint8], begins: Integers, lengths: Integers) -> NDArray[np.bool_]:
    """Return which records agree with their checksum; long ones are checked only if they hold anything of interest."""
    short = lengths <= LONGEST
    whole = np.ones(len(begins), dtype=np.bool_)
    checksums = masked(crc32c_of_many(view, begins[short], lengths[short]))
    whole[short] = checksums == _numbers(view, (begins + lengths)[short], "<u4")
    return whole


def _plain(
    data: bytes, view: NDArray[np.uint8], begins: Integers, lengths: Integers, candidates: NDArray[np.bool_]
) -> _Found:
    """Return the scalars of events that are a wall time, a step, `summary{value{tag, simple_value}}` and no more."""
    records = np.flatnonzero(candidates & (lengths >= SHORTEST))
    records = records[view[begins[records]] == 0x09]
    at, ends = begins[records] + 9, begins[records] + lengths[records]
    walls = _numbers(view, at - 8, "<f8").astype(np.float64)
    stepped = _byte(view, at) == 0x10  # absent for step 0
    step, after = _varints(view, at + 1)
    steps, at = np.where(stepped, step, 0), np.where(stepped, after, at)
    plain = (steps > -FARTHEST_STEP) & (steps < FARTHEST_STEP) & (at < ends)
    for opening in (0x2A, 0x0A):  # the summary, then its only value: both reach to the end of the record
        plain &= _byte(view, at) == opening
        size, at = _varints(view, at + 1)
        plain &= at + size == ends
    plain &= _byte(view, at) == 0x0A
    size, at = _varints(view, at + 1)
    plain &= (size >= 0) & (at + size + 5 == ends) & (_byte(view, ends - 5) == 0x15)
    spans = zip(at[plain].tolist(), (ends[plain] - 5).tolist(), strict=True)
    values = _numbers(view, ends[plain] - 4, "<f4").astype(np.float64)
    return _Found(records[plain], [data[begin:end] for begin, end in spans], steps[plain], values, walls[plain])


def _with_odd(
    data: bytes, begins: Integers, lengths: Integers, records: Integers, plain: _Found, found: Scalars
) -> _Found:
    """Return the plain scalars together with those of the other events, decoded one by one, in written order."""
    odd: list[tuple[int, bytes, int, float, float]] = []
    for record in records.tolist():
        begin = int(begins[record])
        try:
            event = _event(data, begin, begin + int(lengths[record]))
        except ValueError:
            found.damaged += 1
            continue
        if event is None:
            continue
        step, wall, held = event
        found.started = wall if found.started is None else found.started
        for tag, value in held:
            if isinstance(value, float):
                odd.append((record, tag, step, value, wall))
            elif isinstance(value, str):
                found.texts.setdefault(tag.decode("utf-8", errors="replace"), value)
    if not odd:
        return plain
    where, tags, steps, values, walls = zip(*odd, strict=True)
    every = np.concatenate([plain.records, np.array(where, np.int64)])
    order = np.argsort(every, kind="stable")
    named = [*plain.tags, *tags]
    return _Found(
        every[order],
        [named[place] for place in order.tolist()],
        np.concatenate([plain.steps, np.array(steps, np.int64)])[order],
        np.concatenate([plain.values, np.array(values, np.float64)])[order],
        np.concatenate([plain.walls, np.array(walls, np.float64)])[order],
    )


def _event(data: bytes, begin: int, end: int) -> tuple[int, float, list[tuple[bytes, object]]] | None:
    """Return step, wall time and values of an event of any layout, None for one of no interest; raise ValueError for a
    damaged one. A long one is looked at before its checksum is: most are histograms and pictures."""
    if end - begin > SAMPLED:
        return None
    held = [_value(data, *one) for summary in inside(data, begin, end, 5) for one in inside(data, *summary, 1)]
    if end - begin > LONGEST:
        if not any(value is not None for _, value in held):
            return None
        if masked(crc32c(data[begin:end])) != int.from_bytes(data[end : end + TRAILER], "little"):
            raise ValueError("the checksum does not agree")
    wall, step = 0.0, 0
    for number, kind, at, _ in fields(data, begin, end):
        if number == 1 and kind == DOUBLE:
            wall = double(data, at)
        elif number == 2 and kind == VARINT:
            step = signed(at)
    if abs(step) >= FARTHEST_STEP:
        raise ValueError("a step that no trainer counts to")
    return step, wall, held


def _value(data: bytes, begin: int, end: int) -> tuple[bytes, object]:
    """Return the tag of one value of a summary, and a float, a text, or None for all else."""
    tag = b""
    value: object = None
    for number, kind, at, after in fields(data, begin, end):
        if number == 1 and kind == BYTES:
            tag = data[at:after]
        elif number == 2 and kind == FLOAT:
            value = single(data, at)
        elif number == 8 and kind == BYTES and value is None:
            value = _tensor(data, at, after)
    return tag, value


def _tensor(data: bytes, begin: int, end: int) -> float | str | None:
    """Return the one number or text in a tensor; None if it holds several, or something else."""
    dtype, size = 0, 1
    numbers: list[tuple[int, int]] = []
    words: list[tuple[int, int]] = []
    for number, kind, at, after in fields(data, begin, end):
        if number == 1 and kind == VARINT:
            dtype = at
        elif number == 2 and kind == BYTES:
            for dimension in inside(data, at, after, 2):  # a scalar has none
                size *= next(iter(counts(data, *dimension, 1)), 0)
        elif (number == 4 and kind == BYTES) or (number, dtype) in ((5, FLOAT32), (6, FLOAT64)):
            numbers.append((at, after))
        elif number == 8 and kind == BYTES and after - at <= SETTINGS_TEXT:
            words.append((at, after))
    if dtype == STRING and len(words) == 1:
        return text(data, *words[0])
    if dtype not in NUMPY_NAMES or size != 1 or len(numbers) > 1:
        return None
    if not numbers:  # a scalar tensor without content holds the default
        return 0.0 if dtype in (FLOAT32, FLOAT64) else None
    at, after = numbers[0]
    if after - at != np.dtype(NUMPY_NAMES[dtype]).itemsize:
        return None
    return float(np.frombuffer(data, NUMPY_NAMES[dtype], count=1, offset=at)[0])


def _byte(view: NDArray[np.uint8], at: Integers) -> NDArray[np.uint8]:
    """Return the byte at each place; a place past the end gives the last byte."""
    return view.take(at, mode="clip")


def _numbers(view: NDArray[np.uint8], at: Integers, dtype: str) -> NDArray[np.generic]:
    """Return the little-endian number that begins at each place."""
    width = np.dtype(dtype).itemsize
    picked = view.take(at[:, None] + np.arange(width), mode="clip")
    return picked.view(dtype)[:, 0] if len(at) else np.zeros(0, dtype)


def _varints(view: NDArray[np.uint8], at: Integers) -> tuple[Integers, Integers]:
    """Return the varint at each place, as int64, and the place after it."""
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
