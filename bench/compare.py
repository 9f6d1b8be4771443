"""How often `leadline compare` speaks of a difference where there is none, and how much it takes until it does.

Groups of simulated seeds: one curve a group, what seeds add to it, and noise that remembers. And seeds that others ran:
groups split at random must not differ, and families of the zoo that were trained to differ should.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.random import Generator
from scipy import stats
from simulate import autoregressive, generator
from tables import Table, average, share

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))  # so that a checkout works without being installed
SHARED = ROOT.parent / "shared"

from leadline.comparison.gather import Gathered, Member  # noqa: E402
from leadline.comparison.together import compare  # noqa: E402
from leadline.facts.comparison import Comparison  # noqa: E402
from leadline.run import Run, Series  # noqa: E402
from leadline.sources import open_run  # noqa: E402

Array = np.ndarray
ALPHA = 0.05
JOB = 7001  # place of these experiments among the benchmark's seeds
SIZES = ((2, 2), (3, 3), (5, 5), (2, 5), (1, 4))
NAIVE = ("any step", "any step, smoothed", "last value", "last tenth", "every point")


@dataclass(frozen=True, slots=True)
class World:
    """What one comparison is drawn from. The rise of the curve is 1."""

    sizes: tuple[int, int]
    uneven: float = 1.0  # how much more the seeds of the second group scatter
    gap: float = 0.0  # between the groups at the end, in standard deviations of what a seed adds there
    begins: float = 0.0  # of the run: where the gap begins to open
    takes: float = 0.2  # of the run: until it is whole
    heavy: bool = False  # seeds with Student t (3 df) effects: now and then one goes far astray
    known: bool = True  # false: every run a group of its own


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Logged values of both groups (runs, steps), and the truth about their gap."""

    first: Array
    second: Array
    gap: Array  # true difference at each step


def draw(world: World, rng: Generator) -> Drawn:
    steps = int(rng.choice([100, 200, 400]))
    u = np.arange(1, steps + 1) / steps
    phi, noise, scatter = rng.choice([0.0, 0.5, 0.8]), rng.choice([0.05, 0.15]), rng.choice([0.02, 0.06, 0.15])
    pace, shape = rng.uniform(2, 6), int(rng.integers(3))
    size = world.gap * scatter * np.clip((u - world.begins) / world.takes, 0, 1)

    def seed(wide: float) -> Array:
        """A level, a pace and a wander of its own; at the end their sd is about `scatter`."""
        z = rng.standard_t(3, 3) / np.sqrt(3) if world.heavy else rng.standard_normal(3)
        own = wide * scatter * (0.6 * z[0] + 0.6 * z[1] * u + 0.5 * z[2] * np.sin(2 * np.pi * (u + rng.random())))
        own_pace = pace * np.exp(0.15 * wide * rng.standard_normal())
        rise = (
            1 - np.exp(-own_pace * u),
            1 / (1 + np.exp(-own_pace * 3 * (u - 0.4))),
            u * np.exp(1 - u) ** 2 if pace > 4 else u,
        )[shape]
        return rise + own + noise * autoregressive(steps, phi, rng)

    first = np.stack([seed(1.0) for _ in range(world.sizes[0])])
    second = np.stack([seed(world.uneven) + size for _ in range(world.sizes[1])])
    return Drawn(first, second, size)


def compared(drawn: Drawn, known: bool = True) -> Comparison:
    """Through the door of the product, from runs to the comparison."""
    members = []
    for group, values in (("first", drawn.first), ("second", drawn.second)):
        for number, one in enumerate(values):
            name = f"{group} {number}"
            members.append(Member(name, _run(name, one), group if known else name))
    return compare(Gathered(tuple(members), "named"))


def _run(name: str, values: Array) -> Run:
    steps = np.arange(1, len(values) + 1)
    return Run(path=name, series=(Series("reward/mean", "reward", "reward", steps, values),))


def naive(drawn: Drawn) -> dict[str, bool]:
    """What is often done instead, each at its nominal 5 %. A lone run is set against the others as one of them."""
    first, second = drawn.first, drawn.second
    few = max(first.shape[1] // 10, 2)
    smooth = np.ones(few) / few
    told = {
        "any step": bool((_chances(first, second) < ALPHA).any()),
        "any step, smoothed": bool((_chances(*(_along(one, smooth) for one in (first, second))) < ALPHA).any()),
        "last value": bool(_chances(first[:, -1:], second[:, -1:])[0] < ALPHA),
        "last tenth": bool(
            _chances(*(one[:, -few:].mean(axis=1, keepdims=True) for one in (first, second)))[0] < ALPHA
        ),
        "every point": bool(
            stats.ttest_ind(first[:, -few:].ravel(), second[:, -few:].ravel(), equal_var=False).pvalue < ALPHA
        ),
    }
    assert tuple(told) == NAIVE
    return told


def _along(values: Array, weights: Array) -> Array:
    return np.stack([np.convolve(one, weights, mode="valid") for one in values])


def _chances(first: Array, second: Array) -> Array:
    equal = min(len(first), len(second)) == 1
    return np.asarray(stats.ttest_ind(first, second, equal_var=equal).pvalue)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=120, help="comparisons a row")
    parser.add_argument("--quick", action="store_true", help="an eighth of them, other draws")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[], choices=["false", "power", "onset", "odd", "alone", "real"])
    arguments = parser.parse_args(argv)
    draws = max(arguments.draws // 8, 10) if arguments.quick else arguments.draws
    with ProcessPoolExecutor(arguments.processes) as pool:
        for number, (name, experiment) in enumerate(EXPERIMENTS.items()):
            if not arguments.only or name in arguments.only:
                for table in experiment(pool, draws, (JOB, int(arguments.quick), number)):
                    print(table.text(), flush=True)
    return 0


def _spread(
    pool: ProcessPoolExecutor, work: Callable[..., object], worlds: Sequence[World], draws: int, key: tuple[int, ...]
) -> list[list[object]]:
    """`work(world, place)` for so many draws of each world, in order."""
    jobs = [(world, (*key, place, draw)) for place, world in enumerate(worlds) for draw in range(draws)]
    done = list(pool.map(work, *zip(*jobs, strict=True), chunksize=16))
    return [done[place * draws : (place + 1) * draws] for place in range(len(worlds))]


def _false(pool: ProcessPoolExecutor, draws: int, key: tuple[int, ...]) -> Iterator[Table]:
    worlds = [World(sizes) for sizes in SIZES]
    worlds += [World(sizes, uneven=3.0) for sizes in SIZES[:4]] + [World((2, 5), uneven=1 / 3)]
    worlds += [World(sizes, heavy=True) for sizes in SIZES[:3]]
    rows = []
    for world, told in zip(worlds, _spread(pool, _told, worlds, draws, key), strict=True):
        odd = f"second scatters {world.uneven:.2g} x" if world.uneven != 1 else ""
        what = "seeds go astray (t, 3 df)" if world.heavy else odd
        ours = share(one["leadline"] for one in told)
        others = [f"{np.mean([one[name] for one in told]):.2f}" for name in NAIVE]
        rows.append([f"{world.sizes[0]} against {world.sizes[1]}", what, ours, *others])
    columns = ("runs", "seeds", "Leadline", *NAIVE)
    note = "Groups drawn alike. Each column: share of comparisons said to differ. The naive ones decide at 5 %."
    yield Table("False differences", "Leadline <= .05", columns, rows, note)


def _told(world: World, key: tuple[int, ...]) -> dict[str, bool]:
    drawn = draw(world, generator(*key))
    difference = compared(drawn).by.differences[0]
    return {"leadline": difference.told != "no", **naive(drawn)}


def _power(pool: ProcessPoolExecutor, draws: int, key: tuple[int, ...]) -> Iterator[Table]:
    gaps = (2.0, 4.0, 8.0)
    worlds = [World(sizes, gap=gap, begins=begins) for sizes in SIZES for gap in gaps for begins in (0.0, 0.6)]
    told = dict(zip(worlds, _spread(pool, _right, worlds, draws, key), strict=True))
    rows = []
    for sizes in SIZES:
        for begins in (0.0, 0.6):
            cells = [told[World(sizes, gap=gap, begins=begins)] for gap in gaps]
            ours = [f"{np.mean([one[0] for one in some]):.2f}" for some in cells]
            tenth = [f"{np.mean([one[1] for one in some]):.2f}" for some in cells]
            wrong = sum(one[2] for some in cells for one in some)
            rows.append([f"{sizes[0]} against {sizes[1]}", f"{begins:.0%}", " / ".join(ours), " / ".join(tenth),
                         f"{wrong} of {sum(map(len, cells))}"])  # fmt: skip
    columns = (
        "runs",
        "gap begins at",
        "Leadline told: gap 2 / 4 / 8 sd",
        "t-test of the last tenth",
        "wrong way round",
    )
    note = "The gap in standard deviations of what a seed adds. The t-test asks one question at 5 %, Leadline two."
    yield Table("Power", "none", columns, rows, note)


def _right(world: World, key: tuple[int, ...]) -> tuple[bool, bool, bool]:
    drawn = draw(world, generator(*key))
    one = compared(drawn).by.differences[0]
    gap = one.final if one.told == "final" else one.whole
    return one.told != "no" and gap.size > 0, naive(drawn)["last tenth"], one.told != "no" and gap.size < 0


def _onset(pool: ProcessPoolExecutor, draws: int, key: tuple[int, ...]) -> Iterator[Table]:
    worlds = [World((5, 5), gap=gap, begins=begins) for gap in (4.0, 8.0, 16.0) for begins in (0.2, 0.5)]
    worlds += [World((3, 3), gap=16.0, begins=0.5)]
    rows = []
    for world, found in zip(worlds, _spread(pool, _dated, worlds, draws, key), strict=True):
        dated = [one for one in found if one is not None]
        rows.append([f"{world.sizes[0]} against {world.sizes[1]}, {world.gap:.0f} sd, {world.begins:.0%}",
                     share(one is not None for one in found), share(one[0] for one in dated),
                     average(one[1] for one in dated)])  # fmt: skip
    columns = ("runs, gap, begins at", "dated", "sure too early", "sure after the opening by")
    note = (
        "In shares of the run. The opening is where the true gap reaches a quarter of its final size. Sure too early: "
        "said to be sure before the true gap began to open."
    )
    yield Table("When the gap opens", "sure too early <= .05", columns, rows, note)


def _dated(world: World, key: tuple[int, ...]) -> tuple[bool, float] | None:
    drawn = draw(world, generator(*key))
    one = compared(drawn).by.differences[0]
    if one.told != "final" or one.sure_from is None:
        return None
    steps = len(drawn.gap)
    opening = (int(np.argmax(drawn.gap >= drawn.gap[-1] / 4)) + 1) / steps
    begun = one.sure_from / steps < world.begins - 1 / 80  # half a cell
    return begun, one.sure_from / steps - opening


def _odd(pool: ProcessPoolExecutor, draws: int, key: tuple[int, ...]) -> Iterator[Table]:
    worlds = [
        World((count - 1, 1), gap=gap, begins=0.5, known=False) for count in (4, 5, 8) for gap in (0.0, 8.0, 30.0)
    ]
    found = dict(zip(worlds, _spread(pool, _stands_out, worlds, draws, key), strict=True))
    rows = []
    for count in (4, 5, 8):
        cells = [found[World((count - 1, 1), gap=gap, begins=0.5, known=False)] for gap in (0.0, 8.0, 30.0)]
        rows.append([str(count), share(any(one) for one in cells[0]), *(f"{np.mean([one[0] for one in some]):.2f}"
                     for some in cells[1:]), share(one[1] for some in cells[1:] for one in some)])  # fmt: skip
    columns = ("runs", "all alike: one is called odd", "one off by 8 sd: found", "by 30 sd", "another is called odd")
    yield Table("The odd one out", "<= .05 where all are alike", columns, rows)


def _stands_out(world: World, key: tuple[int, ...]) -> tuple[bool, bool]:
    names = {one.run for one in compared(draw(world, generator(*key)), known=False).odd}
    return "second 0" in names, bool(names - {"second 0"})


def _alone(pool: ProcessPoolExecutor, draws: int, key: tuple[int, ...]) -> Iterator[Table]:
    (found,) = _spread(pool, _two, [World((1, 1))], draws, key)
    told = share(one[0] for one in found)
    rows = [
        ["two runs of one variant, said to differ as runs", told],
        ["said to differ as variants", share(one[1] for one in found)],
    ]
    yield Table("Two single runs", "as variants: 0, whatever the runs do", ("what", "figure"), rows)


def _two(world: World, key: tuple[int, ...]) -> tuple[bool, bool]:
    one = compared(draw(world, generator(*key))).by.differences[0]
    return one.told != "no", one.beyond_seeds and one.told != "no"


def _real(pool: ProcessPoolExecutor, draws: int, key: tuple[int, ...]) -> Iterator[Table]:
    """Seeds that others ran. Splits of one group are not independent of each other."""
    place = SHARED / "runs" / "Sunshine535__nips-grpo-dynamics"
    groups = {name: sorted(place.glob(pattern)) for name, pattern in PUBLIC.items()} if place.exists() else {}
    groups |= {name: sorted((SHARED / "zoo").glob(f"{name}-*")) for name in ZOO} if (SHARED / "zoo").exists() else {}
    groups = {name: paths for name, paths in groups.items() if len(paths) > 1}
    if not groups:
        return
    runs = {path: _reward_of(open_run(path)) for paths in groups.values() for path in paths}
    splits = [split for paths in groups.values() if len(paths) > 3 for split in _halves(paths)]
    told = [_differ(runs, *split) for split in splits]
    rows = [["splits of one group of seeds said to differ", share(told)]]
    public = [name for name in groups if name in PUBLIC]
    for names, what in (
        (public, "pairs of variants of one public study"),
        ([one for one in ZOO if one in groups], "pairs of zoo families (2 to 4 seeds)"),
    ):
        pairs = list(itertools.combinations(names, 2))
        found = [pair for pair in pairs if _differ(runs, groups[pair[0]], groups[pair[1]])]
        rows.append([f"{what} said to differ", share(pair in found for pair in pairs)])
        if names == public:
            rows.append(["which", "; ".join(f"{one} / {other}" for one, other in found) or "none"])
    likely = [(one, other) for one in HIGH for other in LOW if one in groups and other in groups]
    rows.append(
        [
            "zoo families that saturate against those that never rise",
            share(_differ(runs, groups[a], groups[b]) for a, b in likely),
        ]
    )
    alike = list(itertools.combinations([one for one in HIGH if one in groups], 2))
    rows.append(
        ["zoo families that saturate against each other", share(_differ(runs, groups[a], groups[b]) for a, b in alike)]
    )
    yield Table("Seeds that others ran", "splits <= .05", ("what", "figure"), rows)


def _reward_of(run: Run) -> Run:
    """The same run with nothing but its reward: the other series would be fitted for nothing."""
    return replace(run, series=tuple(one for one in run.series if one.name == "reward/mean"), unread=())


PUBLIC = {
    "rho .7": "gates_1_2__rho0.70_seed4?",
    "rho 1": "gates_1_2__rho1.00_seed4?",
    "rho 1 adq": "gates_1_2__rho1.00_seed4?_adq",
    "rho 3": "gates_1_2__rho3.00_seed4?",
    "drgrpo": "drgrpo_g4_safe__drgrpo_g4s_seed4?",
    "tasa": "tasa_g4_safe__tasa_g4s_seed4?",
    "bandit": "wave7_bandit__rho1.00_seed4?_bandit",
    "exact": "wave8_exact_rho__rho1.00_seed4?_exact",
    "spo dup": "wave10_aser__spo_dup_seed4?",
    "spo full": "wave10_aser__spo_full_seed4?",
}
HIGH = ("healthy", "healthy_ppo", "healthy_rloo", "healthy_rpp", "saturated")
LOW = ("frozen", "late", "random_reward", "kl_anchored")
ZOO = (*HIGH, *LOW, "slow", "drift", "lr_too_high", "entropy_collapse", "rm_overopt", "rm_kl_safe", "noisy_reward")


def _halves(paths: Sequence[Path]) -> Iterator[tuple[list[Path], list[Path]]]:
    """Every way to part the seeds in two, at least two on each side."""
    for some in itertools.combinations(paths, len(paths) // 2):
        rest = [one for one in paths if one not in some]
        if len(some) < len(rest) or paths[0] in some:
            yield list(some), rest


def _differ(runs: dict[Path, Run], first: Sequence[Path], second: Sequence[Path]) -> bool:
    members = [
        Member(path.name, runs[path], name) for name, paths in (("first", first), ("second", second)) for path in paths
    ]
    return compare(Gathered(tuple(members), "named"), by="reward/mean").by.differences[0].told != "no"


EXPERIMENTS = {"false": _false, "power": _power, "onset": _onset, "odd": _odd, "alone": _alone, "real": _real}

if __name__ == "__main__":
    raise SystemExit(main())
