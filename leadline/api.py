"""The Python interface: readings that show themselves, and give out their numbers as arrays and frames."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from . import contract, pipeline
from .arguments import check_choice, check_kind, check_mapping, checked_price, checked_steps
from .comparison import together
from .comparison.gather import gather
from .contract import Band
from .errors import LeadlineError, need
from .facts.comparison import Comparison, Unit
from .questions.shape import WORDS, Shape, shape_of
from .reading.chart_data import band_for
from .reading.view import View
from .records import dataclass, fields
from .report import compare as compare_screen
from .report import data, markdown, plain, terminal
from .run import Run, Steps, Values
from .sources import Joining, open_run, open_runs
from .sources.mapping import named
from .words import compare as compare_words
from .words.report import what_was_read
from .words.verdict import verdict_lines

Frame: TypeAlias = Any  # pandas.DataFrame or polars.DataFrame; neither need be installed, for us or for mypy
What = Literal["series", "shapes", "findings"]


@dataclass(frozen=True, slots=True)
class JudgementInWords(contract.Judgement):
    """The verdict and what it rests on, with its words, as in the JSON."""

    headline: str = ""  # one line: what to do, why, how sure
    says: str = ""  # in full


class RunReading(contract.Reading):
    """All that Leadline says about one run. Printed or in a notebook it is the screen of `leadline read`.

    >>> reading = read(Path(__file__).parent / "examples" / "healthy", until=40)
    >>> steps, values = reading.series("reward/mean")
    >>> int(steps[-1]), len(values)
    (40, 40)
    >>> reading
    <Reading: continue, TRL RLOO, step 40/354 (11%)>
    """

    __slots__ = ("_view",)  # the curves behind it, for bands and shapes of series that no report draws
    _view: View
    judgement: JudgementInWords

    @property
    def headline(self) -> str:
        """Return the verdict in one line: what to do, why, how sure. Also `judgement.headline`, as in the JSON."""
        return self.judgement.headline

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all series: logged, derived from the samples, and unmapped keys."""
        return tuple(self.chart_data.series)

    def series(self, name: str) -> tuple[Steps, Values]:
        """Return the steps and values of one series. A step that was not logged is absent; NaN was logged as NaN."""
        found = self.chart_data.series.get(str(name))  # text: what cannot be a key is told like any other
        if found is None:
            raise LeadlineError(
                f"No series of this run is called {name!r}.",
                tried=", ".join(self.names) or "the run has none",
                next_step="use one of these names, as in reading.series('reward/mean')",
            )
        return found.steps, found.values

    def band(self, name: str) -> Band | None:
        """Return the range of a series' curve, seen and forecast; None if it has too few points."""
        self.series(name)
        return self.chart_data.bands.get(name) or band_for(self._view, self.chart_data.series[name])

    def shape(self, name: str) -> Shape | None:
        """Return what a series' curve does, in one word, with the probability of each; None if it has no numbers."""
        self.series(name)
        part = self._view.of(self.chart_data.series[name])
        return None if part is None else shape_of(part)

    def to_pandas(self, what: What = "series") -> Frame:
        """Return the series by step, the shapes, or the findings as a pandas frame."""
        frame = need("pandas", extra="pandas", to="make a pandas frame").DataFrame(self._columns(what))
        return frame.set_index("step") if what == "series" else frame

    def to_polars(self, what: What = "series") -> Frame:
        """Return the same as a polars frame."""
        return need("polars", extra="polars", to="make a polars frame").DataFrame(self._columns(what))

    def _columns(self, what: What) -> dict[str, Any]:
        """Return the series side by side by step, what each curve does, or the findings, one entry a row."""
        check_choice("what", what, get_args(What))
        every = self.chart_data.series
        if what == "findings":
            names = ("id", "severity", "p", "since_step")
            told = {name: [getattr(one, name) for one in self.findings] for name in names}
            return told | {"says": [one.say() for one in self.findings]}
        if what == "shapes":
            parts = [part for series in every.values() if (part := self._view.of(series)) is not None]
            shapes = [shape_of(part) for part in parts]
            named = {"metric": [part.curve.metric for part in parts], "shape": [shape.word for shape in shapes]}
            return named | {word: [shape.probabilities[word] for shape in shapes] for word in WORDS}
        steps = np.unique(np.concatenate([one.steps for one in every.values()] or [np.empty(0, dtype=np.int64)]))
        spread = {name: np.full(len(steps), np.nan) for name in every}
        for name, one in every.items():
            spread[name][np.searchsorted(steps, one.steps)] = one.values
        return {"step": steps, **spread}

    def as_data(self) -> dict[str, object]:
        """Return the reading as plain data, as in `leadline read --json`."""
        return data.as_data(self)

    def __repr__(self) -> str:
        """Return one line: the fields hold the whole run."""
        return plain.printable(f"<Reading: {', '.join((self.judgement.verdict, *what_was_read(self.run)))}>")

    def __str__(self) -> str:
        return terminal.render(self)

    def _repr_markdown_(self) -> str:
        return markdown.render(self)


class RunComparison(Comparison):
    """All that is said about several runs together. Printed it is the screen of `leadline compare`."""

    __slots__ = ()

    def as_data(self) -> dict[str, object]:
        """Return the comparison as plain data, as in `leadline compare --json`."""
        return compare_screen.as_data(self)

    def __repr__(self) -> str:
        return plain.printable(f"<Comparison: {compare_words.headline(self)}>")

    def __str__(self) -> str:
        return compare_screen.render(self)


Reading = RunReading  # its public name
GROUPS = "groups={'baseline': ['runs/a1', 'runs/a2'], 'new': ['runs/b1', 'runs/b2']}"  # an example, for errors


def read(
    path: Path | str,
    *,
    until: int | None = None,
    budget: int | None = None,
    price: float | None = None,
    mapping: Mapping[str, str] | None = None,
    joining: Joining = "by evidence",
) -> Reading:
    """Read the run at `path`, as if it had ended at `until` and been planned for `budget` steps.

    `price`: the minimum gain that justifies a full run, as a fraction of the metric's range (docs/judgement.md).
    `mapping`: metric name to log key, for keys that are not detected.
    `joining`: which logs at `path` are one run: decide "by evidence", "join" all, or keep each "separate".
    """
    until, budget, price = _checked(path, joining, until, budget, price)
    run = open_run(path, mapping=_checked_mapping(mapping), joining=joining)
    return _reading(run.until(until), budget, price)


def read_all(
    path: Path | str,
    *,
    until: int | None = None,
    budget: int | None = None,
    price: float | None = None,
    mapping: Mapping[str, str] | None = None,
    joining: Joining = "by evidence",
) -> Iterator[Reading]:
    """Read every run at `path`, one after the other; the arguments are those of `read`."""
    until, budget, price = _checked(path, joining, until, budget, price)
    runs = open_runs(path, mapping=_checked_mapping(mapping), joining=joining)
    return (_reading(run.until(until), budget, price) for run in runs)


def compare(
    *paths: Path | str,
    groups: Mapping[str, Sequence[Path | str]] | None = None,
    by: str | None = None,
    clock: Unit = "step",
    mapping: Mapping[str, str] | None = None,
    joining: Joining = "by evidence",
) -> RunComparison:
    """Compare runs or groups of seeds, as `leadline compare` does.

    `paths`: runs, folders of runs, or patterns. `groups`: name to paths of runs that are seeds of one config.
    `by`: the metric to rank by; the held-out eval if all runs log one, else the reward.
    """
    check_choice("clock", clock, get_args(Unit))
    check_kind("groups", groups, (Mapping, type(None)), wanted="a mapping from names to paths", example=GROUPS)
    for name, some in (groups or {}).items():
        check_kind("the name of a group", name, str, wanted="text", example=GROUPS, filled=True)
        check_kind("a group", some, (list, tuple), wanted="a list of paths", example=GROUPS, filled=True)
    check_kind("by", by, (str, type(None)), wanted="the name of a metric", example="by='reward/mean'", filled=True)
    for path in (*paths, *(path for some in (groups or {}).values() for path in some)):
        _checked(path, joining)
    gathered = gather(
        [str(path) for path in paths],
        groups={name: [str(path) for path in some] for name, some in (groups or {}).items()},
        mapping=_checked_mapping(mapping),
        joining=joining,
    )
    return RunComparison(**_by_name(together.compare(gathered, by=by, clock=clock)))


def _reading(run: Run, budget: int | None, price: float | None) -> Reading:
    view = pipeline.view_of(run, budget=budget)
    found = pipeline.read_view(view, price=price)
    lines = verdict_lines(found)
    judgement = JudgementInWords(**_by_name(found.judgement), headline=lines.headline, says=lines.text)
    reading = Reading(**(_by_name(found) | {"judgement": judgement}))
    object.__setattr__(reading, "_view", view)  # frozen: no part of the reading itself
    return reading


def _by_name(one: Any) -> dict[str, Any]:
    return {field.name: getattr(one, field.name) for field in fields(one)}


def _checked(
    path: object, joining: object, until: object = None, budget: object = None, price: object = None
) -> tuple[int | None, int | None, float | None]:
    check_kind("path", path, (str, os.PathLike), wanted="text or a path", example="'outputs/grpo-run'")
    check_choice("joining", joining, get_args(Joining))
    return checked_steps("until", until, least=0), checked_steps("budget", budget, least=1), checked_price(price)


def _checked_mapping(mapping: Mapping[str, str] | None) -> dict[str, str] | None:
    """Return the mapping under canonical names; raise BadMapping for an unknown name or a key that is not text."""
    check_mapping(mapping)
    return None if mapping is None else named(mapping)
