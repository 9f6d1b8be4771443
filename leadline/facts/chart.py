"""Data that reports draw: the bands of curves, the samples shown with the phrases that mark them, phases and power
by step. `reading/chart_data.py` makes it; a report only lays it out, and the JSON holds it under these names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ..records import dataclass, field
from ..run import Band, Series, Steps, Values, no_numbers, no_values
from .machine import ProcessEffect

ChartId = Literal["reward", "judged", "kl", "loss", "grad_norm", "length", "entropy", "diversity", "coherence"]
NoSamples = Literal["not kept", "without text"]
Span = tuple[int, int]  # a stretch of a text: its first character and the one after its last


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart and the series in it; none where nothing of the kind was logged."""

    id: ChartId
    series: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class KlPath:
    """Reward against the distance from the reference at the steps of the reward's curve."""

    steps: Values
    kl: Values
    distance: Values  # the root of the KL
    reward: Values


@dataclass(frozen=True, slots=True)
class PhraseShared:
    """A phrase that most samples of one side have and few of the other."""

    phrase: str
    here: float  # share of the samples of this side
    there: float  # and of the other side
    whole_words: bool  # else a run of characters, "#" standing for any digit


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two sets of samples and the phrases that tell them apart."""

    here: int = 0  # samples
    there: int = 0
    enough: bool = False  # samples on both sides to look for phrases at all
    only_here: tuple[PhraseShared, ...] = ()
    only_there: tuple[PhraseShared, ...] = ()


@dataclass(frozen=True, slots=True)
class SampleShown:
    """One sample, shortened, and where in its output the phrases stand."""

    score: float | None
    prompt: str
    output: str
    left_out: int  # characters of the output that are not shown
    length: int  # characters of the whole output
    late: tuple[Span, ...] = ()  # what only late samples have
    early: tuple[Span, ...] = ()
    high: tuple[Span, ...] = ()  # what only samples of high reward have
    low: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class StepSamples:
    """The samples shown of one step, high and low reward."""

    step: int
    mean: float | None  # reward of the whole step
    lowest: float | None
    highest: float | None
    contrast: Contrast = field(default_factory=Contrast)  # high reward against low
    samples: tuple[SampleShown, ...] = ()


@dataclass(frozen=True, slots=True)
class SamplesShown:
    """The samples that can be looked at, by step, or why there are none."""

    none_because: NoSamples | None = None
    steps: tuple[StepSamples, ...] = ()
    contrast: Contrast = field(default_factory=Contrast)  # late samples against early ones


@dataclass(frozen=True, slots=True, eq=False)
class PhaseSeconds:
    """Seconds that one phase takes at each step; `name` is None if small phases are put together."""

    name: str | None
    seconds: Values


@dataclass(frozen=True, slots=True, eq=False)
class MachineByStep:
    """The time of each step by phase, and the power that a GPU drew meanwhile."""

    steps: Steps = field(default_factory=no_numbers)
    step_seconds: Values = field(default_factory=no_values)
    phases: tuple[PhaseSeconds, ...] = ()  # the longest first
    power_steps: Steps = field(default_factory=no_numbers)
    power_w: Values = field(default_factory=no_values)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A process that ran beside the training, on the clock of steps."""

    process: str
    did: ProcessEffect
    p: float
    first_step: int
    last_step: int


@dataclass(frozen=True, slots=True, eq=False)
class ChartData:
    """All that reports draw of one run."""

    charts: tuple[Chart, ...] = ()
    bands: Mapping[str, Band] = field(default_factory=dict)  # of every series in a chart that could be fitted
    kl_path: KlPath | None = None
    samples: SamplesShown = field(default_factory=SamplesShown)
    machine: MachineByStep = field(default_factory=MachineByStep)
    neighbours: tuple[Neighbour, ...] = ()
    series: Mapping[str, Series] = field(default_factory=dict)  # logged, derived from the samples, and not understood
    derived: tuple[str, ...] = ()  # names of those that are in no log

    def chart(self, wanted: ChartId) -> tuple[str, ...]:
        """Return the names of the series in a chart."""
        return next((chart.series for chart in self.charts if chart.id == wanted), ())
