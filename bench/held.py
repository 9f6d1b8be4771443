"""Is a policy that does not move told from one that does: `python bench/held.py [--draws N] [--seed S]`.

Simulated runs of a policy with a known way: x standard deviations along what the reward asks for and d along what it
does not, so that KL of an answer is (x^2 + d^2) / 2 and the gain is x standard deviations of the reward between the
answers to one prompt. The KL penalty pulls back with beta x against the pull of the advantages. Units of KL, its
estimator, the lengths of answers and runs, noise and what was logged are drawn anew for each run.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

from shapes import log_uniform
from simulate import Array, autoregressive
from tables import Table, share

from leadline.findings import found_in
from leadline.plan import plan_of
from leadline.reading.view import View
from leadline.run import Config, Run, Series
from leadline.sections import kl_reward_of

KINDS = ("frozen", "rate at 0", "pinned", "slow", "healthy", "early", "converged", "random reward")
STILL, PINNED, DRIFT = "policy.frozen", "kl.pinned", "kl.drift_without_benefit"
DROPPED = {"len/response_mean": 0.25, "entropy": 0.35, "grad_norm": 0.35, "lr": 0.3, "reward/std": 0.4, "kl/ref": 0.15}


@dataclass(frozen=True, slots=True)
class Way:
    """Where the policy goes, at each step."""

    along: Array  # x
    beside: Array  # d
    rate: Array  # the learning rate
    beta: float
    planned: int
    most: float = np.inf  # of x: what can be learned at all


def walked(rng: Generator, kind: str) -> Way:
    """One policy's way, over a plan of 60 to 2000 steps."""
    planned = round(log_uniform(rng, 60, 2000))
    rate, beta, most = np.full(planned, log_uniform(rng, 3e-7, 2e-5)), log_uniform(rng, 0.001, 0.04), np.inf
    pull = rng.uniform(1.0, 6.0) / planned  # x after the whole plan, were nothing in its way
    wander = rng.uniform(0.1, 0.5)  # of a step's way along, in no direction
    seen = planned if rng.random() < 0.5 else round(rng.uniform(0.6, 1.0) * planned)
    if kind == "frozen":
        rate[:] = log_uniform(rng, 1e-10, 3e-8)
        pull = np.sqrt(2 * log_uniform(rng, 1e-8, 5e-3)) / planned
    elif kind == "rate at 0":
        rate *= np.clip(1 - np.arange(planned) / (rng.uniform(0.3, 0.7) * planned), 0, 1)
    elif kind == "pinned":
        beta = log_uniform(rng, 0.7, 6.0)
        pull = rng.uniform(5, 40) / planned
    elif kind == "slow":
        pull = np.sqrt(2 * log_uniform(rng, 0.05, 0.6)) / planned
    elif kind == "early":
        planned, seen = max(planned, 400), max(round(rng.uniform(0.04, 0.12) * planned), 30)
        rate = np.full(planned, rate[0])
        pull = rng.uniform(1.0, 6.0) / planned
    elif kind == "converged":
        most, pull = rng.uniform(0.6, 2.0), rng.uniform(6, 30) / planned
    if kind in ("healthy", "slow", "early") and rng.random() < 0.3:
        rate = rate * np.clip(np.arange(1, planned + 1) / (rng.uniform(0.02, 0.1) * planned), 0, 1)
    along, beside = np.zeros(seen), np.zeros(seen)
    x = d = 0.0
    walk = pull * wander * np.sqrt(planned)  # as far beside as along, times its share
    if kind == "random reward":
        walk = rng.uniform(0.8, 3.0) / np.sqrt(planned)
    for step in range(seen):
        eta = pull * rate[step] / rate.max()
        learned = 0.0 if kind == "random reward" else max(1 - x / most, 0.0)
        back = min(eta * beta, 0.5)
        x += eta * learned - back * x
        d = np.hypot((1 - back) * d, walk * rate[step] / rate.max())  # a walk in many directions
        along[step], beside[step] = x, d
    return Way(along, beside, rate[:seen], beta, planned, most)


def logged_run(rng: Generator, kind: str) -> Run:
    """What a log would hold of it, some of it left out."""
    way = walked(rng, kind)
    count, spread = len(way.along), rng.uniform(0.2, 0.5)
    tokens, samples = log_uniform(rng, 15, 2000), log_uniform(rng, 32, 2048)
    phi = float(rng.choice([0.0, 0.3, 0.6]))

    def noisy(level: Array, sd: float) -> Array:
        return level + sd * autoregressive(count, phi, rng)

    length = noisy(
        tokens * (1 + rng.uniform(-0.15, 0.3) * way.along + rng.uniform(-0.2, 0.2) * way.beside), 0.04 * tokens
    )
    columns = {
        "reward/mean": noisy(
            rng.uniform(0.1, 0.5) + spread * way.along, rng.uniform(0.5, 2) * spread / np.sqrt(samples / 8)
        ),
        "len/response_mean": np.maximum(length, 1.0),
        "entropy": noisy(np.exp(-rng.uniform(0.1, 0.5) * way.along + rng.uniform(-0.2, 0.2) * way.beside), 0.02),
        "grad_norm": np.exp(noisy(np.zeros(count), 0.15)),
        "lr": way.rate,
        "reward/std": np.maximum(noisy(np.full(count, spread), 0.05 * spread), 0.0),
    }
    answer = (way.along**2 + way.beside**2) / 2
    if rng.random() < 0.5:  # k1: the mean of log ratios, of either sign
        kl = answer + np.sqrt(2 * answer / samples) * rng.standard_normal(count)
    else:  # k3: never negative
        kl = answer * np.exp(noisy(np.zeros(count), 0.15))
    summed = rng.random() < 0.25
    columns["kl/ref_seq_sum" if summed else "kl/ref"] = kl if summed else kl / tokens
    steps = np.arange(1, count + 1)
    kept = {name for name in columns if rng.random() >= DROPPED.get(name.replace("_seq_sum", ""), 0.0)}
    series = tuple(Series(name, name, "", steps, columns[name]) for name in columns if name in kept)
    known = rng.random(3) < 0.7
    config = Config(
        kl_coefficient=way.beta if known[0] or kind == "pinned" else None,
        learning_rate=float(way.rate.max()) if known[1] else None,
        planned_steps=way.planned if known[2] else None,
    )
    return Run("simulated", series=series, config=config)


def tellable(kind: str, run: Run) -> bool:
    """Whether what was logged can show it: KL and its unit, or two of what would move beside the reward."""
    names = {series.name for series in run.series}
    if kind == "rate at 0":
        return "lr" in names
    if "kl/ref_seq_sum" in names or {"kl/ref", "len/response_mean"} <= names:
        return True
    return kind == "frozen" and len({"kl/ref", "entropy", "len/response_mean"} & names) > 1


def said_of(run: Run) -> set[str]:
    view = View(run, plan_of(run, run.config.planned_steps))
    section, said = kl_reward_of(view), {finding.id for finding in found_in(view)}
    if section.regime.startswith("rising") and not section.frozen:
        said.add("moves")
    return said


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    told: dict[str, list[set[str]]] = defaultdict(list)
    blind: dict[str, list[set[str]]] = defaultdict(list)
    for place, kind in enumerate(KINDS):
        for draw in range(arguments.draws):
            run = logged_run(np.random.default_rng((arguments.seed, place, draw)), kind)
            (told if tellable(kind, run) else blind)[kind].append(said_of(run))
    rows = []
    for kind in KINDS:
        found, every = told[kind], told[kind] + blind[kind]
        wanted = {"frozen": STILL, "rate at 0": STILL, "pinned": PINNED}.get(kind)
        rows.append(
            [
                kind,
                wanted or "neither",
                share(wanted in said for said in found) if wanted else "-",
                *(share(name in said for said in every) for name in (STILL, PINNED, DRIFT, "moves")),
            ]
        )
    columns = ["run", "to be told", "told, where it can be", "frozen", "pinned", "drift", "KL said to rise"]
    print(Table("Does the policy move", "told > .9; frozen or pinned of others < .02", columns, rows).text())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
