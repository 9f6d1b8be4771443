"""CRC-32C of many short records at once.

A checksum is linear: that of a record is the exclusive or of what each byte contributes at its distance from the end.
So one table lookup for each byte position serves thousands of records together, where one record at a time would cost
a Python loop a byte.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

POLYNOMIAL = 0x82F63B78
LONGEST = 256  # bytes of a record that is checked together with others
MASK = 0xA282EAD8  # TensorBoard and LevelDB turn and shift a checksum so that it may be stored beside its own data


@cache
def tables() -> NDArray[np.uint32]:
    """Return what a byte contributes, by its distance from the end of the record (row) and its value (column)."""
    rows = np.empty((LONGEST, 256), dtype=np.uint32)
    first = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        first = np.where(first & 1, (first >> 1) ^ np.uint32(POLYNOMIAL), first >> 1).astype(np.uint32)
    rows[0] = first
    for distance in range(1, LONGEST):
        rows[distance] = first[rows[distance - 1] & 0xFF] ^ (rows[distance - 1] >> 8)
    return rows


@cache
def starts() -> NDArray[np.uint32]:
    """Return what the initial state of all ones contributes, by the length of the record."""
    first = tables()[0].tolist()
    states = [0xFFFFFFFF]
    for _ in range(LONGEST):
        states.append(first[states[-1] & 0xFF] ^ (states[-1] >> 8))
    return np.array(states, dtype=np.uint32)


def crc32c_of_many(
    data: NDArray[np.uint8], begins: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Return the checksums of `data[begin : begin + length]` for all records at once; none may be longer than
    LONGEST."""
    found: NDArray[np.uint32] = starts()[lengths] ^ np.uint32(0xFFFFFFFF)
    last = begins + lengths - 1
    for distance, row in enumerate(tables()[: lengths.max(initial=0)]):
        reached = np.flatnonzero(lengths > distance)
        found[reached] ^= row[data[last[reached] - distance]]
    return found


def crc32c(record: bytes) -> int:
    """Return the checksum of one record of any length.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    first = _first()
    state = 0xFFFFFFFF
    for byte in record:
        state = first[(state ^ byte) & 0xFF] ^ (state >> 8)
    return state ^ 0xFFFFFFFF


def masked(checksum: Any) -> Any:
    """Return a checksum as it is stored, or an array of them, which wraps by itself."""
    return (((checksum >> 15) | (checksum << 17)) + MASK) & 0xFFFFFFFF


@cache
def _first() -> list[int]:
    return [int(entry) for entry in tables()[0]]
