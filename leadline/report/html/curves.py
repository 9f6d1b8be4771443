"""Series, bands and which panel shows what, on one clock of steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ...contract import Reading
from ...portrait import Band, Portrait
from ...reading.kl_and_reward.distance import distance
from ...reading.reward import HEADLINE
from ...run import Series
from .. import palette
from ..numbers import short, thin
from ..pictures import KL
from . import text

Data = dict[str, object]

ROOM = 140_000  # points of all series together: some 1.5 MB
MOST = 4_000  # points of one series: four a column of a wide screen
LEAST = 60  # points of one series, however many there are
VARIETY, STRANGE = "text/variety", "text/strange_share"
LOSSES = ("loss/policy", "loss/total")  # the first that is logged is shown
NO_SAMPLES = "No samples were found beside the log"


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart: what it shows, and why it is empty where it is."""

    id: str
    title: str
    names: tuple[str, ...]
    says: str = ""
    empty: str = ""
    wide: bool = False
    silent: str = ""  # why it carries no evidence here

    def data(self, called: Mapping[str, str]) -> Data:
        return {
            "id": self.id,
            "title": self.title,
            "names": [called[one] for one in self.names],
            "says": text.line(self.says),
            "empty": "" if self.names else self.empty,
            "wide": self.wide,
            "silent": text.line(self.silent),
        }


@dataclass(slots=True)
class Curves:
    """What can be drawn against the step."""

    called: dict[str, str] = field(default_factory=dict)  # series by name: what the page calls them
    panels: list[Data] = field(default_factory=list)
    clocks: list[list[int]] = field(default_factory=list)  # steps, each as its distance from the one before
    series: dict[str, Data] = field(default_factory=dict)
    bands: dict[str, Data] = field(default_factory=dict)
    span: tuple[float, float] | None = None  # the steps to show at first, forecast and all
    path: Data | None = None

    @classmethod
    def of(cls, reading: Reading) -> Curves:
        portrait = reading.portrait
        names = set() if portrait is None else {name for name, one in portrait.series.items() if one.finite.any()}
        chosen = _panels(reading, names)
        called = _called(() if portrait is None else portrait.series)
        curves = cls(called, [one.data(called) for one in chosen])
        if portrait is None:
            return curves
        room = int(np.clip(ROOM // max(len(portrait.series), 1), LEAST, MOST))
        clocks: dict[bytes, int] = {}
        for series in portrait.series.values():
            if series.points:
                curves.series[called[series.name]] = curves._drawn(series, room, clocks)
        bands = {name: portrait.band(name) for one in chosen for name in one.names}
        curves.bands = {called[name]: _band(band) for name, band in bands.items() if band is not None}
        curves.span = _span(reading, bands.values())
        curves.path = _path(portrait, bands.get(HEADLINE))
        return curves

    def _drawn(self, series: Series, room: int, clocks: dict[bytes, int]) -> Data:
        kept = thin(series.steps, series.values, room)
        steps = series.steps[kept]
        clock = clocks.setdefault(steps.tobytes(), len(clocks))
        if clock == len(self.clocks):
            self.clocks.append(np.diff(steps, prepend=0).tolist())
        return {
            "key": text.name(series.key),
            "kind": text.name(series.kind),
            "role": palette.role(series.name),
            "points": series.points,
            "clock": clock,
            "y": short(series.values[kept]),
        }


def _called(names: Iterable[str]) -> dict[str, str]:
    """Short names that stay apart, however long those of the log are."""
    called: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        short = text.name(name)
        if short in taken:
            short = f"{short} ({len(taken)})"
        taken.add(short)
        called[name] = short
    return called


def _panels(reading: Reading, names: set[str]) -> tuple[Panel, ...]:
    """The charts in the order to look at them; the rest is shown on demand."""
    reward, loss, judged = reading.reward, reading.policy_loss, reading.judgement.judged
    held_out = [one.name for one in reward.others if one.name.startswith("eval/")]
    shown = [name for name in (HEADLINE, *held_out[:2]) if name in names]
    kept = bool(reading.portrait is not None and reading.portrait.run.rollouts)
    few = "Samples of too few steps were found to follow this over time." if kept else f"{NO_SAMPLES}."
    panels = [
        Panel(
            "reward",
            "Reward and held-out reward" if len(shown) > 1 or HEADLINE not in shown else "Reward",
            tuple(shown),
            f"{reward.shape}: {reward.says}" if reward.says else reward.shape,
            "No reward was found among what was logged.",
            wide=True,
        ),
        *_apart(judged, shown, names),
        Panel(
            "kl",
            "KL to the reference",
            _first(KL, names),
            reading.kl_reward.says,
            "KL to the reference was not logged: drift has to be read from entropy, length and the text.",
            wide=True,
        ),
        Panel(
            "loss",
            "Policy loss",
            _first(LOSSES, names),
            "" if not loss.informative else f"{loss.pattern.replace('_', ' ')}: {loss.why}",
            "No policy loss was logged.",
            silent="" if loss.informative else loss.why,
        ),
        Panel("grad_norm", "Gradient norm", _first(("grad_norm",), names), "", "The gradient norm was not logged."),
        Panel(
            "length", "Response length", _first(("len/response_mean",), names), "", "Response length was not logged."
        ),
        Panel("entropy", "Entropy", _first(("entropy",), names), "", "The entropy of the policy was not logged."),
        Panel(
            "diversity",
            "Diversity of the samples",
            _first((VARIETY,), names),
            "Different n-grams in an equal amount of text, as a share of what the run's first samples had.",
            few,
        ),
        Panel(
            "coherence",
            "Strange text in the samples",
            _first((STRANGE,), names),
            "Share of the samples' text that a model of the run's own early samples finds strange.",
            few,
        ),
    ]
    return tuple(panels)


def _apart(judged: str | None, shown: list[str], names: set[str]) -> list[Panel]:
    """A panel of its own for the series that was judged, where none shows it yet."""
    if judged is None or judged in shown or judged not in names:
        return []
    return [Panel("judged", "What the verdict rests on", (judged,), wide=True)]


def _first(wanted: Iterable[str], names: set[str]) -> tuple[str, ...]:
    return next(((name,) for name in wanted if name in names), ())


def _band(band: Band) -> Data:
    return {
        "x": short(band.steps),
        "low": short(band.low),
        "middle": short(band.middle),
        "high": short(band.high),
        "now": band.now,
    }


def _span(reading: Reading, bands: Iterable[Band | None]) -> tuple[float, float] | None:
    first, last = reading.run.first_step, reading.run.last_step
    if first is None or last is None:
        return None
    end = max((float(band.steps[-1]) for band in bands if band is not None), default=float(last))
    return float(first), max(float(last), end)


def _path(portrait: Portrait, reward: Band | None) -> Data | None:
    """Reward against the distance from the reference, sqrt(KL), at the steps of the reward's curve."""
    curve = distance(portrait.view)
    if curve is None or reward is None or len(curve.grid) < 2:
        return None
    away = Band.of(curve)
    steps = reward.steps[: reward.now + 1]
    steps = steps[(steps >= away.steps[0]) & (steps <= away.steps[away.now])]
    if len(steps) < 2:
        return None
    kl = np.interp(steps, away.steps, away.middle)
    return {
        "steps": short(steps),
        "distance": short(np.sqrt(np.maximum(kl, 0.0))),
        "kl": short(kl),
        "reward": short(np.interp(steps, reward.steps, reward.middle)),
    }
