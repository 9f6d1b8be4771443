"""What a whole reading costs beside one look of the engine at one series: `python bench/reading_speed.py`.

The run is made up: 2,000 steps, 40 series, 100 files of samples, and it learns, so most readings have something to look
at. Both sides are timed in turn, in seconds of the processor, with the engine's caches emptied, and the least disturbed
round counts. Memory is the peak of a process that does only that.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
from simulate import autoregressive, clock
from speed import forget, make_series, read_series
from tables import Table

from leadline.pipeline import read_run
from leadline.sources import open_run

STEPS, FILES, PROMPTS, GROUP = 2_000, 100, 16, 8
WORDS = [f"{a}{b}" for a in ("al", "be", "co", "du", "fe", "go", "ha", "in") for b in ("ra", "net", "sil", "ton", "um")]
RISING = {
    "critic/score/mean": (0.2, 0.6),
    "critic/rewards/mean": (0.2, 0.55),
    "actor/ppo_kl": (0.0, 0.001),
    "actor/kl_loss": (0.0, 0.05),
    "actor/entropy": (0.9, -0.4),
    "actor/pg_loss": (0.01, -0.01),
    "actor/grad_norm": (0.4, 0.2),
    "actor/pg_clipfrac": (0.01, 0.01),
    "actor/pg_clipfrac_lower": (0.001, 0.001),
    "actor/lr": (1e-6, -9e-7),
    "response_length/mean": (180.0, 60.0),
    "response_length/max": (500.0, 10.0),
    "response_length/min": (20.0, 2.0),
    "response_length/clip_ratio": (0.02, 0.02),
    "prompt_length/mean": (90.0, 0.0),
    "prompt_length/max": (200.0, 0.0),
    "critic/score/max": (1.0, 0.0),
    "critic/score/min": (0.0, 0.0),
    "critic/rewards/max": (1.0, 0.0),
    "critic/rewards/min": (0.0, 0.0),
    "critic/advantages/mean": (0.0, 0.0),
    "critic/advantages/max": (2.0, 0.2),
    "critic/advantages/min": (-2.0, -0.2),
    "critic/returns/mean": (0.0, 0.0),
    "timing_s/step": (60.0, 6.0),
    "timing_s/gen": (30.0, 4.0),
    "timing_s/update_actor": (20.0, 1.0),
    "timing_s/old_log_prob": (4.0, 0.1),
    "timing_s/ref": (4.0, 0.1),
    "timing_s/reward": (1.0, 0.0),
    "timing_s/adv": (0.1, 0.0),
    "perf/throughput": (1500.0, 40.0),
    "perf/mfu/actor": (0.4, 0.01),
    "perf/max_memory_allocated_gb": (40.0, 0.3),
    "perf/max_memory_reserved_gb": (44.0, 0.1),
    "perf/cpu_memory_used_gb": (120.0, 1.0),
    "training/rollout_probs_diff_mean": (0.001, 0.0002),
    "training/rollout_actor_probs_pearson_corr": (0.999, -0.0001),
    "val-core/task/reward/mean@1": (0.2, 0.5),
    "val-aux/task/reward/std@1": (0.3, 0.0),
}  # a level at first, and how far it goes


def write_run(folder: Path) -> Path:
    """A verl run as it lies on disk."""
    rng, u = np.random.default_rng(1), clock(STEPS)
    shape = 1 - np.exp(-3 * u)
    columns = {
        key: start + way * shape + (0.1 * abs(way) + 0.01 * abs(start)) * autoregressive(STEPS, 0.3, rng)
        for key, (start, way) in RISING.items()
    }
    with (folder / "metrics.jsonl").open("w") as log:
        for k in range(STEPS):
            seen = {key: float(v[k]) for key, v in columns.items() if not key.startswith("val-") or k % 10 == 9}
            log.write(json.dumps({"step": k + 1, "data": seen}) + "\n")
    dumps = folder / "rollouts"
    dumps.mkdir()
    for k in range(FILES):
        step = 1 + k * STEPS // FILES
        rows = []
        for _prompt in range(PROMPTS):
            asked = " ".join(rng.choice(WORDS, 12))
            for _ in range(GROUP):
                answer = " ".join(rng.choice(WORDS, 60))
                rows.append({"input": asked, "output": answer, "score": float(rng.random() < 0.3), "step": step})
        (dumps / f"{step}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def seconds(work: Callable[[], object]) -> float:
    """Of the processor: on a shared machine the clock on the wall tells more about the neighbours."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def costs(folder: Path, rounds: int) -> tuple[float, float, float]:
    """Least seconds of a reading, of the same with opening the files, and of a look at one series."""
    read_run(open_run(folder))  # builds what is built once per process
    read_series([make_series(STEPS, 0)])
    whole, opened, one = [], [], []
    for k in range(rounds):
        forget()
        opened.append(seconds(lambda: read_run(open_run(folder))))
        run = open_run(folder)
        forget()
        whole.append(seconds(lambda run=run: read_run(run)))
        series = [make_series(STEPS, k)]
        forget()
        one.append(seconds(lambda series=series: read_series(series)))
    return min(whole), min(opened), min(one)


def peak_memory(folder: Path) -> float:
    """MB at most, of a process of its own."""
    code = [sys.executable, __file__, "--read", str(folder)]
    done = subprocess.run(code, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="repetitions, of which the best counts")
    parser.add_argument("--read", type=Path, help="only read the run there and print the peak of memory in MB")
    given = parser.parse_args(argv)
    if given.read:
        read_run(open_run(given.read))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder))
        whole, opened, one = costs(Path(folder), given.rounds)
        memory = peak_memory(Path(folder))
    rows = [
        ["a look of the engine at one series", f"{one * 1e3:.0f} ms", "", ""],
        ["a whole reading", f"{whole * 1e3:.0f} ms", f"{whole / one:.2f}x", "<= 6x"],
        ["the same and opening the files", f"{opened * 1e3:.0f} ms", f"{opened / one:.2f}x", "-"],
        ["peak of memory", f"{memory:.0f} MB", "", "<= 400 MB"],
    ]
    what = f"{STEPS:,} steps, {len(RISING)} series, {FILES} files of samples"
    print(Table(f"A whole reading: {what}", "see each row", ["what", "figure", "ratio", "target"], rows).text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
