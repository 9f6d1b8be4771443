"""What `import leadline` gives: a reading that shows itself, and gives out its numbers as arrays and frames."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from . import contract, frames, pipeline
from .contract import Band
from .errors import BadNumber, LeadlineError
from .questions import Shape, shape_of
from .reading import View
from .reading.chart_data import band_for
from .report import data, markdown, notebook, plain, terminal
from .run import Steps, Values
from .sources import Joining, open_run
from .sources.number import FURTHEST
from .words import sentence
from .words.report import what_was_read


class Reading(contract.Reading):
    """All that Leadline says about one run. Printed it is the screen of `leadline read`, in a notebook a card.

    >>> reading = read(Path(__file__).parent / "examples" / "healthy", until=40)
    >>> steps, values = reading.series("reward/mean")
    >>> int(steps[-1]), len(values)
    (40, 40)
    >>> reading
    <Reading: continue, TRL RLOO, step 40/354 (11%)>
    """

    __slots__ = ("_view",)  # the curves behind it, for bands and shapes of series that no report draws
    _view: View

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all series: logged, derived from the samples, and what was not understood."""
        return tuple(self.chart_data.series)

    def series(self, name: str) -> tuple[Steps, Values]:
        """The steps and values of one series. A step that was not logged is absent; NaN was logged as NaN."""
        found = self.chart_data.series.get(name)
        if found is None:
            raise LeadlineError(
                f"No series of this run is called {name!r}.",
                tried=", ".join(self.names) or "the run holds none",
                next_step="take one of these names, as in reading.series('reward/mean')",
            )
        return found.steps, found.values

    def band(self, name: str) -> Band | None:
        """Where the curve of a series runs, as seen and as expected; None where it holds too little to tell."""
        self.series(name)
        return self.chart_data.bands.get(name) or band_for(self._view, name)

    def shape(self, name: str) -> Shape | None:
        """What the curve of a series does, in one word, and how probable each is; None where it holds no number."""
        self.series(name)
        curve = self._view.curve_of(name)
        return None if curve is None else shape_of(curve)

    def to_pandas(self, what: frames.What = "series") -> frames.Frame:
        """The series by step, the shapes or the findings as a pandas frame."""
        return frames.to_pandas(self, self._view, what)

    def to_polars(self, what: frames.What = "series") -> frames.Frame:
        """The same as a polars frame."""
        return frames.to_polars(self, self._view, what)

    def as_data(self) -> dict[str, object]:
        """The reading as plain data, as in `leadline read --json`."""
        return data.as_data(self)

    def sentence(self, finding: contract.Finding) -> str:
        """What a finding says."""
        return sentence(finding)

    def __repr__(self) -> str:
        """One line: the fields hold the whole run."""
        return plain.printable(f"<Reading: {', '.join((self.judgement.verdict, *what_was_read(self.run)))}>")

    def __str__(self) -> str:
        return terminal.render(self)

    def _repr_html_(self) -> str:
        return notebook.html(self)

    def _repr_markdown_(self) -> str:
        return markdown.render(self)


def check_plan(budget: int | None, price: float | None) -> None:
    """Refuse a plan that no run can have."""
    if budget is not None and not 0 < budget < FURTHEST:
        raise BadNumber(
            f"A budget of {budget} steps cannot be worked with.",
            tried=f"a whole number from 1 to {FURTHEST - 1}",
            next_step="give the total number of steps that are planned",
        )
    if price is not None and not 0 <= price < math.inf:
        raise BadNumber(
            f"A price of {price} cannot be worked with.",
            tried="a share of the run's own range, from 0",
            next_step="give a share such as 0.05",
        )


def read(
    path: Path | str,
    *,
    until: int | None = None,
    budget: int | None = None,
    price: float | None = None,
    mapping: Mapping[str, str] | None = None,
    joining: Joining = "by evidence",
) -> Reading:
    """Everything we can say about the run at `path`, as if it had ended at `until` and been planned for `budget`.
    `price` is what a whole planned run has to earn, in shares of the run's own range (docs/judgement.md).
    `mapping` says what keys of the log mean, canonical name to key, where that cannot be told.
    `joining`: which logs at `path` are one run: by evidence, or as you say, "join" all or keep each "separate"."""
    check_plan(budget, price)
    view = pipeline.view_of(open_run(path, mapping=mapping, joining=joining).until(until), budget=budget)
    found = pipeline.read_view(view, price=price)
    reading = Reading(**{field.name: getattr(found, field.name) for field in fields(found)})
    object.__setattr__(reading, "_view", view)  # frozen: no part of the reading itself
    return reading
