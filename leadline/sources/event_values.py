"""One TensorBoard event at a time: what its summary holds, in whatever layout."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .wire import BYTES, DOUBLE, FLOAT, VARINT, double, fields, signed, single, text

FLOAT32, FLOAT64, STRING = 1, 2, 7  # DataType of a tensor
NUMPY_NAMES = {FLOAT32: "<f4", FLOAT64: "<f8", 3: "<i4", 4: "<u1", 5: "<i2", 6: "<i1", 9: "<i8"}
SETTINGS_TEXT = 1 << 18  # bytes of a text that may hold the settings of a run
MOST_LAYOUTS, MOST_TAGS = 4, 10_000  # remembered


class Content(NamedTuple):
    """One value of a summary: a float, a text, settings, or None for all else."""

    tag: bytes
    value: object
    place: int = 0  # where the bytes of a float stand in the data, and how many there are; 0: it is no plain float
    width: int = 0


class Layouts:
    """Events met before, as all their bytes around the number. An event that has the same ones differs in nothing but
    its number, so it need not be taken apart."""

    def __init__(self) -> None:
        # Bytes after the number and its width, then bytes before and after it, to the tag.
        self.known: dict[tuple[int, int], dict[tuple[bytes, bytes], bytes]] = {}

    def learn(self, data: bytes, begin: int, end: int, content: Content) -> None:
        """Remembers the event that fills `data[begin:end]`, from behind its step, and holds nothing but `content`."""
        if not content.width or not begin <= content.place:
            return
        after = content.place + content.width
        if len(self.known) < MOST_LAYOUTS or (end - after, content.width) in self.known:
            tags = self.known.setdefault((end - after, content.width), {})
            if len(tags) < MOST_TAGS:
                tags[data[begin : content.place], data[after:end]] = content.tag


def clock(data: bytes, begin: int, end: int) -> tuple[int, float]:
    """Step and wall time of an event."""
    wall, step = 0.0, 0
    for number, kind, at, _ in fields(data, begin, end):
        if number == 1 and kind == DOUBLE:
            wall = double(data, at)
        elif number == 2 and kind == VARINT:
            step = signed(at)
    return step, wall


def contents(data: bytes, begin: int, end: int) -> list[Content]:
    """Every value in an event's summary."""
    return [
        _content(data, at, after)
        for start, stop in _inside(data, begin, end, 5)
        for at, after in _inside(data, start, stop, 1)
    ]


def _content(data: bytes, begin: int, end: int) -> Content:
    found = Content(b"", None)
    for number, kind, at, after in fields(data, begin, end):
        if number == 1 and kind == BYTES:
            found = found._replace(tag=data[at:after])
        elif number == 2 and kind == FLOAT:
            found = found._replace(value=single(data, at), place=at, width=4)
        elif number == 8 and kind == BYTES and found.value is None:
            found = _tensor(data, at, after)._replace(tag=found.tag)
        elif number == 9 and kind == BYTES and (settings := _hparams(data, at, after)):
            found = Content(found.tag, settings)
    return found


def _tensor(data: bytes, begin: int, end: int) -> Content:
    """The one number or text in a tensor; None when it holds several, or something else."""
    dtype, size = 0, 1
    numbers: list[tuple[int, int]] = []
    words: list[tuple[int, int]] = []
    for number, kind, at, after in fields(data, begin, end):
        if number == 1 and kind == VARINT:
            dtype = at
        elif number == 2 and kind == BYTES:
            size = _size(data, at, after)
        elif (number == 4 and kind == BYTES) or (number, dtype) in ((5, FLOAT32), (6, FLOAT64)):
            numbers.append((at, after))
        elif number == 8 and kind == BYTES and after - at <= SETTINGS_TEXT:
            words.append((at, after))
    if dtype == STRING and len(words) == 1:
        return Content(b"", text(data, *words[0]))
    if dtype not in NUMPY_NAMES or size != 1 or len(numbers) > 1:
        return Content(b"", None)
    if not numbers:  # a scalar tensor without content holds the default
        return Content(b"", 0.0 if dtype in (FLOAT32, FLOAT64) else None)
    (at, after) = numbers[0]
    width = np.dtype(NUMPY_NAMES[dtype]).itemsize
    if after - at != width:
        return Content(b"", None)
    value = float(np.frombuffer(data, NUMPY_NAMES[dtype], count=1, offset=at)[0])
    return Content(b"", value, at, width) if dtype in (FLOAT32, FLOAT64) else Content(b"", value)


def _size(data: bytes, begin: int, end: int) -> int:
    """How many numbers a tensor of this shape holds: the product of its dimensions, 1 for a scalar."""
    size = 1
    for number, kind, at, after in fields(data, begin, end):
        if number == 2 and kind == BYTES:
            size *= next((value for one, sort, value, _ in fields(data, at, after) if one == 1 and sort == VARINT), 0)
    return size


def _hparams(data: bytes, begin: int, end: int) -> dict[str, object]:
    """The settings given to the hparams plugin: metadata{plugin_data{name, content{session_start{hparams}}}}."""
    found: dict[str, object] = {}
    for start, stop in _inside(data, begin, end, 1):
        name = [text(data, at, after) for at, after in _inside(data, start, stop, 1)]
        if name != ["hparams"]:
            continue
        for content in _inside(data, start, stop, 2):
            for session in _inside(data, *content, 3):
                for entry in _inside(data, *session, 1):
                    key = "".join(text(data, *one) for one in _inside(data, *entry, 1))
                    for one in _inside(data, *entry, 2):
                        for number, kind, at, after in fields(data, *one):
                            if number == 2 and kind == DOUBLE:
                                found[key] = double(data, at)
                            elif number == 3 and kind == BYTES:
                                found[key] = text(data, at, after)
                            elif number == 4 and kind == VARINT:
                                found[key] = bool(at)
    return found


def _inside(data: bytes, begin: int, end: int, wanted: int) -> list[tuple[int, int]]:
    return [(at, after) for number, kind, at, after in fields(data, begin, end) if number == wanted and kind == BYTES]
