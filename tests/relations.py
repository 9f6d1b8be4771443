"""Small hand-made runs for the readings of reward, KL, loss and stability, and twins of a run that read the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from simulated import noise

from leadline.run import Event, Run, Series

Floats = NDArray[np.float64]

COUNT = 300
STEPS = np.arange(1, COUNT + 1)
U = STEPS / COUNT


def logged(name: str, course: object, scatter: float = 0.0, seed: int = 0, steps: object = STEPS) -> Series:
    """A series that follows a course with noise about it, of the length of its steps."""
    values = np.asarray(course, dtype=np.float64) + scatter * noise(len(np.asarray(steps)), 0.3, seed)
    return Series(name, name, "test", np.asarray(steps), values)


def rise(start: float, end: float, at: float = 0.1) -> Floats:
    """Up and then at rest."""
    course: Floats = start + (end - start) * (1 - np.exp(-U / at))
    return course


def ramp(start: float, end: float, first: float = 0.0, last: float = 1.0) -> Floats:
    """From one level to another between two shares of the run."""
    course: Floats = start + (end - start) * np.clip((U - first) / (last - first), 0, 1)
    return course


def step(before: float, after: float, at: int = 150) -> Floats:
    course: Floats = np.where(at <= STEPS, after, before)
    return course


def rescaled(run: Run, names: tuple[str, ...], scale: float, shift: float = 0.0) -> Run:
    """The same run with some metrics in another unit."""
    return replace(
        run,
        series=tuple(
            replace(one, values=scale * one.values + shift) if one.name.startswith(names) else one for one in run.series
        ),
    )


def stretched(run: Run, factor: int) -> Run:
    """The same run with its steps counted in another unit."""
    config = replace(run.config, planned_steps=run.config.planned_steps and factor * run.config.planned_steps)
    events = tuple(Event(event.kind, factor * event.step, event.facts) for event in run.events)
    series = tuple(replace(one, steps=factor * one.steps) for one in run.series)
    return replace(run, series=series, config=config, events=events)


TWINS: dict[str, Callable[[Run], Run]] = {
    "reward in another unit": lambda run: rescaled(run, ("reward/mean", "reward/component", "eval/"), 64.0, 8.0),
    "KL in another unit": lambda run: rescaled(run, ("kl/ref",), 1024.0),
    "loss in another unit": lambda run: rescaled(run, ("loss/",), 0.03125),
    "steps in another unit": lambda run: stretched(run, 8),
    "keys in another order": lambda run: replace(run, series=run.series[::-1]),
    "an unrelated series": lambda run: replace(run, series=(*run.series, logged("perf/mfu/actor", U, 0.1, 77))),
}
