"""Runs of our own with a known truth, on kinds that nothing here was built with: `python bench/own_zoo.py OUT`.

A small transformer policy learns small tasks by GRPO from a flawed or a sound reward; what its answers are truly worth
is measured beside it, every ten steps. Layout as in ../shared/zoo2. Needs torch; `--device cuda` trains all runs of a
set in a quarter of an hour on one H200, a processor needs about half an hour a run. What came of it lies packed:
bench/own_zoo.tar.xz (`python bench/backtest.py --sets own` replays it) and bench/own_zoo_third.tar.xz, kept to be
read once (`--sets own_third`).
"""

from __future__ import annotations

import argparse
import random
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from own_zoo_kinds import KINDS as FIRST
from own_zoo_logs import STYLES, Plan
from own_zoo_third import MILDER, THIRD
from own_zoo_trainer import EVERY, train

HIDEABLE = (
    "entropy",
    "kl",
    "lr",
    "grad",
    "reward_std",
    "tied",
    "shortest",
    "longest",
    "highest",
    "lowest",
    "cut",
    "time",
)


def plans(count: int) -> list[Plan]:
    """The plans of the first two sets, the same every time."""
    made = []
    for number, name in enumerate(FIRST):
        for copy in range(count):
            rng = random.Random(f"{name}{copy}")
            made.append(
                Plan(
                    f"{name}-{copy}",
                    name,
                    1000 * number + copy,
                    rng.choice(["trl", "verl"]),
                    copy != 1,  # one in `count` keeps no text
                    rng.random() < 0.5,
                    rng.randrange(24, 42) * EVERY,
                    10 ** rng.uniform(-4.4, -3.6),
                    rng.choice([0.0, 0.0, 0.01, 0.04]),
                )
            )
    return made


def plans_of_third(count: int) -> list[Plan]:
    """The plans of the third set: more styles, and less is told."""
    made = []
    for number, (name, kind) in enumerate(THIRD.items()):
        styles = random.Random(name).sample(list(STYLES), len(STYLES))
        for copy in range(count):
            rng = random.Random(f"third{name}{copy}")
            steps = rng.randrange(*kind.steps) * EVERY
            style = styles[copy % len(styles)]
            means = [over for over in (1, 1, 2, 5, 10) if steps / over >= 60] if style in ("trl", "plain") else [1]
            made.append(
                Plan(
                    f"{name}-{copy}",
                    name,
                    500_000 + 1000 * number + copy,
                    style,
                    (number + copy) % 2 == 0,
                    rng.random() < 0.5,
                    steps,
                    10 ** rng.uniform(-4.3, -3.6),
                    rng.choice([0.0, 0.0, 0.005, 0.02]),
                    kept=rng.choice([10, 10, 20]),
                    logged=rng.choice(means),
                    saved=rng.choice([0, 0, 10, 20, 50]),
                    told=rng.random() < 0.7,
                    hidden=frozenset(key for key in HIDEABLE if rng.random() < 0.25),
                )
            )
    first = {plan.kind: plan for plan in made if plan.name.endswith("-0")}
    return made + [replace(first[like], name=f"{name}-0", kind=name) for name, (like, _) in MILDER.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--set", choices=["first", "third"], default="first", help="first: the first two")
    parser.add_argument("--copies", nargs="*", type=int, default=[0, 1, 2], help="which runs of a kind")
    parser.add_argument("--only", nargs="*", default=[], help="kinds, or single runs; all without it")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--short", action="store_true", help="a few steps each, to see that it works")
    arguments = parser.parse_args()
    count = max(arguments.copies) + 1
    wanted = [
        plan
        for plan in (plans(count) if arguments.set == "first" else plans_of_third(count))
        if int(plan.name.rpartition("-")[2]) in arguments.copies
        and (not arguments.only or {plan.kind, plan.name} & set(arguments.only))
    ]
    wanted.sort(key=lambda plan: -plan.steps)  # the longest first, so that no process waits for the last of them
    work = partial(train, out=arguments.out, device=arguments.device, short=arguments.short)
    with ProcessPoolExecutor(arguments.processes, mp_context=get_context("spawn")) as pool:
        for line in pool.map(work, wanted):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
