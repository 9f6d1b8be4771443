"""Choose samples to show: early beside late, those of some steps, by score, at random, or those that hold a text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Literal, get_args

from ..draws import spread
from ..review.choose import draw
from ..run import Rollout

Score = Literal["low", "high", "each"]
SCORES: tuple[Score, ...] = get_args(Score)
SPREAD = 24  # steps that are searched, over all that were kept
LEVELS = 8  # of the score that get an example

At = Callable[[int], Sequence[Rollout]]


def chosen(
    steps: Sequence[int],
    at: At,
    *,
    wanted: Sequence[int] = (),
    per_step: int | None = None,
    random: bool = False,
    search: str | None = None,
    score: Score | None = None,
) -> Sequence[Rollout]:
    """Return the samples that are asked for, in reading order. `at` gives those of a step. `wanted` are steps,
    of which the nearest that were kept are taken; `random` draws, the same samples every time."""
    if wanted or random or per_step is not None:
        near = dict.fromkeys(min(steps, key=lambda kept: (abs(kept - one), kept)) for one in wanted)
        looked = []
        for kept in near or spread(steps, SPREAD):
            found = sorted(at(kept), key=draw) if random else list(at(kept))
            looked += found[:per_step]
        if random and not wanted and per_step is None:
            looked.sort(key=draw)
    elif search or score:
        looked = [rollout for kept in spread(steps, SPREAD) for rollout in at(kept)]
    else:
        looked = _early_beside_late(at(steps[0]), at(steps[-1]) if len(steps) > 1 else ())
    if search:
        text = search.lower()
        looked = [rollout for rollout in looked if text in rollout.output.lower() or text in rollout.prompt.lower()]
    if score is None:
        return looked
    scored = [rollout for rollout in looked if math.isfinite(rollout.score)]
    if score == "each":
        return _each_level(scored)
    return sorted(scored, key=lambda rollout: rollout.score, reverse=score == "high")


def _early_beside_late(first: Sequence[Rollout], last: Sequence[Rollout]) -> list[Rollout]:
    """Return samples of the same prompt side by side where there are such, each sample once."""
    theirs: dict[str, list[Rollout]] = {}
    for rollout in reversed(last):
        theirs.setdefault(rollout.prompt, []).append(rollout)
    same = [
        (rollout, theirs[rollout.prompt].pop()) for rollout in first if rollout.prompt and theirs.get(rollout.prompt)
    ]
    pairs = same or zip_longest(first, last)
    return [rollout for pair in pairs for rollout in pair if rollout is not None]


def _each_level(scored: Sequence[Rollout]) -> list[Rollout]:
    """Return the newest answer of each score, the highest first: what the score pays for now."""
    newest: dict[float, Rollout] = {}
    for rollout in sorted(scored, key=lambda rollout: rollout.step):
        newest[rollout.score] = rollout
    levels = sorted(newest, reverse=True)
    return [newest[levels[place]] for place in spread(range(len(levels)), LEVELS)]
