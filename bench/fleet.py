"""Many runs: how fast they are scanned, how fast the page is, and what kills leave behind.

    python bench/fleet.py RUNS [--count 10000] [--workers 2] [--only scan|page|kills]

RUNS is a folder of real runs; copies with their numbers shifted are made of them (hard links would share times). All
figures are printed beside their targets. Processor time stands beside wall time: on a machine that others use, only the
first says what the work costs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from leadline.fleet.divide import units
from leadline.serve import pages
from leadline.shelf import query
from leadline.shelf.row import Row
from leadline.shelf.store import FIELDS, Shelf, key_of

LARGEST = 4_000_000  # bytes of a run that is copied: samples of long runs would fill the disk


def main() -> None:
    told = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    told.add_argument("runs", type=Path)
    told.add_argument("--count", type=int, default=10_000)
    told.add_argument("--workers", type=int, default=2)
    told.add_argument("--kills", type=int, default=20)
    told.add_argument("--only", choices=("scan", "page", "kills"))
    asked = told.parse_args()
    with tempfile.TemporaryDirectory(prefix="leadline-fleet-") as folder:
        home = Path(folder)
        if asked.only in (None, "scan"):
            scanning(asked.runs, home, asked.count, asked.workers)
        if asked.only in (None, "page"):
            for rows in (10_000, 100_000):
                paging(home, rows)
        if asked.only in (None, "kills"):
            killing(asked.runs, home, min(asked.count, 60), asked.kills)


def make(runs: Path, into: Path, count: int) -> int:
    """So many runs from real ones: each a copy in a project of its own kind, the seed in its name."""
    real = [Path(unit.place) for unit in units(str(runs))]
    small = [place for place in real if place.is_dir() and _size(place) < LARGEST]
    for number in range(count):
        source = small[number % len(small)]
        target = into / f"project-{number % 20}" / f"{source.name}-seed{number}"
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("truth.json"))
    return len(small)


def _size(place: Path) -> int:
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


def scanning(runs: Path, home: Path, count: int, workers: int) -> None:
    root, store = home / "lab", home / "lab.db"
    kinds = make(runs, root, count)
    print(f"\n## Scan: {count} runs made from {kinds} real ones, {workers} workers, {os.cpu_count()} cores\n")
    print("| scan | wall s | CPU s | runs a second (wall) | runs a CPU second | peak MB of one process | target |")
    print("|---|---|---|---|---|---|---|")
    for name, target in (("first", ">= 8 runs a second"), ("second, nothing new", "< 30 s")):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        subprocess.run(_command(root, store, workers), check=True, stderr=subprocess.DEVNULL)
        wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        peak = after.ru_maxrss / 1024
        print(f"| {name} | {wall:.1f} | {cpu:.1f} | {count / wall:.1f} | {count / cpu:.1f} | {peak:.0f} | {target} |")


def _command(root: Path, store: Path, workers: int) -> list[str]:
    return [sys.executable, "-m", "leadline", "scan", str(root), "--store", str(store), "--workers", str(workers)]


def fill(store: Path, rows: int) -> Shelf:
    """A shelf of so many rows, drawn with a fixed seed: the page reads rows and never what they were made from."""
    draw, now = random.Random(16), time.time()
    shelf = Shelf(str(store))
    spark = "".join(f"{min(99, 2 * place):02d}" for place in range(48))
    row = Row("", "/lab", "", "", "", "", None, "read", spark=spark)
    verdicts = ("continue", "stop", "roll_back", "undecided", "finished")
    with shelf.base.writing():
        values = []
        for number in range(rows):
            name = f"project-{number % 40}/grpo-lr{number % 7}-seed{number}"
            verdict = draw.choice(verdicts)
            one = replace(
                row, identity=f"/lab/{name}", place=f"/lab/{name}", name=name, project=f"project-{number % 40}",
                variant=f"grpo-lr{number % 7}", seed=str(number), verdict=verdict, p=draw.random(),
                why="Reward is rising: 0.1 at the start, 0.62 now.", framework="trl-grpo", last_step=number % 900,
                planned_steps=1000, last_at=now - draw.random() * 30 * 86400, level=draw.random(),
                ended="plan" if verdict == "finished" else None, quiet_at=now + 600,
                need="falling" if verdict == "roll_back" else None,
            )  # fmt: skip
            values.append((*(getattr(one, field) for field in FIELDS.split(", ")), key_of(one.identity), 1))
        marks = ", ".join("?" * (len(FIELDS.split(", ")) + 2))
        shelf.base.many(f"INSERT INTO runs ({FIELDS}, key, change) VALUES ({marks})", values)
    return shelf


def paging(home: Path, rows: int) -> None:
    now = time.time()
    with fill(home / f"page-{rows}.db", rows) as shelf:

        def triage() -> None:
            urgent, _ = query.lines(shelf, query.Asked(group="person", size=50), now)
            pages.page("x", pages.triage(query.counts(shelf, now), urgent, now))

        def table(asked: query.Asked, by: str = "") -> None:
            lines, total = ([], 0) if by else query.lines(shelf, asked, now)
            groups = query.together(shelf, asked, by, now) if by else []
            pages.table(lines, total, asked, pages.SHOWN, query.choices(shelf), groups, by, now)

        views = {
            "first view (triage)": triage,
            "table, first page": lambda: table(query.Asked()),
            "search two words": lambda: table(query.Asked(words="lr3 seed12")),
            "sorted by p, page 50": lambda: table(query.Asked(sort="p", page=50)),
            "by variant": lambda: table(query.Asked(), "variant"),
        }
        print(f"\n## Page: {rows} rows, ms to make the whole HTML (median and worst of 7)\n")
        print("| view | median | worst | CPU | target |\n|---|---|---|---|---|")
        for name, view in views.items():
            walls, works = [], []
            for _ in range(7):
                began, worked = time.monotonic(), time.process_time()
                view()
                walls.append(1000 * (time.monotonic() - began))
                works.append(1000 * (time.process_time() - worked))
            target = f"<= {300 if rows <= 10_000 else 1000}" if name.startswith("first") else ""
            wall, work = statistics.median(walls), statistics.median(works)
            print(f"| {name} | {wall:.0f} | {max(walls):.0f} | {work:.0f} | {target} |")


def killing(runs: Path, home: Path, count: int, kills: int) -> None:
    """Scans ended by SIGKILL at moments drawn at random; then one to its end. Nothing may be lost or doubled."""
    root, store = home / "killed", home / "killed.db"
    make(runs, root, count)
    draw, done = random.Random(17), []
    print(f"\n## Kills: {count} runs, {kills} scans killed at random moments\n")
    for _ in range(kills):
        process = subprocess.Popen(_command(root, store, 1), stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.3, 6.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        done.append(_done(store))
    subprocess.run(_command(root, store, 1), check=True, stderr=subprocess.DEVNULL)
    whole = home / "whole.db"
    subprocess.run(_command(root, whole, 1), check=True, stderr=subprocess.DEVNULL)
    with Shelf(str(store)) as killed, Shelf(str(whole)) as expected:
        got, want = dict(killed.rows()), dict(expected.rows())
        lost, other = len(want.keys() - got.keys()), len(got.keys() - want.keys())
        leased = killed.base.rows("SELECT COUNT(*) FROM places WHERE leased_by IS NOT NULL")[0][0]
    print("| kills | places read after each | rows lost | rows doubled or different | leases left |")
    print("|---|---|---|---|---|")
    print(f"| {kills} | {json.dumps(done)} | {lost} | {other} | {leased} |")


def _done(store: Path) -> int:
    try:
        with sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True) as base:
            return int(base.execute("SELECT COUNT(*) FROM places WHERE done IS NOT NULL").fetchone()[0])
    except sqlite3.Error:
        return 0


if __name__ == "__main__":
    main()
