"""What a watch costs: many growing runs in one process, the time from a row to the look at it, and reading again.

    python bench/live_watch.py [--runs 100] [--rate 10] [--seconds 240]

A writer process appends rows to every run; `leadline watch --headless` follows them. Both are real processes. Of the
watch the processor time and the largest resident memory are taken from /proc, of each look the time from when its row
was written to when the look was safely in the state file.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
from tables import Table

from leadline.live.follow import NamedPath
from leadline.live.store import Store

ROOT = Path(__file__).resolve().parent.parent
BEFORE = 200  # rows of each run before the watch begins
KEYS = 24  # numbers in a row
AGAIN = 10_000  # rows of the log that is read again


def rows(rng: np.random.Generator, step: int) -> bytes:
    """One row of a run that learns."""
    level = 1 - np.exp(-step / 400)
    data = {
        "critic/score/mean": level + 0.05 * rng.standard_normal(),
        "actor/kl_loss": 0.001 * step * (1 + 0.2 * rng.standard_normal()),
        "actor/entropy": 1 / (1 + step / 300) + 0.02 * rng.standard_normal(),
        "actor/grad_norm": 0.3 + 0.05 * rng.standard_normal(),
        "actor/pg_loss": 0.01 * rng.standard_normal(),
        "response_length/mean": 200 + step / 20 + 10 * rng.standard_normal(),
        **{f"other/number_{place}": float(rng.standard_normal()) for place in range(KEYS - 6)},
    }
    return json.dumps({"step": step, "data": data}).encode() + b"\n"


def write(folder: Path, runs: int, rate: float, seconds: float) -> None:
    """Append a row to every run, so many times a second; note when each step was written."""
    rng = np.random.default_rng(0)
    logs = [folder / f"run{number:03}" / "metrics.jsonl" for number in range(runs)]
    step = BEFORE
    began = time.monotonic()
    with (folder / "written.txt").open("a") as written:
        while time.monotonic() - began < seconds:
            step += 1
            row = rows(rng, step)  # the same for all: what is measured does not depend on it
            for log in logs:
                with log.open("ab") as out:
                    out.write(row)
            written.write(f"{step} {time.time()}\n")
            written.flush()
            time.sleep(max(0.0, began + (step - BEFORE) / rate - time.monotonic()))


def cost(pid: int) -> tuple[float, float]:
    """Processor seconds and largest resident MB of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    peak = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(peak.split()[1]) / 1024


def watched(runs: int, rate: float, seconds: float) -> list[str]:
    """One row of the table: cost and delays of a watch of so many runs."""
    with tempfile.TemporaryDirectory() as name:
        folder, rng = Path(name), np.random.default_rng(1)
        for number in range(runs):
            (folder / f"run{number:03}").mkdir()
            content = b"".join(rows(rng, step) for step in range(1, BEFORE + 1))
            (folder / f"run{number:03}" / "metrics.jsonl").write_bytes(content)
        state = folder / "state.db"
        paths = [str(folder / f"run{number:03}") for number in range(runs)]
        words = [sys.executable, "-m", "leadline", "watch", *paths, "--headless", "--state", str(state)]
        watch = subprocess.Popen(words, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT)})
        writer = subprocess.Popen([sys.executable, __file__, "write", name, str(runs), str(rate), str(seconds)])
        began = time.monotonic()
        writer.wait()
        used, peak = cost(watch.pid)
        lasted = time.monotonic() - began
        asked = time.monotonic()
        watch.send_signal(signal.SIGTERM)
        try:
            ended = watch.wait(120)
        finally:
            watch.kill()
        assert ended == 0, f"the watch ended with {ended}"
        ending = time.monotonic() - asked
        times = dict(line.split() for line in (folder / "written.txt").read_text().splitlines())
        with Store(state, write=False) as store:
            made = [look for number in store.names().values() for look in store.looks(number)]
            seen = len({look.run for look in made})
        # A look stands for all rows up to its step that no earlier look saw: the delay is that of its own row.
        delays = [look.at - float(times[str(look.step)]) for look in made if str(look.step) in times]
        quantiles = np.quantile(delays, (0.5, 0.9)) if delays else (np.nan, np.nan)
        return [
            str(runs),
            f"{rate:g}",
            f"{used / lasted:.2f}",
            f"{peak:.0f}",
            str(len(made)),
            f"{used / max(len(made), 1):.2f}",
            str(seen),
            f"{quantiles[0]:.1f}",
            f"{quantiles[1]:.1f}",
            f"{ending:.1f}",
        ]


def read_again() -> list[list[str]]:
    """What it costs to meet a long log anew, after it grew by ten rows, and when it stood still."""
    with tempfile.TemporaryDirectory() as name:
        log, rng = Path(name) / "metrics.jsonl", np.random.default_rng(2)
        log.write_bytes(b"".join(rows(rng, step) for step in range(1, AGAIN + 1)))
        anew, grown, still = [], [], []
        for turn in range(5):
            place = NamedPath(str(log))
            anew.append(_timed(lambda place=place: place.poll(force=True)))
            with log.open("ab") as out:
                out.writelines(rows(rng, AGAIN + 10 * turn + one) for one in range(1, 11))
            grown.append(_timed(lambda place=place: place.poll(force=True)))
            still.append(_timed(place._readers.update))
        first = float(np.median(anew))
        return [
            [what, f"{1000 * float(np.median(times)):.2f}", f"{float(np.median(times)) / first:.4f}"]
            for what, times in (("anew", anew), ("ten rows more", grown), ("nothing new", still))
        ]


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 100])
    parser.add_argument("--rate", type=float, default=10.0, help="rows a second of each run")
    parser.add_argument("--seconds", type=float, default=240.0)
    given = parser.parse_args()
    print(
        Table(
            f"Reading a log of {AGAIN} rows again", "the growth, not the file", ("read", "ms", "of anew"), read_again()
        ).text()
    )
    heads = (
        "runs",
        "rows/s each",
        "cores",
        "peak MB",
        "checks",
        "CPU s a check",
        "runs checked",
        "row to check, median s",
        "90 % s",
        "to end s",
    )
    found = [watched(runs, given.rate, given.seconds) for runs in given.runs]
    note = f"{given.seconds:g} s each, beginning with {BEFORE} rows a run; the first look at every run included."
    print(Table("A watch of growing runs", "100 runs: below 1 core and 500 MB", heads, found, note).text())


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        write(Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]))
    else:
        main()
