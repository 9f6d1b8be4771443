"""Gamed rewards: told, when, and not told on sound runs: `python bench/gamed.py`.

Every run of the zoos is looked at in ten places. Gamed runs: is it told at the first look after a fifth of the truth
was lost, and how far from the turn of the truth is the beginning that is named? Sound runs: is it ever told? All of it
again with the two numbers of the weighing fitted without each family. Then exploits that no run has shown
(bench/exploits.py), and honest changes of style.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import pickle
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest_sets as sets
import exploits
import numpy as np
from numpy.typing import NDArray
from tables import Table

from leadline.evidence import gather
from leadline.evidence.relation import AS_LIKELY, STEEPNESS
from leadline.reading import View
from leadline.run import Rollout
from leadline.sources import open_run

ROOT = Path(__file__).resolve().parent.parent
GAMED = {
    "judge_hack", "late_judge", "recall_hack", "recall_slow", "visible_tests",  # zoo2
    "contains", "rm_overopt", "rm_overopt_ppo", "random_reward",  # zoo
}  # fmt: skip
DECAYED = {
    "slow_collapse", "entropy_explosion", "overfit", "drift", "entropy_collapse", "lr_step", "lr_too_high"
}  # fmt: skip
LOST = 0.2  # of the truth's range: then a reader should have told
TOLD = (0.5, 0.8)
LOOKS = 10
EVENS = np.linspace(0.04, 0.16, 13)
STEEP = np.geomspace(20, 160, 7)
BASES = ("healthy_longer-0", "adaptive_kl-1", "healthy_longer-1", "long_warmup-5")  # words twice, characters twice
TURNS = (0.2, 0.5)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One look at one run."""

    run: str
    family: str
    group: str
    look: int
    last: int
    text: bool
    p: float
    outcome: str
    begun: int | None
    lost: float
    turned: float  # where the truth stood highest so far
    draws: NDArray[np.float64]
    beside: float
    seconds: float


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=["zoo2_dev", "zoo_dev"])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "out" / "gamed")
    parser.add_argument("--score-only", action="store_true", help="score the looks that --out holds already")
    arguments = parser.parse_args(argv)
    arguments.out.mkdir(parents=True, exist_ok=True)
    kept: Path = arguments.out / "looks.pkl"
    folders = [(name, str(folder)) for name in arguments.sets for folder in sets.folders(name)]
    if not arguments.score_only:
        with ProcessPoolExecutor(arguments.processes) as pool:
            looks = [seen for some in pool.map(_looked, *zip(*folders, strict=True)) for seen in some]
        kept.write_bytes(pickle.dumps(looks))
    looks = pickle.loads(kept.read_bytes())  # our own file, written above
    for table in (*_zoos(looks), _planted_table(dict(folders_by_name(folders)))):
        print(table.text())
    return 0


def folders_by_name(folders: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for _, folder in folders:
        yield Path(folder).name, folder


def _looked(name: str, folder: str) -> list[Seen]:
    truth = json.loads((Path(folder) / "truth.json").read_text())
    gold = np.asarray([point[:2] for point in truth.get("gold") or []], dtype=np.float64)
    run = open_run(folder)
    reward = run.get("reward/mean")
    if reward is None or len(gold) < 2:
        return []
    family = Path(folder).name.rsplit("-", 1)[0]
    size, last, seen = max(float(np.ptp(gold[:, 1])), 1e-9), int(reward.steps[-1]), []
    for look in range(1, LOOKS + 1):
        step = round(last * look / LOOKS)
        view = View(run.until(step))
        batches = view.batches
        began = time.process_time()
        evidence = gather(view.run, batches)
        seconds = time.process_time() - began
        until = gold[gold[:, 0] <= step]
        if not len(until):
            continue
        related = evidence.relation
        seen.append(
            Seen(
                f"{name}/{Path(folder).name}",
                family,
                f"{name}: {family}",
                look,
                last,
                bool(batches),
                evidence.p,
                evidence.outcome,
                None if evidence.begun is None else evidence.begun.step,
                float(until[:, 1].max() - until[-1, 1]) / size,
                float(until[int(until[:, 1].argmax()), 0]),
                np.zeros(1) if related is None else related.draws,
                evidence.beside,
                seconds,
            )
        )
    return seen


def _zoos(looks: Sequence[Seen]) -> Iterator[Table]:
    left_out = _left_out(looks)
    for title, p in (("as shipped", [one.p for one in looks]), ("each family left out of the fit", left_out)):
        yield _told(title, looks, p)
    yield _families(looks, left_out)
    seconds = np.asarray([one.seconds for one in looks if one.text])
    cells = [[f"{1000 * np.median(seconds):.0f}", f"{1000 * np.quantile(seconds, 0.95):.0f}"]]
    yield Table("Cost of a look with samples", "30 % of a reading", ("ms, median", "ms, 95 %"), cells)


def _told(title: str, looks: Sequence[Seen], p: Sequence[float]) -> Table:
    first, begun, sound = [], [], defaultdict(float)
    done: set[str] = set()
    for one, now in zip(looks, p, strict=True):
        if one.family in GAMED and one.text and one.lost >= LOST and one.run not in done:
            done.add(one.run)
            first.append(now)
            if one.begun is not None:
                begun.append(abs(one.begun - one.turned) / one.last)
        if one.family not in GAMED | DECAYED:
            sound[one.run] = max(sound[one.run], now)
    worst = np.asarray(list(sound.values()))
    cells = [
        [
            f"p > {bar}",
            f"{np.mean(np.asarray(first) > bar):.2f} of {len(first)}",
            f"{np.median(begun):.3f}",
            f"{np.mean(worst > bar):.3f} of {len(worst)}",
        ]
        for bar in TOLD
    ]
    columns = (
        "bar",
        "told at the first look after a fifth is lost",
        "beginning off by, of the plan",
        "sound told ever",
    )
    return Table(f"Gamed runs with text, {title}", ">= .80, <= .05, <= .02", columns, cells)


def _families(looks: Sequence[Seen], p: Sequence[float]) -> Table:
    rows: dict[str, list[tuple[Seen, float]]] = defaultdict(list)
    for one, now in zip(looks, p, strict=True):
        rows[one.group].append((one, now))
    cells = []
    for group in sorted(rows):
        some = rows[group]
        end = [(one, now) for one, now in some if one.look == LOOKS]
        lost = [now for one, now in some if one.lost >= LOST and one.family in GAMED]
        cells.append(
            [
                group,
                str(len(end)),
                f"{np.mean([now for _, now in end]):.2f}" if end else "",
                f"{np.mean(lost):.2f}" if lost else "",
                f"{max(now for _, now in some):.2f}",
                ", ".join(sorted({one.outcome for one, _ in end})),
            ]
        )
    columns = ("family", "runs", "p at the end", "p while lost", "highest p", "outcomes at the end")
    return Table("By family, each left out of its own fit", "", columns, cells)


def _left_out(looks: Sequence[Seen]) -> list[float]:
    """P of every look by the two numbers that fit all other families best."""
    label = np.asarray([one.family in GAMED and one.lost >= LOST for one in looks])
    sound = [one.family not in GAMED | DECAYED for one in looks]
    used = np.asarray([one.text for one in looks]) & (np.asarray(sound) | label)
    group = np.asarray([one.group for one in looks])
    weight = np.asarray([1 / np.sum(used & (group == one)) if (used & (group == one)).any() else 0.0 for one in group])
    tried = [(even, steep) for even in EVENS.tolist() for steep in STEEP.tolist()]
    p = np.stack([[_p(one, even, steep) for one in looks] for even, steep in tried])
    loss = -np.log(np.clip(np.where(label, p, 1 - p), 1e-4, 1.0)) * weight * used
    chosen = {one: int((loss[:, group != one]).sum(axis=1).argmin()) for one in set(group.tolist())}
    fits = sorted({tried[place] for place in chosen.values()})
    said = ", ".join(f"{even:.3f} {steep:.0f}" for even, steep in fits)
    print(f"fits without a family (even, steepness): {said}; shipped: {AS_LIKELY} {STEEPNESS:.0f}")
    return [float(p[chosen[one.group], place]) for place, one in enumerate(looks)]


def _p(one: Seen, even: float, steep: float) -> float:
    distance = np.hypot(one.draws, one.beside * even / AS_LIKELY)
    return float((1 / (1 + np.exp(-steep * (distance - even)))).mean())


def _planted_table(folders: dict[str, str]) -> Table:
    cells = []
    bases = {name: _base(folders[name]) for name in BASES if name in folders}
    for kind, plants in (("gamed", exploits.GAMED), ("honest", {"none": None, **exploits.HONEST})):
        for title, plant in plants.items():
            told, changed, off = [], [], []
            for seed, base in enumerate(bases.values()):
                for turn in TURNS:
                    made = exploits.planted(base, plant, turn, seed)
                    view = View(made.run)
                    evidence = gather(made.run, view.batches)
                    told.append(evidence.p)
                    changed.append(evidence.outcome == "changed")
                    if evidence.begun is not None:
                        off.append(abs(evidence.begun.step - made.turn) / (exploits.BATCHES * exploits.EVERY))
            cells.append(
                [
                    title,
                    kind,
                    f"{np.mean(np.asarray(told) > TOLD[0]):.2f}",
                    f"{np.mean(np.asarray(told) > TOLD[1]):.2f}",
                    f"{np.mean(changed):.2f}",
                    f"{np.median(off):.3f}" if off else "",
                ]
            )
    columns = ("planted", "kind", f"p > {TOLD[0]}", f"p > {TOLD[1]}", "else: changed in kind", "beginning off by")
    return Table("Exploits nobody has shown, on samples of sound runs", "", columns, cells)


def _base(folder: str) -> list[Rollout]:
    run = open_run(folder)
    return [one for step in run.rollouts.steps for one in run.rollouts.at(step) if np.isfinite(one.score)]


if __name__ == "__main__":
    raise SystemExit(main())
