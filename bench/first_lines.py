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
from leadline.facts.cause import Cause
from leadline.facts.onset import Contradiction, UnexplainedBreak
from leadline.facts.reward import RewardBreak
from leadline.facts.stability import EntropyMoved, GradientNorm, Spikes, StuckSeries
from leadline.pipeline import read_run
from leadline.words.verdict import verdict_lines

LOOKS = (0.3, 0.6, 1.0)
SETS = backtest.SETS
KEPT = 0.1  # regret of a step that is as good as right
APART = 0.02  # of the run: what moved so near moved at the same step
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
    """Where the first line and what stands below it, or two findings, cannot both be true."""
    yield from _directions(reading)
    yield from _verdicts(reading)
    yield from _ceilings(reading)
    yield from _dates(reading)
    yield from _causes(reading)


def _directions(reading: Reading) -> Iterator[str]:
    judgement, reward = reading.judgement, reading.reward
    reason = judgement.reason
    serious = {finding.id for finding in reading.findings if finding.severity != "note"}
    on_reward = judgement.judged == "reward/mean"
    if reason.kind == "rising" and on_reward and serious & set(FALLING):
        yield "rising above a finding that it fell"
    if on_reward and reason.kind == "gamed" and serious & {"reward.peaked", "reward.declining"}:
        yield "no longer measures the policy, above a finding that it fell"
    if on_reward and reason.kind == "rising" and reward.shape in ("declining", "peaked", "flat", "noise"):
        yield f"rising above {reward.shape}"
    if on_reward and reason.kind == "flat" and reward.shape in ("accelerating", "rising", "decelerating", "declining"):
        yield f"flat above {reward.shape}"
    if on_reward and reason.kind in ("rising", "flat") and reason.clear and reward.shape == "undecided":
        yield f"{reason.kind} without a doubt above undecided"
    if on_reward and reason.kind == "no_trend" and reward.shape not in ("noise", "undecided", "flat"):
        yield f"no trend above {reward.shape}"
    if on_reward and reason.clear and reason.kind in ("rising", "flat") and "/" in reading.kl_reward.regime:
        beside = reading.kl_reward.regime.split("/")[1]
        if beside != reason.kind and reading.reward.trajectory.changed_at is None:
            yield f"{reason.kind} above a regime that says {beside}"
    now = reading.reward.trajectory.now
    if on_reward and reason.level is not None and now is not None and reason.level != now:
        yield "two levels of now"


def _verdicts(reading: Reading) -> Iterator[str]:
    judgement = reading.judgement
    reason, p = judgement.reason, judgement.p_continue_pays
    if judgement.verdict == "continue" and p is not None and p < 0.05:
        yield "continue at a chance below 5 %"
    if judgement.verdict in ("stop", "roll_back") and p is not None and p > 0.3:
        yield "stop at a chance above 30 %"
    if judgement.verdict == "roll_back" and reason.kind not in ("gamed", "fallen", "no_signal"):
        yield f"roll back because {reason.kind}"
    if len(judgement.advice) > 2 or any(
        advice.finding not in {finding.id for finding in reading.findings} for advice in judgement.advice
    ):
        yield "advice without its finding"


def _ceilings(reading: Reading) -> Iterator[str]:
    judgement = reading.judgement
    reason, upside = judgement.reason, judgement.upside
    if reason.kind != "ceiling" or reason.high is None or reason.level is None:
        return
    if judgement.would_change:
        yield "asks for more than the ceiling"
    if upside.p90 is not None and reason.level + upside.p90 > reason.high + 1e-9:
        yield "a gain beyond the ceiling"
    if judgement.verdict == "continue":
        yield "continue at the ceiling"


def _dates(reading: Reading) -> Iterator[str]:
    judgement = reading.judgement
    reason, best = judgement.reason, judgement.best_checkpoint
    seen = (reading.run.last_step or 0) - (reading.run.first_step or 0)
    onset, sure = reason.since_step, (reason.p or 0) > 0.9
    if onset is None:
        return
    if reason.kind == "gamed":
        if sure and best is not None and best.step > onset:
            yield "keeps a step after the onset"
        rests = [finding.since_step for finding in reading.findings if finding.id in reason.findings]
        if any(step is not None for step in rests) and onset != min(step for step in rests if step is not None):
            yield "an onset that no finding names"
    if reason.kind == "flat" and judgement.judged == "reward/mean":
        for finding in reading.findings:
            late = isinstance(finding.facts, RewardBreak) and finding.facts.step > onset + 0.1 * seen
            if late and finding.severity != "note":
                yield "flat since before it broke"


def _causes(reading: Reading) -> Iterator[str]:
    """A cause that says that nothing else moved, beside a finding that something did."""
    reach = APART * max((reading.run.last_step or 0) - (reading.run.first_step or 0), 1)
    moved: list[tuple[int, str]] = []
    for finding in reading.findings:
        match finding.facts:
            case Spikes(series=values):
                moved += [(value.step, value.series) for value in values]
            case StuckSeries(series=values):
                moved += [(value.since_step, value.series) for value in values]
            case GradientNorm(step=int(step)):
                moved.append((step, "grad_norm"))
            case UnexplainedBreak(step=step, moves=moves):
                moved += [(step, move.series) for move in moves]
            case EntropyMoved() if finding.since_step is not None:
                moved.append((finding.since_step, "entropy"))
    for finding in reading.findings:
        cause = getattr(finding.facts, "cause", None)
        step = getattr(finding.facts, "step", None)
        if isinstance(cause, Cause) and cause.kind in ("none", "outside") and isinstance(step, int):
            beside = {name for at, name in moved if abs(at - step) <= reach and name != "reward/mean"}
            if beside and (cause.kind == "none" or beside & set(cause.still)):
                yield f"a cause that overlooks {', '.join(sorted(beside))}"
        if isinstance(finding.facts, Contradiction):
            told = {name for _, name in moved} & set(finding.facts.held)
            if told:
                yield f"held and moved: {', '.join(sorted(told))}"


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
