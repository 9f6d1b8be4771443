"""What depends on nothing but its arguments is made once a session: hundreds of tests read the same bundled runs.

Curves, what the samples say, and whole readings are kept by the content of what they are made of. That one made anew is
the same is a law of its own: `tests/laws` forgets what is kept, and `tests/curve` asks the engine itself.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Generic, TypeVar

import numpy as np

from leadline import pipeline
from leadline.contract import Reading
from leadline.curve import posterior
from leadline.curve.curve import Curve
from leadline.curve.fit import fit_curve
from leadline.questions import level
from leadline.reading.view import View
from leadline.run import Series
from leadline.text import evidence
from leadline.text.evidence import Relation, relation
from leadline.text.written import Written

Made = TypeVar("Made")

CURVES = 400  # half a megabyte each
CLOCKS = 16  # 5 MB each
READINGS = 100  # about 100 kB each
RELATIONS = 100


class Store(Generic[Made]):
    """What was made, by what it was made of; of too many the one that was not asked for longest goes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[object, Made] = OrderedDict()

    def get(self, asked: object, make: Callable[[], Made]) -> Made:
        made = self._made.pop(asked, None)
        if made is None:
            made = make()
            if len(self._made) >= self._most:
                self._made.popitem(last=False)
        self._made[asked] = made
        return made

    def clear(self) -> None:
        self._made.clear()


_curves: Store[Curve] = Store(CURVES)
_readings: Store[Reading] = Store(READINGS)
_relations: Store[tuple[Relation | None]] = Store(RELATIONS)
_read_view = pipeline.read_view


def fitted(series: Series, **options: object) -> Curve:
    """`fit_curve`, once for the same series and options."""

    def made() -> Curve:
        curve = fit_curve(series, **options)  # type: ignore[arg-type]
        for holder in (curve, *curve.segments):  # who wrote into one would change it for everybody
            holder.paths.flags.writeable = False
        return curve

    return _curves.get((_told(series), repr(sorted(options.items()))), made)


def read_view(view: View, **options: object) -> Reading:
    """`pipeline.read_view`, once for the same run, plan and options; where the run lies is only told on."""
    asked = _content((replace(view.run, path=""), view.plan, view.outages, sorted(options.items())))
    reading = _readings.get(asked, lambda: _read_view(view, **options))  # type: ignore[arg-type]
    return replace(reading, run=replace(reading.run, path=view.run.path))


def related(written: Written) -> Relation | None:
    """`relation`, once for the same samples."""
    return _relations.get(_content(written), lambda: (relation(written),))[0]


def forget() -> None:
    """What is read next is made anew."""
    for store in (_curves, _readings, _relations):
        store.clear()


def keep() -> None:
    """From now on in this process."""
    if level.fit_curve is fitted:
        return
    level.fit_curve = fitted
    evidence.relation = related
    pipeline.read_view = read_view
    posterior._clock = lru_cache(maxsize=CLOCKS)(posterior._clock.__wrapped__)


def _content(given: object) -> bytes:
    """Bytes that differ if what is given does."""
    return blake2b(pickle.dumps(given)).digest()


def _told(series: Series) -> tuple[object, ...]:
    values = (getattr(series, field.name) for field in fields(series))
    return tuple((one.dtype.str, one.tobytes()) if isinstance(one, np.ndarray) else one for one in values)
