"""Soak a watch: growing runs, random kills, a full disk. Needs Linux and the right to mount a tmpfs.

    python bench/soak.py [--minutes 360] [--runs 20] [--every 5] [--kills 60] [--full 240] [--seed 0]

A writer appends rows to every run and replaces a log that has reached its last row, as a restarted training does. One
watch is killed with SIGKILL again and again, and the disk that holds its state is filled for half a minute at random
moments. A second watch of the same logs is left in peace: its memory shows leaks, its checks show which ones are due.
Afterwards both get time to catch up, and the two state files and the received alerts are compared.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import errno
import json
import random
import shlex
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
from tables import Table

from leadline.errors import LeadlineError
from leadline.live.store import Store
from leadline.live.telling.message import AGAIN

ROOT = Path(__file__).resolve().parent.parent
BEGIN, LAST = 40, 300  # rows of a log when it is first seen, and when it is replaced
DISK = 256  # MB of the disk that is filled
FULL = 30.0  # seconds that it stays full
CATCH_UP = 240.0  # seconds without faults at the end, at least: a log is quiet after 60, and after six usual gaps

Check = tuple[str, int, int, str]  # run, life, step, digest


@dataclass
class Writer:
    """Runs that learn, learn and collapse, stay flat, or are mostly noise."""

    folder: Path
    runs: int
    rng: np.random.Generator
    rows: list[int] = field(default_factory=list)
    replaced: int = 0

    def __post_init__(self) -> None:
        for number in range(self.runs):
            self._log(number).parent.mkdir(parents=True)
            self.rows.append(0)
            self.grow(number, BEGIN + 12 * number)  # not all of them at the same step

    def _log(self, number: int) -> Path:
        return self.folder / f"run{number:02}" / "metrics.jsonl"

    @property
    def paths(self) -> list[str]:
        return [str(self._log(number).parent) for number in range(self.runs)]

    def grow(self, number: int, rows: int = 1) -> None:
        """Append rows, the last of them in two pieces; replace a log that is complete."""
        if self.rows[number] >= LAST:
            self.rows[number], rows = 0, BEGIN
            self.replaced += 1
            self._log(number).unlink()
        written = b"".join(self._row(number, self.rows[number] + one) for one in range(1, rows + 1))
        with self._log(number).open("ab", buffering=0) as out:
            out.write(written[:-20])
            time.sleep(0.002)
            out.write(written[-20:])
        self.rows[number] += rows

    def _row(self, number: int, step: int) -> bytes:
        level = {0: 1 - np.exp(-step / 90), 1: 1 - np.exp(-step / 50), 2: 0.5, 3: step / LAST}[number % 4]
        if number % 4 == 1 and step > 160:
            level = 0.1
        noise = 0.25 if number % 4 == 3 else 0.05
        row = {
            "critic/score/mean": level + noise * self.rng.standard_normal(),
            "actor/kl_loss": 0.002 * step + 0.01 * abs(self.rng.standard_normal()),
            "actor/entropy": 1 / (1 + step / 300) + 0.02 * self.rng.standard_normal(),
            "response_length/mean": 200 + 10 * self.rng.standard_normal(),
        }
        return json.dumps({"step": step, "data": row}).encode() + b"\n"


class Keeper:
    """A watch that is started again whenever it ends."""

    def __init__(self, state: Path, outside: Path, paths: Sequence[str]) -> None:
        self.state, self._home = state / "state.db", state / "home"
        outside.mkdir()
        self.received, self._errors = outside / "received.jsonl", outside / "errors.txt"
        tell = f"command:sh -c {shlex.quote(f'cat >> {self.received}')}"
        self._words = [sys.executable, "-m", "leadline", "watch", *paths, "--headless", "--state", str(self.state)]
        self._words += ["--notify", tell]
        self.started = self.ended_by_itself = 0
        self._next = 0.0
        self.process: subprocess.Popen[bytes] | None = None

    def keep(self) -> None:
        """Start it if it does not run; after an end of its own 5 s later, as a service manager does."""
        if self.process is not None and self.process.poll() is not None:
            self.process, self._next = None, time.monotonic() + 5.0
            self.ended_by_itself += 1
        if self.process is None and time.monotonic() >= self._next:
            environ = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(self._home)}
            with self._errors.open("ab") as errors:
                self.process = subprocess.Popen(self._words, stdout=subprocess.DEVNULL, stderr=errors, env=environ)
            self.started += 1

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def close(self) -> int:
        """End it as a user does and return its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(120)
        finally:
            self.process.kill()

    def megabytes(self) -> float:
        assert self.process is not None
        fields = Path(f"/proc/{self.process.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def cpu(self) -> float:
        assert self.process is not None
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def checks(self) -> set[Check]:
        """Return every check that is written down. The file may be busy or its disk full: then it is asked again."""
        for _ in range(20):
            try:
                with Store(self.state, write=False) as store:
                    found = [one for number in store.names().values() for one in store.looks(number)]
                return {(Path(one.run).name, one.life, one.step, one.digest) for one in found}
            except (sqlite3.Error, LeadlineError) as error:
                last = error
                time.sleep(0.5)
        raise last

    def integrity(self) -> str:
        base = sqlite3.connect(self.state)
        try:
            return str(base.execute("PRAGMA integrity_check").fetchone()[0])
        finally:
            base.close()

    def alerts(self) -> tuple[Counter[str], dict[str, str], Counter[str]]:
        """Return how often each alert was received, what became of each delivery, and which came with a warning that
        it may be a repetition."""
        received: Counter[str] = Counter()
        warned: Counter[str] = Counter()
        for line in self.received.read_text().splitlines() if self.received.exists() else ():
            message = json.loads(line)
            keys = [alert["key"] for alert in message["alerts"]]
            received.update(keys)
            warned.update(keys if AGAIN in message["text"] else ())
        base = sqlite3.connect(f"file:{self.state}?mode=rw", uri=True)  # which undoes what was half written
        states = dict(base.execute("SELECT key, state FROM deliveries JOIN alerts ON alerts.id = deliveries.alert"))
        base.close()
        return received, states, warned


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}m", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path) -> None:
    """Leave no free block."""
    with (disk / "filler").open("ab", buffering=0) as out:
        for size in (2**20, 2**12):
            try:
                while True:
                    out.write(bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise


def soak(given: argparse.Namespace, folder: Path, disk: Path, keepers: ExitStack) -> list[list[str]]:
    """Watch, kill, and fill for so many minutes; return the rows of the table."""
    rng = random.Random(given.seed)
    writer = Writer(folder / "runs", given.runs, np.random.default_rng(given.seed))
    faulty = Keeper(disk, folder / "faulty", writer.paths)
    peaceful = Keeper(folder / "peace", folder / "peaceful", writer.paths)
    keepers.callback(faulty.kill)
    keepers.callback(peaceful.kill)
    began = time.monotonic()
    end, kills, fills, memory = began + 60 * given.minutes, 0, 0, []
    next_row = next_sample = began
    next_kill, next_full = began + rng.expovariate(1 / given.kills), began + rng.expovariate(1 / given.full)
    empty_at = float("inf")
    known: set[Check] = set()
    vanished: set[Check] = set()
    while (now := time.monotonic()) < end:
        faulty.keep()
        peaceful.keep()
        if now >= next_row:
            next_row += given.every / given.runs
            writer.grow(rng.randrange(given.runs))
        if now >= next_kill:
            next_kill = now + rng.expovariate(1 / given.kills)
            faulty.kill()
            kills += 1
            if empty_at == float("inf") and faulty.state.exists():
                there = faulty.checks()
                vanished |= known - there
                known |= there
        if now >= next_full and empty_at == float("inf"):
            fill(disk)
            fills, empty_at = fills + 1, now + FULL
        if now >= empty_at:
            (disk / "filler").unlink()
            empty_at, next_full = float("inf"), now + rng.expovariate(1 / given.full)
        if now >= next_sample and peaceful.process is not None:
            next_sample = now + 30.0
            memory.append((now - began, peaceful.megabytes()))
            print(f"{(now - began) / 60:.1f} min, {kills} kills, {fills} fills, {memory[-1][1]:.0f} MB", flush=True)
        time.sleep(0.05)
    (disk / "filler").unlink(missing_ok=True)
    until = time.monotonic() + max(CATCH_UP, 10 * given.every)
    while time.monotonic() < until:
        faulty.keep()
        peaceful.keep()
        time.sleep(0.5)
    lasted, cpu = time.monotonic() - began, peaceful.cpu()
    codes = faulty.close(), peaceful.close()
    assert codes == (0, 0), f"the watches ended with {codes}"
    return [
        *figures(writer, faulty, peaceful, memory),
        ["kills; disk filled; logs replaced", f"{kills}; {fills}; {writer.replaced}", "-"],
        ["starts; ends by itself (a full disk at its start)", f"{faulty.started}; {faulty.ended_by_itself}", "-"],
        ["checks that were there after a kill and are gone", str(len(vanished | (known - faulty.checks()))), "0"],
        ["cores of the watch in peace", f"{cpu / lasted:.3f}", "-"],
    ]


def figures(writer: Writer, faulty: Keeper, peaceful: Keeper, memory: Sequence[tuple[float, float]]) -> list[list[str]]:
    """Return the rows that compare what is written down with what was to be."""
    checks, due = faulty.checks(), peaceful.checks()
    doubled = sum(number - 1 for number in Counter(one[:3] for one in checks).values())
    lives = {one[0]: max(life for run, life, *_ in checks if run == one[0]) for one in checks}
    ends = {run: max(step for name, life, step, _ in checks if (name, life) == (run, lives[run])) for run in lives}
    seen = sum(ends.get(f"run{number:02}") == rows for number, rows in enumerate(writer.rows))
    both = {one[:3] for one in checks} & {one[:3] for one in due}
    received, states, warned = faulty.alerts()
    late = [one for one in memory if one[0] > memory[-1][0] / 4] or memory
    slope = np.polyfit([one[0] / 3600 for one in late], [one[1] for one in late], 1)[0] if len(late) > 2 else np.nan
    return [
        ["state file", faulty.integrity(), "ok"],
        ["checks written twice", str(doubled), "0"],
        ["runs whose last row was checked", f"{seen} of {writer.runs}", "all"],
        ["checks: killed watch, watch in peace, both", f"{len(checks)}, {len(due)}, {len(both)}", "-"],
        ["alerts written; never received", f"{len(states)}; {len(states.keys() - received.keys())}", "0 lost"],
        ["deliveries not marked as sent", str(sum(state != "sent" for state in states.values())), "0"],
        ["received twice; without a warning", _twice(received, warned), "0 without"],
        ["memory in peace: first quarter's end, end, MB", f"{late[0][1]:.0f}, {late[-1][1]:.0f}", "flat"],
        ["memory in peace: slope after the first quarter", f"{slope:+.1f} MB an hour", "flat"],
    ]


def _twice(received: Counter[str], warned: Counter[str]) -> str:
    again = {key: number - 1 for key, number in received.items() if number > 1}
    return f"{sum(again.values())}; {sum(max(0, number - warned[key]) for key, number in again.items())}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=360.0)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two rows of a run")
    parser.add_argument("--kills", type=float, default=60.0, help="seconds between two kills, on average")
    parser.add_argument("--full", type=float, default=240.0, help="seconds until the disk is full, on average")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # so that nothing is left behind
    with tempfile.TemporaryDirectory() as name, small_disk(Path(name) / "disk") as disk, ExitStack() as keepers:
        rows = soak(given, Path(name), disk, keepers)
    title = f"A soak of {given.minutes:g} minutes: {given.runs} runs, a row every {given.every:g} s each"
    print(Table(title, "nothing lost, nothing doubled, memory flat", ("what", "figure", "wanted"), rows).text())


if __name__ == "__main__":
    main()
