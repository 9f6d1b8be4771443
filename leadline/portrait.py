"""What a run looks like: its series, the bands of their curves, its samples and marks, for whoever draws it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .curve import Curve
from .reading import View
from .reading.sampler import Batch
from .run import Run, Series

Floats = NDArray[np.float64]

TENTHS = (0.1, 0.5, 0.9)  # of the paths: the band is where four fifths of them run


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Where the curve of a series runs: as seen up to now, as expected after it."""

    steps: Floats
    low: Floats  # a tenth of the paths run below it
    middle: Floats
    high: Floats  # a tenth of them run above it
    now: int  # place of the last step seen; what follows is a forecast
    breaks: tuple[float, ...]  # steps at which the level jumps

    @classmethod
    def of(cls, curve: Curve) -> Band:
        end = int(np.searchsorted(curve.grid, curve.reach, side="right"))
        low, middle, high = np.quantile(curve.paths[:, :end], TENTHS, axis=0)
        return cls(
            curve.grid[:end], low, middle, high, min(curve.now, end - 1), tuple(one.step for one in curve.breaks)
        )


@dataclass(frozen=True, eq=False)
class Portrait:
    """One run as it can be shown. Curves are fitted when first asked for; those the readings used are there already."""

    view: View

    @property
    def run(self) -> Run:
        return self.view.run

    @cached_property
    def series(self) -> dict[str, Series]:
        """All there is to draw by name: logged, derived from the samples, and what was not understood."""
        return {one.name: one for one in (*self.run.unread, *self.view.derived, *self.run.series)}

    def band(self, name: str) -> Band | None:
        """The band of a series; None where it holds too little to fit."""
        if name in self._bands:
            return self._bands[name]
        series, curve = self.series.get(name), self.view.curve(name)
        if curve is None and series is not None and series.finite.any():
            curve = self.view.fit(series)
        band = None if curve is None or len(curve.grid) < 2 else Band.of(curve)
        self._bands[name] = band
        return band

    @cached_property
    def _bands(self) -> dict[str, Band | None]:
        return {}

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The samples that were looked at, by step."""
        return self.view.batches
