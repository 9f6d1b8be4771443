"""Small runs made by hand: what a policy writes, as a function of how far the run has come."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from leadline.facts.finding import Finding
from leadline.reading.view import View
from leadline.run import Rollout, Rollouts, Run, Series

THINGS = ("dog", "cat", "river", "house", "stone", "cloud", "bird", "boat", "child", "tree")
LOOKS = ("red", "old", "small", "tall", "warm", "cold", "bright", "dark", "quiet", "happy")
DOES = ("sees", "likes", "follows", "holds", "finds", "carries", "remembers")

Writer = Callable[[random.Random, float, str], tuple[str, float]]  # (dice, share of the run, prompt) -> output, score


def sentence(dice: random.Random) -> str:
    one, other = dice.choice(THINGS), dice.choice(THINGS)
    return f"the {dice.choice(LOOKS)} {one} {dice.choice(DOES)} a {dice.choice(LOOKS)} {other} ."


def story(dice: random.Random, sentences: int = 2) -> str:
    return " ".join(sentence(dice) for _ in range(sentences))


def loaded(steps: Iterable[int], load: Callable[[int], tuple[Rollout, ...]]) -> Rollouts:
    """What a function gives for each of these steps, in memory."""
    return Rollouts({step: load(step) for step in steps})


def rollouts(write: Writer, *, steps: Sequence[int], prompts: int = 16, group: int = 6, scale: float = 1.0) -> Rollouts:
    """One sample a prompt, and one whole group."""
    last = max(steps)

    def load(step: int) -> tuple[Rollout, ...]:
        dice = random.Random(step * last_of_all // last)  # the same text whatever the unit of the steps
        asked = [f"tell of the {dice.choice(LOOKS)} {dice.choice(THINGS)}" for _ in range(prompts)]
        alone = [(prompt, None) for prompt in asked]
        samples = []
        for prompt, number in [*alone, *([(asked[0], 0)] * group)]:
            output, score = write(dice, step / last, prompt)
            samples.append(Rollout(step, prompt, output, scale * score, number))
        return tuple(samples)

    last_of_all = 1000
    return loaded(steps, load)


def run(
    write: Writer | None = None,
    series: Mapping[str, Sequence[float]] | None = None,
    *,
    files: int = 16,
    unit: int = 1,
    scale: float = 1.0,
) -> Run:
    """Each series over steps 1, 2, ... times `unit`; samples at `files` of them."""
    logged = series or {"reward/mean": rising(200)}
    count = max(len(values) for values in logged.values())
    steps = unit * np.arange(1, count + 1)
    kept = [int(step) for step in unit * np.linspace(1, count, files).round().astype(int)]
    return Run(
        path="by hand",
        series=tuple(
            Series(name, name, "test", steps[: len(values)], np.asarray(values, dtype=float))
            for name, values in logged.items()
        ),
        rollouts=rollouts(write, steps=kept, scale=scale) if write is not None else Rollouts(),
    )


def rising(count: int, seed: int = 0) -> list[float]:
    return list(np.linspace(0.2, 0.9, count) + 0.02 * np.random.default_rng(seed).standard_normal(count))


def flat(count: int, level: float = 0.5, noise: float = 0.02, seed: int = 0) -> list[float]:
    return list(level + noise * np.random.default_rng(seed).standard_normal(count))


def concerns(findings: Sequence[Finding]) -> set[str]:
    return {finding.id for finding in findings if finding.severity != "note"}


def named(findings: Sequence[Finding], name: str) -> Finding:
    return next(finding for finding in findings if finding.id == name)


def view(one: Run) -> View:
    return View(one)
