"""Exact facts that say a step taught nothing: every group tied, all rewards or advantages equal, a gradient of 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...curve.bins import LEAST
from ...questions.bars import CLEARLY, DOUBLED, EVEN, HABIT, SPELL, TENTH
from ...questions.level import last_before
from ...questions.share import more_than
from ...questions.stuck import p_goes_on, spell_at_the_end
from ...run import Run, Series
from ..reward import HEADLINE
from ..sampler import Batch
from .standing import EXACT, present

Flags = NDArray[np.bool_]
Said = tuple[NDArray[np.int64], Flags]  # steps, and on which of them it holds

ZERO_STD, SOLVE_ALL, SOLVE_NONE = "group/zero_std_frac", "group/solve_all_frac", "group/solve_none_frac"
GRADIENT = "grad_norm"


def dead_steps(run: Run) -> tuple[NDArray[np.int64], Flags]:
    """The steps, and on which of them something says that there was nothing to learn from."""
    counted = [told for told in (_all_tied(run), _equal(run, "reward"), _equal(run, "adv"), _constant(run)) if told]
    said = [_unless_denied(run, told) for told in counted]
    if (without := _no_gradient(run)) is not None:
        said.append(without)
    dead: dict[int, bool] = {}
    for steps, flags in said:
        for step, flag in zip(steps.tolist(), flags.tolist(), strict=True):
            dead[step] = dead.get(step, False) or flag
    ordered = sorted(dead)
    return np.asarray(ordered, dtype=np.int64), np.asarray([dead[step] for step in ordered], dtype=bool)


def _unless_denied(run: Run, said: Said) -> Said:
    """What was said of some steps, unless their gradients deny it: without a KL penalty advantages of zero leave none,
    and these are as large as those of the steps that had something to learn from."""
    norm, steps, dead = run.get(GRADIENT), *said
    if norm is None or run.config.kl_coefficient or run.get("kl/coef") is not None:
        return said
    _, ours, theirs = np.intersect1d(steps, norm.steps[norm.finite], return_indices=True)
    sizes, flags = norm.values[norm.finite][theirs], dead[ours]
    if min(int(flags.sum()), int((~flags).sum())) < HABIT:
        return said
    denied = np.median(sizes[flags]) > EVEN * np.median(sizes[~flags]) > 0
    return (steps, np.zeros_like(dead)) if denied else said


def _all_tied(run: Run) -> Said | None:
    tied = tied_share(run)
    return None if tied is None else (tied.steps[tied.finite], tied.values[tied.finite] >= 1.0)


def tied_share(run: Run) -> Series | None:
    """Share of groups whose rewards are all equal, logged as such or as all right and all wrong."""
    tied, right, wrong = (run.get(name) for name in (ZERO_STD, SOLVE_ALL, SOLVE_NONE))
    if tied is not None or right is None or wrong is None:
        return tied
    steps, ours, theirs = np.intersect1d(right.steps, wrong.steps, return_indices=True)
    return Series(ZERO_STD, f"{right.key} + {wrong.key}", right.kind, steps, right.values[ours] + wrong.values[theirs])


def _equal(run: Run, what: str) -> Said | None:
    """The lowest and the highest are one and the same; whitening leaves equal advantages equal."""
    low, high = run.get(f"{what}/min"), run.get(f"{what}/max")
    if low is None or high is None:
        return None
    steps, ours, theirs = np.intersect1d(low.steps, high.steps, return_indices=True)
    return steps, low.values[ours] == high.values[theirs]  # NaN equals nothing


def _no_gradient(run: Run) -> Said | None:
    """A norm that was never anything but 0 is not logged, not zero: some backends write it so."""
    norm = run.get(GRADIENT)
    if norm is None or not (norm.values[norm.finite] > 0).any():
        return None
    return norm.steps[norm.finite], norm.values[norm.finite] == 0


def _constant(run: Run) -> Said | None:
    """The mean reward of every step is one number: no two groups, and so hardly two samples, ever differed."""
    series = run.get(HEADLINE)
    if series is None or series.points < LEAST:
        return None
    values = series.values[series.finite]
    if len(values) < LEAST or np.ptp(values) > 0:
        return None
    return series.steps[series.finite], np.ones(len(values), dtype=bool)


def nearly_all(steps: NDArray[np.int64], dead: Flags) -> tuple[float, int | None]:
    """Probability that nearly all present steps are dead, and the last step before it was so."""
    if len(dead) < LEAST:
        return 0.0, None
    recent = dead[-present(len(dead)) :]
    hits, count = int(recent.sum()), len(recent)
    p = more_than(CLEARLY, hits, count)
    return p, mostly_since(steps, dead)


def nearly_all_averaged(run: Run) -> tuple[float, int | None, float | None]:
    """The same where a row averages several steps, and the share of groups that are tied: such a row has a few groups
    that are not, and hides that all others were. The finest difference between two rows is one group, and a group that
    is not tied makes one step one to learn from. Most rows have to be exact all the same: what was logged of single
    steps only, now and then, looks alike."""
    tied = tied_share(run)
    if tied is None or tied.finite.sum() < LEAST:
        return 0.0, None, None
    steps, loose = tied.steps[tied.finite], 1 - tied.values[tied.finite]
    recent = loose[-present(len(loose)) :]
    each, finest = float(np.median(np.diff(steps))), float(loose[loose > EXACT].min(initial=1.0))
    if each < DOUBLED or np.mean(recent <= EXACT) <= EVEN:
        return 0.0, None, None
    alive = np.minimum(np.round(loose / finest), each)
    count = round(each * len(recent))
    p = more_than(CLEARLY, count - int(alive[-len(recent) :].sum()), count)
    return p, mostly_since(steps, alive <= TENTH * each), float(1 - recent.mean())


def lately(steps: NDArray[np.int64], dead: Flags) -> tuple[float, int | None]:
    """The same of the last steps alone, where they are dead one after the other for longer than ever before: told
    before they are a good part of a long run, and not yet known to last."""
    spell = spell_at_the_end(dead)
    return p_goes_on(spell), int(steps[max(len(dead) - spell - 1, 0)]) if spell else None


def mostly_since(steps: NDArray[np.int64], flags: Flags) -> int:
    """The last step before it was mostly so, over a spell of steps: one step sets no date."""
    width = min(SPELL, len(flags))
    mostly = np.convolve(flags, np.ones(width), mode="full")[: len(flags)] > width / 2
    return int(steps[max(last_before(mostly) - width // 2, 0)])


def tied_samples(batches: tuple[Batch, ...]) -> tuple[float, int | None]:
    """The same from groups among the samples, where the log itself does not say."""
    recent = batches[-present(len(batches)) :] if batches else ()
    tied, all_ = sum(batch.tied for batch in recent), sum(batch.tied + batch.mixed for batch in recent)
    if all_ < SPELL or any(batch.mixed for batch in recent):
        return 0.0, None
    quiet = np.asarray([batch.mixed == 0 for batch in batches])
    p = more_than(CLEARLY, tied, all_)
    return p, batches[last_before(quiet)].step
