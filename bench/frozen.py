"""Every look at every run at hand, frozen: whether a change of the code changes what is said.

    python bench/frozen.py freeze before.jsonl.gz [--sets zoo3_dev ...] [--every 4]
    python bench/frozen.py compare before.jsonl.gz after.jsonl.gz

A change that only moves code keeps every line. A change that unifies answers keeps 99 of 100 verdicts, and the looks
that change are listed. Charts are kept as a digest.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import gzip
import hashlib
import json
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import backtest
from contradictions import contradictions
from tables import Table, share

from leadline.pipeline import read_view, view_of
from leadline.report.data import as_data

SETS = ("zoo_dev", "zoo2_dev", "zoo3_dev", "own", "own_third", "runs_dev", "logs", "third")
UNPACKED = re.compile(rf"{re.escape(tempfile.gettempdir())}/zoo-\w+")  # where `backtest` unpacks sets: new every time
Line = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    freezing = verbs.add_parser("freeze")
    freezing.add_argument("file")
    freezing.add_argument("--sets", nargs="+", default=SETS)
    freezing.add_argument("--looks", type=int, default=10)
    freezing.add_argument("--every", type=int, default=1, help="only every n-th run")
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before")
    comparing.add_argument("after")
    asked = parser.parse_args()
    if asked.verb == "freeze":
        freeze(asked.file, asked.sets, asked.looks, asked.every)
    else:
        print(compare(asked.before, asked.after).text())


def freeze(file: str, sets: list[str], looks: int, every: int) -> None:
    jobs = [job for _, job in backtest.all_jobs(sets, looks)][::every]
    with ProcessPoolExecutor(os.cpu_count()) as pool, gzip.open(file, "wt") as out:
        for lines in pool.map(looks_at, jobs):
            out.writelines(json.dumps(line) + "\n" for line in lines)
            out.flush()


def looks_at(job: backtest.Job) -> list[Line]:
    run, clock = job.open()
    return [_look(job, run, clock, step) for step in job.steps]


def _look(job: backtest.Job, run: Any, clock: backtest.Clock, step: float) -> Line:
    where: Line = {"run": job.run, "step": step, "last_step": job.last}
    try:
        seen = run.until(clock.ours_at(step))
        said = read_view(view_of(seen, budget=clock.planned), charts="main")
    except Exception as error:  # a look that fails is a look that changed
        return where | {"error": repr(error), "verdict": "continue", "best_step": None}
    judgement, data = said.judgement, json.loads(UNPACKED.sub("/sets", json.dumps(as_data(said))))
    charts = hashlib.sha256(json.dumps(data.pop("chart_data"), sort_keys=True).encode()).hexdigest()[:16]
    best = judgement.best_checkpoint
    kept = None if best is None else clock.theirs_at(best.step)
    said_against = sorted(set(contradictions(said)))
    return where | {
        "verdict": judgement.verdict,
        "best_step": kept,
        "contradictions": said_against,
        "charts": charts,
        "data": data,
    }


def compare(before: str, after: str) -> Table:
    """Looks of both files side by side; runs that one of them lacks are left out."""
    old, new = dict(_lines(before)), dict(_lines(after))
    both = [key for key in old if key in new]
    rows = [
        ("looks", str(len(both))),
        ("contradict themselves", share(new[key].get("contradictions") for key in both)),
        ("failed", str(sum("error" in new[key] for key in both))),
        ("equal byte by byte", share(old[key] == new[key] for key in both)),
        ("the same but for charts", share(_said(old[key]) == _said(new[key]) for key in both)),
        ("the same findings", share(_ids(old[key]) == _ids(new[key]) for key in both)),
        ("the same step kept", share(old[key]["best_step"] == new[key]["best_step"] for key in both)),
        ("the same verdict", share(old[key]["verdict"] == new[key]["verdict"] for key in both)),
    ]
    changed = [key for key in both if old[key]["verdict"] != new[key]["verdict"]]
    named = [f"{run} at {step:g}: {_verdict(old[run, step])} -> {_verdict(new[run, step])}" for run, step in changed]
    named += [f"{run} at {step:g}: {'; '.join(new[run, step].get('contradictions', ()))}" for run, step in both
              if new[run, step].get("contradictions")]  # fmt: skip
    return Table("Looks before and after", "99 % of verdicts", ("", ""), rows, "\n".join(named))


def _lines(file: str) -> Iterator[tuple[tuple[str, float], Line]]:
    with gzip.open(file, "rt") as lines:
        for line in map(json.loads, lines):
            yield (line["run"], line["step"]), line


def _said(line: Line) -> Line:
    return {key: value for key, value in line.items() if key not in ("charts", "contradictions")}


def _ids(line: Line) -> list[tuple[str, str]]:
    return [(found["id"], found["severity"]) for found in line.get("data", {}).get("findings", [])]


def _verdict(line: Line) -> str:
    judgement = line.get("data", {}).get("judgement", {})
    reason = judgement.get("reason") or {}
    return f"{line['verdict']} ({reason.get('kind')}, {judgement.get('p_continue_pays')})"


if __name__ == "__main__":
    main()
