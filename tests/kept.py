"""Curves are kept for the session: hundreds of tests read the same bundled runs, and most of a reading is its fits.

A fit depends on nothing but what is in its key. That one made anew is the same is a law of its own: `tests/laws`
forgets what is kept, and `tests/curve` asks the engine itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache

import numpy as np

from leadline.curve import Curve, clock, fit_curves
from leadline.reading import view
from leadline.run import Series

CURVES = 400  # half a megabyte each
CLOCKS = 16  # 25 MB each

_curves: OrderedDict[object, dict[str, Curve]] = OrderedDict()


def fitted(series: Sequence[Series], **options: object) -> dict[str, Curve]:
    """`fit_curves`, once for the same series and options."""
    asked = tuple(_told(one) for one in series), repr(sorted(options.items()))
    made = _curves.pop(asked, None)
    if made is None:
        made = fit_curves(series, **options)  # type: ignore[arg-type]
        for curve in made.values():  # who wrote into one would change it for everybody
            for holder in (curve, *curve.segments):
                holder.paths.flags.writeable = False
        if len(_curves) >= CURVES:
            _curves.popitem(last=False)
    _curves[asked] = made
    return made


def forget() -> None:
    """What is read next is fitted anew."""
    _curves.clear()


def keep() -> None:
    """From now on in this process."""
    if view.fit_curves is fitted:
        return
    view.fit_curves = fitted
    clock._clock = lru_cache(maxsize=CLOCKS)(clock._clock.__wrapped__)


def _told(series: Series) -> tuple[object, ...]:
    values = (getattr(series, field.name) for field in fields(series))
    return tuple((one.dtype.str, one.tobytes()) if isinstance(one, np.ndarray) else one for one in values)
