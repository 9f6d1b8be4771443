"""What every reading looks at: the run, and the curve and shape of any of its series, fitted when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, TypeVar

from ..curve import Break, Curve, breaks_in, fit_curves
from ..evidence import Outage
from ..plan import Plan
from ..progress import tell
from ..questions import Shape, shape_of
from ..run import Run, Series
from .sampler import Batch, look

Made = TypeVar("Made")

HEADLINE = "reward/mean"  # the series that the others are read against
REGIME_EVENTS = ("resume", "reference_reset")  # after these a metric may start anew


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One run under the eyes of all readers. Series logged at the same steps share the costly part of the fit."""

    run: Run
    plan: Plan | None = None  # how long the run is to be, and whether it has ended
    outages: tuple[Outage, ...] = ()  # steps at which nothing was scored: their rewards are not in the run
    _curves: dict[str, Curve] = field(default_factory=dict, init=False, repr=False)
    _fits: dict[bytes, Curve] = field(default_factory=dict, init=False, repr=False)
    _shapes: dict[str, Shape] = field(default_factory=dict, init=False, repr=False)
    _derived: dict[str, Series] = field(default_factory=dict, init=False, repr=False)
    _batches: list[tuple[Batch, ...]] = field(default_factory=list, init=False, repr=False)
    _once: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def curve(self, name: str) -> Curve | None:
        """The curve of a series by its canonical name; None when it was not logged or holds no number."""
        if name not in self._curves:
            series = self.run.get(name)
            if series is None or not series.finite.any():
                return None
            self._curves[name] = self.fit(series)
        return self._curves[name]

    def curve_of(self, name: str) -> Curve | None:
        """The curve of any series by name, one that was derived or not understood as well."""
        series = self.series_of(name)
        if series is None or not series.finite.any():
            return None
        return self.curve(name) if series is self.run.get(name) else self.fit(series)

    def series_of(self, name: str) -> Series | None:
        """Any series by name: logged, derived, or not understood."""
        every = (*self.run.series, *self.derived, *self.run.unread)
        return next((series for series in every if series.name == name), None)

    def shape(self, name: str) -> Shape | None:
        """What that curve does, in one word."""
        if name not in self._shapes:
            curve = self.curve(name)
            if curve is None:
                return None
            self._shapes[name] = shape_of(curve, self.run.get(name))
        return self._shapes[name]

    def fit(self, series: Series) -> Curve:
        """The curve of any series on this run's clock, logged or derived; fitted once, however many readings ask."""
        key = _fingerprint(series)
        if key not in self._fits:
            fitted = fit_curves(
                [series], breaks=self._events(series), horizon_step=None if self.plan is None else self.plan.end
            )
            self._fits[key] = fitted[series.name]
            tell("fitting curves", len(self._fits), max(len(self.run.series), len(self._fits)))
        return self._fits[key]

    def breaks(self, series: Series) -> tuple[Break, ...]:
        """The breaks of its curve, for readings that ask for nothing else."""
        known = self._fits.get(_fingerprint(series))
        return known.breaks if known is not None else breaks_in(series, breaks=self._events(series))

    def _events(self, series: Series) -> list[int]:
        """Steps at which a series may break. A held-out score of few points breaks where the training reward did."""
        known = {event.step for event in self.run.events if event.kind in REGIME_EVENTS}
        training = self.curve(HEADLINE) if series.name.startswith("eval/") else None
        return sorted(known | ({round(found.step) for found in training.breaks} if training is not None else set()))

    def keep(self, series: Series) -> None:
        """Keep a series a reading derived, such as a measure of the samples, for whoever shows the run."""
        self._derived[series.name] = series

    @property
    def derived(self) -> tuple[Series, ...]:
        """What readings derived so far."""
        return tuple(self._derived.values())

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The samples looked at, by step; read once, however many readings ask."""
        if not self._batches:
            self._batches.append(look(self.run.rollouts))
        return self._batches[0]

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What several readers need and is costly, made when first asked for."""
        if name not in self._once:
            self._once[name] = make()
        made: Made = self._once[name]
        return made

    def names(self, wanted: Callable[[str], bool]) -> tuple[str, ...]:
        """The canonical names of logged series that are wanted, in the dialect's order."""
        return tuple(series.name for series in self.run.series if wanted(series.name))


def _fingerprint(series: Series) -> bytes:
    """The same for series of the same name and numbers, which have the same curve."""
    digest = blake2b(series.name.encode("utf-8", "replace"))
    for numbers in (series.steps, series.values):
        digest.update(numbers.tobytes())
    return digest.digest()
