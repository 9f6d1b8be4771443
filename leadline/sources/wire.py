"""The protobuf wire format, as far as log files need it: fields of a message, without a schema and without a library.

Only what is asked for is decoded. Bytes that make no sense raise ValueError and nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TypeAlias

VARINT, DOUBLE, BYTES, FLOAT = 0, 1, 2, 5  # wire types; 3 and 4 (groups) are not written by anything we read

Field: TypeAlias = tuple[int, int, int, int]  # number, wire type, then start and end of its bytes, or value and 0


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return the unsigned number at `at`, and the place after it."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
    raise ValueError("a number breaks off")


def fields(data: bytes, at: int = 0, end: int | None = None) -> Iterator[Field]:
    """Yield the fields of the message in `data[at:end]`, in written order.

    >>> list(fields(bytes([0x08, 0x96, 0x01, 0x12, 0x02, 0x68, 0x69])))
    [(1, 0, 150, 0), (2, 2, 5, 7)]
    """
    end = len(data) if end is None else end
    while at < end:
        key = data[at]
        if key < 0x80:
            at += 1
        else:
            key, at = varint(data, at, end)
        kind = key & 7
        if kind == BYTES:
            size, at = varint(data, at, end)
            if at + size > end:
                raise ValueError("a field is longer than its message")
            yield key >> 3, kind, at, at + size
            at += size
        elif kind == VARINT:
            value, at = varint(data, at, end)
            yield key >> 3, kind, value, 0
        elif kind in (DOUBLE, FLOAT):
            size = 8 if kind == DOUBLE else 4
            if at + size > end:
                raise ValueError("a field is longer than its message")
            yield key >> 3, kind, at, at + size
            at += size
        else:
            raise ValueError(f"wire type {kind} is not used in any log")


def inside(data: bytes, at: int, end: int, wanted: int) -> list[tuple[int, int]]:
    """Return where the bytes of each field of that number begin and end."""
    return [(begin, after) for number, kind, begin, after in fields(data, at, end) if (number, kind) == (wanted, BYTES)]


def counts(data: bytes, at: int, end: int, wanted: int) -> list[int]:
    """Return the whole numbers under that number of field."""
    return [signed(value) for number, kind, value, _ in fields(data, at, end) if (number, kind) == (wanted, VARINT)]


def signed(value: int) -> int:
    """Return a varint as the int64 it stands for."""
    return value - (1 << 64) if value >> 63 else value


def double(data: bytes, at: int) -> float:
    return float(struct.unpack_from("<d", data, at)[0])


def single(data: bytes, at: int) -> float:
    return float(struct.unpack_from("<f", data, at)[0])


def text(data: bytes, at: int, end: int) -> str:
    return data[at:end].decode("utf-8", errors="replace")


def texts(data: bytes, at: int, end: int) -> dict[int, str]:
    """Return every field of a message that may be text, the last of each number."""
    return {number: text(data, begin, after) for number, kind, begin, after in fields(data, at, end) if kind == BYTES}


def timestamp(data: bytes, at: int, end: int) -> float:
    """Return the seconds since the epoch in a protobuf Timestamp."""
    parts = {number: signed(value) for number, kind, value, _ in fields(data, at, end) if kind == VARINT}
    return parts.get(1, 0) + parts.get(2, 0) / 1e9
