"""Leadline's verdicts against baselines and other tools on finished runs: `python bench/backtest.py`.

Every run of ../shared/zoo and ../shared/runs is replayed at equal shares of its length and scored by ../shared/score,
whose head states the rule. Baselines and the peers that are installed answer the same looks in the same run.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
from tables import Table

from leadline.pipeline import read_run
from leadline.run import Run
from leadline.sources import open_run

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
BASELINES = ("last", "raw_max", "patience")
PEERS = {
    "rldoctor": "rl_doctor",
    "rldoctor_warn": "rl_doctor",
    "rlwatch": "rlwatch",
    "ptt": "post_training_toolkit",
}  # policy: module
HACKED = ("contains", "rm_overopt", "rm_overopt_ppo", "random_reward")
COLLAPSED = ("drift", "entropy_collapse", "lr_step")
LATE = ("slow", "late")
SOUND = ("healthy", "noisy_reward", "slow", "late", "rm_kl_safe", "data_shift", "ref_reset")
FIFTHS = 5
TOLD = {"eval/reward/mean": "reward/f"}  # the score tells every policy that this key holds a held-out score


@dataclass(frozen=True, slots=True)
class Job:
    """One run, and where the answers are to be given."""

    run: str  # as the score names it
    folder: str
    first: float
    last: float
    looks: int
    told: bool  # whether the run logs a key of TOLD

    @property
    def steps(self) -> list[float]:
        shares = [place / self.looks for place in range(1, self.looks + 1)]
        return [self.last if one == 1 else float(round(self.first + one * (self.last - self.first))) for one in shares]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "out" / "backtest")
    parser.add_argument("--sets", nargs="*", default=["zoo_dev", "runs_dev"])
    parser.add_argument("--only", nargs="*", default=[], help="families whose runs are read; all without it")
    parser.add_argument("--looks", type=int, default=10)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--score-only", action="store_true", help="score what --out holds already")
    arguments = parser.parse_args(argv)
    runs, score = _score_modules()
    arguments.out.mkdir(parents=True, exist_ok=True)
    cases = list(_cases(runs, arguments.sets, arguments.only))
    if not arguments.score_only:
        began = time.time()
        _ours(cases, arguments.out, arguments.looks, arguments.processes)
        print(f"Leadline: {len(cases)} runs x {arguments.looks} looks in {time.time() - began:.0f} s\n", flush=True)
        _others(cases, arguments.out)
    _report(score, cases, arguments.out)
    return 0


def _score_modules() -> tuple[Any, Any]:
    os.environ.setdefault("ZOO_DEV", str(SHARED / "zoo"))
    os.environ.setdefault("RUNS_DEV", str(SHARED / "runs"))
    sys.path.insert(0, str(SHARED / "score"))
    import runs
    import score

    return runs, score


def _cases(runs: Any, sets: Sequence[str], only: Sequence[str]) -> Iterator[Any]:
    """The runs that can be scored."""
    where = runs.roots()
    for one in sets:
        for name in runs.list_runs(one, where[one]):
            run = runs.load_run(name, where)
            if run.n and runs.truth(run) is not None and (not only or run.family in only):
                yield run


def _ours(cases: Sequence[Any], out: Path, looks: int, processes: int) -> None:
    told = [any(key in run.native for key in TOLD.values()) for run in cases]
    jobs = [Job(run.id, run.folder, run.first, run.last, looks, one) for run, one in zip(cases, told, strict=True)]
    with ProcessPoolExecutor(processes) as pool, (out / "leadline.jsonl").open("w") as file:
        for number, lines in enumerate(pool.map(_replay, jobs), 1):
            file.writelines(json.dumps(line) + "\n" for line in lines)
            file.flush()
            print(f"\r{number}/{len(jobs)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _replay(job: Job) -> list[dict[str, object]]:
    run = open_run(job.folder, mapping=TOLD if job.told else None)
    ours = _clock(run, job)
    lines = []
    for step in job.steps:
        began = time.perf_counter()
        said = read_run(run.until(int(np.interp(step, *ours))), budget=int(ours[1][1]))
        seconds = time.perf_counter() - began
        best = said.judgement.best_checkpoint
        lines.append(
            {
                "run": job.run,
                "step": step,
                "last_step": job.last,
                "verdict": said.judgement.verdict,
                "best_step": None if best is None else float(np.interp(best.step, *ours[::-1])),
                "p_continue_pays": said.judgement.p_continue_pays,
                "because": list(said.judgement.because),
                "seconds": round(seconds, 4),
            }
        )
    return lines


def _clock(run: Run, job: Job) -> tuple[tuple[float, float], tuple[float, float]]:
    """First and last step as the score counts them and as Leadline does: where a log has no plain step column, the
    score counts rows."""
    reward = run.get("reward/mean")
    if reward is None or int(reward.steps[-1]) == job.last:
        return (job.first, job.last), (job.first, job.last)
    return (job.first, job.last), (float(reward.steps[0]), float(reward.steps[-1]))


def _others(cases: Sequence[Any], out: Path) -> None:
    """Baselines and installed peers, through the score's own adapters, at its own ten looks."""
    import replay

    names = [*BASELINES, *(name for name, module in PEERS.items() if importlib.util.find_spec(module))]
    for name in names:
        decide = replay.policy(name)
        with (out / f"{name}.jsonl").open("w") as file:
            for run in cases:
                for _, step in run.looks():
                    seen = run.upto(step)
                    began = time.perf_counter()
                    verdict, best, *_ = decide(seen, step, run)
                    seconds = time.perf_counter() - began
                    line = {"run": run.id, "step": step, "last_step": run.last, "verdict": verdict, "best_step": best}
                    file.write(json.dumps({**line, "seconds": seconds}) + "\n")


def _report(score: Any, cases: Sequence[Any], out: Path) -> None:
    truths = {run.id: (run, score.Truth(run)) for run in cases}
    answers = {file.stem: _read(file) for file in sorted(out.glob("*.jsonl"))}
    rows = {name: _scored(score, truths, given) for name, given in answers.items()}
    names = ["leadline", *sorted(set(rows) - {"leadline"})]
    for kind in ("zoo", "public"):
        if any(run.kind == kind for run in cases):
            print(_table(score, kind, names, rows).text())
    print(_must_show(rows["leadline"]).text())
    print(_by_family(score, rows["leadline"]).text())
    print(_reliability(truths, answers["leadline"], out).text())
    print(_accusations(truths, answers["leadline"]).text())


def _read(file: Path) -> dict[str, list[dict[str, Any]]]:
    given: dict[str, list[dict[str, Any]]] = {}
    for line in file.read_text().splitlines():
        one = json.loads(line)
        given.setdefault(one["run"], []).append(one)
    return given


def _scored(score: Any, truths: dict[str, Any], given: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    rows = []
    for name, looks in given.items():
        if name in truths:
            run, truth = truths[name]
            rows.append({"run": name, "kind": run.kind, "family": run.family, **score.score_run(truth, looks)})
    return rows


def _table(score: Any, kind: str, names: Sequence[str], rows: dict[str, list[dict[str, Any]]]) -> Table:
    ours = {row["run"]: row["U"] for row in rows["leadline"]}
    cells = []
    for name in names:
        some = [row for row in rows[name] if row["kind"] == kind]
        if not some:
            continue
        figures = score.summary(some)
        paired = [{**row, "apart": ours[row["run"]] - row["U"]} for row in some if row["run"] in ours]
        apart, error = score.mean(paired, "apart")
        told = [figures[key] for key in ("U", "regret", "spent", "false_stop", "missed", "select")]
        seconds = float(np.median([row["seconds"] for row in some]))
        cost = f"{1000 * seconds:.1f}"
        cells.append([name, *(f"{one:.3f}" for one in told), f"{apart:+.3f} ± {error:.3f}", cost])
    one = score.summary([row for row in rows["leadline"] if row["kind"] == kind])
    note = f"Best blind policy: U {one['blind']:.3f}; the best possible with these looks: {one['oracle_u']:.3f}."
    columns = ("policy", "U", "regret", "spent", "false", "missed", "select", "Leadline ahead by", "ms a look")
    target = "U >= .83, false <= .04, missed <= .08, select <= .07" if kind == "zoo" else "U >= .76, false <= .05, ..."
    return Table(f"{kind} runs ({one['n']})", target, columns, cells, note)


def _must_show(rows: Sequence[dict[str, Any]]) -> Table:
    cells = []
    for title, families, keys in (
        ("hacked: regret at the stop, at the end", HACKED, ("regret", "select")),
        ("collapsed: regret at the stop, at the end", COLLAPSED, ("regret", "select")),
        ("slow and late: false stops", LATE, ("false_stop",)),
    ):
        some = [row for row in rows if row["family"] in families]
        if some:
            cells.append(
                [title, str(len(some)), ", ".join(f"{np.mean([row[key] for row in some]):.3f}" for key in keys)]
            )
    return Table("Families", "hacked <= .12, collapsed <= .05, slow and late 0", ("what", "runs", "figure"), cells)


def _by_family(score: Any, rows: Sequence[dict[str, Any]]) -> Table:
    cells = []
    for family in sorted({row["family"] for row in rows}):
        figures = score.summary([row for row in rows if row["family"] == family])
        told = [figures[key] for key in ("U", "regret", "spent", "false_stop", "missed", "select")]
        cells.append([family, str(figures["n"]), *(f"{one:.2f}" for one in told)])
    columns = ("family or repository", "runs", "U", "regret", "spent", "false", "missed", "select")
    return Table("By family", "none", columns, cells)


def _reliability(truths: dict[str, Any], given: dict[str, list[dict[str, Any]]], out: Path) -> Table:
    """What was said of P(continue pays) against how often a clear gain came, looks before the end."""
    cells, points = [], {}
    for kind in ("zoo", "public"):
        said, came = _said_and_came(truths, given, kind)
        for low in np.arange(FIFTHS) / FIFTHS:
            inside = (said >= low) & ((said < low + 1 / FIFTHS) | (low + 1 / FIFTHS >= 1))
            if inside.any():
                mean, observed = float(said[inside].mean()), float(came[inside].mean())
                points.setdefault(kind, []).append((mean, observed, int(inside.sum())))
                place = f"{low:.1f} to {low + 1 / FIFTHS:.1f}"
                cells.append([kind, place, str(inside.sum()), f"{mean:.2f}", f"{observed:.2f}"])
    _plot(points, out / "reliability.png")
    columns = ("runs", "said", "looks", "mean", "observed")
    return Table("P(continue pays)", "within .08 of observed", columns, cells, "Looks at one run are not independent.")


def _said_and_came(
    truths: dict[str, Any], given: dict[str, list[dict[str, Any]]], kind: str
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    said, came = [], []
    for name, looks in given.items():
        run, truth = truths.get(name, (None, None))
        if run is None or run.kind != kind:
            continue
        for look in looks:
            if look["p_continue_pays"] is not None and look["step"] < truth.T:
                said.append(look["p_continue_pays"])
                came.append(truth.late_gain(look["step"]) > max(3 * truth.se, 0.05 * truth.S))
    return np.asarray(said), np.asarray(came)


def _plot(points: dict[str, list[tuple[float, float, int]]], file: Path) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(4, 4))
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    for kind, some in points.items():
        axes.plot([one[0] for one in some], [one[1] for one in some], marker="o", label=kind)
    axes.set_xlabel("P(continue pays) as said")
    axes.set_ylabel("how often a clear gain came")
    axes.legend()
    figure.savefig(file, dpi=120, bbox_inches="tight")
    pyplot.close(figure)


def _accusations(truths: dict[str, Any], given: dict[str, list[dict[str, Any]]]) -> Table:
    """Witnesses heard on sound runs of the zoo, and on any public run."""
    cells = []
    for name, looks in given.items():
        run = truths[name][0] if name in truths else None
        heard = sorted({one for look in looks for one in look["because"]})
        if run is not None and heard and (run.kind == "public" or run.family.startswith(SOUND)):
            cells.append([name, ", ".join(heard)])
    return Table("Witnesses on sound and on public runs", "<= 3 % of sound runs", ("run", "heard"), cells)


if __name__ == "__main__":
    raise SystemExit(main())
