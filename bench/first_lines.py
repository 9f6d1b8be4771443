"""Is the first line right when people read it: `python bench/first_lines.py [--out FILE] [--cached]`.

Every run of ../shared at 30, 60 and 100 % of its length: the verdict and its reason beside what the truth says, how
often it is "undecided", and whether the first line contradicts anything below it. Without ../shared it says so.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest
from backtest_tables import gain_came
from tables import Table, share

from leadline.contract import Reading
from leadline.pipeline import read_run
from leadline.words.verdict import verdict_lines

LOOKS = (0.3, 0.6, 1.0)
SETS = backtest.SETS
KEPT = 0.1  # regret of a step that is as good as right
FALLING = ("reward.peaked", "reward.declining", "kl.destructive")


def lines_of(job: backtest.Job) -> list[dict[str, Any]]:
    run, clock = job.open()
    truth = backtest.truth_of(job.run)
    lines = []
    for look in LOOKS:
        step = job.last if look == 1 else round(job.first + look * (job.last - job.first))
        reading = read_run(run.until(clock.ours_at(step)), budget=clock.planned, charts="main")
        judgement, best = reading.judgement, reading.judgement.best_checkpoint
        regret = None if best is None else truth.regret(truth.snap(clock.theirs_at(best.step), step))
        lines.append(
            {
                "run": job.run,
                "look": look,
                "verdict": judgement.verdict,
                "reason": judgement.reason.kind,
                "p": judgement.p_continue_pays,
                "regret": regret,
                "came": gain_came(truth, step),
                "says": verdict_lines(reading).text,
                "contradicts": list(contradictions(reading)),
            }
        )
    return lines


def contradictions(reading: Reading) -> Iterator[str]:
    """Where the first line and what stands below it cannot both be true."""
    judgement, reward = reading.judgement, reading.reward
    reason, best, p = judgement.reason, judgement.best_checkpoint, judgement.p_continue_pays
    serious = {finding.id for finding in reading.findings if finding.severity != "note"}
    on_reward = judgement.judged == "reward/mean"
    if reason.kind == "rising" and serious & set(FALLING):
        yield "rising above a finding that it fell"
    if on_reward and reason.kind == "rising" and reward.shape in ("declining", "peaked"):
        yield f"rising above {reward.shape}"
    if on_reward and reason.kind == "flat" and reward.shape in ("accelerating", "rising"):
        yield f"flat above {reward.shape}"
    if on_reward and reason.kind == "no_trend" and reward.shape not in ("noise", "undecided", "flat"):
        yield f"no trend above {reward.shape}"
    onset, sure = reason.since_step, (reason.p or 0) > 0.9
    if reason.kind == "gamed" and sure and best is not None and onset is not None and best.step > onset:
        yield "keeps a step after the onset"
    if reason.kind == "ceiling" and judgement.would_change:
        yield "asks for more than the ceiling"
    if judgement.verdict == "continue" and p is not None and p < 0.05:
        yield "continue at a chance below 5 %"
    if judgement.verdict in ("stop", "roll_back") and p is not None and p > 0.3:
        yield "stop at a chance above 30 %"


def right(line: dict[str, Any]) -> bool | None:
    """Whether the action was right: going on while a clear gain came, ending when none did, and at the end a step that
    is as good as the best. None: it said that it cannot tell."""
    if line["look"] == 1:
        return line["regret"] is not None and line["regret"] <= KEPT
    if line["verdict"] == "undecided":
        return None
    return bool(line["came"]) is (line["verdict"] == "continue")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=backtest.ROOT / "bench" / "out" / "first_lines.jsonl")
    parser.add_argument("--cached", action="store_true", help="use the lines that --out holds")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args(argv)
    if not arguments.cached:
        if not backtest.SHARED.exists():
            print(f"nothing to read: {backtest.SHARED} is not on this machine")
            return 0
        jobs = [job for _, job in backtest.all_jobs(SETS, 10)]
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(arguments.processes) as pool, arguments.out.open("w") as file:
            for found in pool.map(lines_of, jobs):
                file.writelines(json.dumps(line) + "\n" for line in found)
    lines = [json.loads(line) for line in arguments.out.read_text().splitlines()]
    rows = []
    for name in SETS:
        for look in LOOKS:
            here = [line for line in lines if line["run"].startswith(f"{name}/") and line["look"] == look]
            if here:
                answers = [right(line) for line in here]
                said = Counter(line["verdict"] for line in here)
                rows.append(
                    [
                        name,
                        f"{look:.0%}",
                        share(answer for answer in answers if answer is not None),
                        share(answer is None for answer in answers),
                        ", ".join(f"{verdict} {count}" for verdict, count in said.most_common()),
                    ]
                )
    target = "at 100 %: right >= .95 zoo, .90 public with a known story; undecided 0"
    print(Table("First lines", target, ["set", "look", "right of those said", "undecided", "verdicts"], rows).text())
    against: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        for what in line["contradicts"]:
            against[what].append(f"{line['run'].split('/')[-1]}@{line['look']:g}")
    counted = [[what, str(len(where)), ", ".join(where[:6])] for what, where in sorted(against.items())]
    print(Table("First lines that contradict what stands below", "0", ["what", "looks", "where"], counted).text())
    wrong = [line for line in lines if line["look"] == 1 and not right(line) and not line["run"].startswith("runs_dev")]
    cells = [
        [line["run"], f"{line['regret']:.2f}" if line["regret"] is not None else "", line["says"][:160]]
        for line in wrong
    ]
    print(Table("Wrong at the end of the run", "none", ["run", "regret", "first line"], cells).text())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
