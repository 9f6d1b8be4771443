"""Many runs: how fast they are scanned, and what kills leave behind. `bench/fleet_page.py` is about the page,
`bench/fleet_peers.py` about others' pages.

    python bench/fleet.py RUNS... [--count 1000] [--whole 10000] [--workers 2] [--kills 40] [--only scan|second|kills]

RUNS are folders of real runs; copies are made of them. Figures are printed beside their targets. Processor time stands
beside wall time: on a machine that others use, only the first says what the work costs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil

from leadline.fleet.divide import units
from leadline.fleet.scan import MAKER
from leadline.shelf.row import UnitOutcome
from leadline.shelf.store import Scope, Shelf

LARGEST = 4_000_000  # bytes of a run that is copied: samples of long runs would fill the disk


def main() -> None:
    told = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    told.add_argument("runs", type=Path, nargs="+")
    told.add_argument("--count", type=int, default=1000, help="runs that are read for the first figure")
    told.add_argument("--whole", type=int, default=10_000, help="runs of the scan that finds nothing new")
    told.add_argument("--workers", type=int, default=2)
    told.add_argument("--kills", type=int, default=40)
    told.add_argument("--only", choices=("scan", "second", "kills"))
    asked = told.parse_args()
    with tempfile.TemporaryDirectory(prefix="leadline-fleet-") as folder:
        home = Path(folder)
        real = gathered(asked.runs, home / "real")
        print(f"{len(real)} real runs; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
        if asked.only in (None, "scan"):
            scanning(real, home, asked.count, asked.workers)
        if asked.only in (None, "second"):
            unchanged(real, home, asked.whole, asked.workers)
        if asked.only in (None, "kills"):
            killing(real, home, min(asked.count, 60), asked.kills)


def gathered(runs: list[Path], into: Path) -> list[Path]:
    """A copy of every real run that is a folder of moderate size, so that the copies of it can be links."""
    places = [Path(unit.place) for root in runs for unit in units(str(root))]
    kept = [place for place in places if place.is_dir() and _size(place) < LARGEST]
    for number, place in enumerate(kept):
        shutil.copytree(place, into / str(number) / place.name, ignore=shutil.ignore_patterns("truth.json"))
    return [into / str(number) / place.name for number, place in enumerate(kept)]


def make(real: list[Path], into: Path, count: int) -> None:
    """So many runs from real ones, in the order of a shuffle: links to their files, in folders of their own."""
    order = random.Random(16).sample(real, len(real))
    for number in range(count):
        source = order[number % len(order)]
        target = into / f"project-{number % 20}" / f"{source.name}-seed{number}"
        shutil.copytree(source, target, copy_function=os.link)


def _size(place: Path) -> int:
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


def scanning(real: list[Path], home: Path, count: int, workers: int) -> None:
    root, store = home / "lab", home / "lab.db"
    make(real, root, count)
    print(f"\n## First scan: {count} runs, {workers} workers\n")
    print("| wall s | CPU s | runs a second (wall) | runs per CPU s | target | `import numpy`s a run |")
    print("|---|---|---|---|---|---|")
    anchor = min(_cpu([sys.executable, "-c", "import numpy"]) for _ in range(5))
    wall, cpu, memory = _scan(root, store, workers)
    print(f"| {wall:.0f} | {cpu:.0f} | {count / wall:.1f} | {count / cpu:.1f} | >= 12 | {cpu / count / anchor:.2f} |")
    print("\n| memory, MB | after a quarter | half | three quarters | at the end |\n|---|---|---|---|---|")
    for name, kept in memory.items():
        quarters = [max(kept[len(kept) * part // 4 : len(kept) * (part + 1) // 4] or [0.0]) for part in range(4)]
        print(f"| {name} | " + " | ".join(f"{most:.0f}" for most in quarters) + " |")


def _cpu(command: list[str]) -> float:
    """Processor seconds of a command."""
    before = os.times()
    subprocess.run(command, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def unchanged(real: list[Path], home: Path, count: int, workers: int) -> None:
    """The scan that finds nothing new. That all was read before is written into the store instead of being done."""
    print(f"\n## Scan that finds nothing new: {count} runs\n")
    print("| runs | wall s | CPU s | peak MB | target |\n|---|---|---|---|---|")
    for part in (count // 10, count):
        root, store = home / f"still-{part}", home / f"still-{part}.db"
        make(real, root, part)
        _as_read(root, store)
        wall, cpu, memory = _scan(root, store, workers)
        target = "< 30 s" if part == count else ""
        print(f"| {part} | {wall:.1f} | {cpu:.1f} | {max(memory['the scan'], default=0):.0f} | {target} |")
        shutil.rmtree(root)


def _as_read(root: Path, store: Path) -> None:
    """A store as a first scan leaves it: every place read, with the rows of a real run under its name."""
    from leadline.fleet.reader import read_task

    with Shelf(str(store)) as shelf:
        found, began = list(units(str(root))), shelf.base.now()
        shelf.note(found, began)
        scope = Scope((str(root),), began, maker=MAKER)
        tasks = shelf.claim(scope, "bench", len(found))
        model = next(entry for task in tasks for entry in read_task(task).entries if entry.body is not None)
        for task in tasks:
            place = task.unit.place
            row = replace(model.row, identity=place, place=place, name=place, still_at=None)
            shelf.put(UnitOutcome(task.unit, (replace(model, row=row),)), owner="bench", maker=MAKER)


def _command(root: Path, store: Path, workers: int) -> list[str]:
    return [sys.executable, "-m", "leadline", "scan", str(root), "--store", str(store), "--workers", str(workers)]


def _scan(root: Path, store: Path, workers: int) -> tuple[float, float, dict[str, list[float]]]:
    """Wall and processor seconds of a scan, and the memory of its processes meanwhile."""
    memory: dict[str, list[float]] = {"the scan": [], "its largest reader": []}
    began, before = time.monotonic(), os.times()
    process = subprocess.Popen(_command(root, store, workers), stderr=subprocess.DEVNULL)
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.5):
            try:
                scan = psutil.Process(process.pid)
                below = [child.memory_info().rss / 1e6 for child in scan.children()]
                memory["the scan"].append(scan.memory_info().rss / 1e6)
                memory["its largest reader"].append(max(below, default=0.0))
            except psutil.Error:
                continue

    looking = threading.Thread(target=look)
    looking.start()
    ended = process.wait()
    over.set()
    looking.join()
    after = os.times()
    if ended:
        sys.exit(f"the scan ended with {ended}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - began, cpu, memory


def killing(real: list[Path], home: Path, count: int, kills: int) -> None:
    """Scans ended by SIGKILL at moments drawn at random, alone, beside another, or their reader only; then one to its
    end. The rows have to be those of a scan that nobody disturbed."""
    root, whole = home / "killed", home / "whole.db"
    make(real, root, count)
    subprocess.run(_command(root, whole, 1), check=True, stderr=subprocess.DEVNULL)
    print(f"\n## Kills: {count} runs; a round is over when all are read, then the next begins with an empty store\n")
    print("| what is killed | kills | rounds | rows lost | rows doubled | rows that differ | places left |")
    print("|---|---|---|---|---|---|---|")
    for number, (name, way) in enumerate(
        {"the scan": _scan_killed, "one of two scans": _two, "a reader": _reader}.items()
    ):
        draw = random.Random(17 + number)
        done = rounds = lost = doubled = differ = left = 0
        while done < kills // 3:
            store = home / f"killed-{number}-{rounds}.db"
            rounds += 1
            while done < kills // 3 and _due(store, count):
                way(root, store, draw)
                done += 1
            subprocess.run(_command(root, store, 1), check=True, stderr=subprocess.DEVNULL)
            with Shelf(str(store)) as killed, Shelf(str(whole)) as expected:
                got, want = [row for row, _ in killed.rows()], {row.identity: row for row, _ in expected.rows()}
                lost += len(want.keys() - {row.identity for row in got})
                doubled += len(got) - len({row.identity for row in got}) + max(0, len(got) - len(want))
                differ += sum(row != want.get(row.identity) for row in got)
                left += killed.base.rows("SELECT COUNT(*) FROM places WHERE leased_by IS NOT NULL OR done IS NULL")[0][
                    0
                ]
        print(f"| {name} | {done} | {rounds} | {lost} | {doubled} | {differ} | {left} |", flush=True)


def _scan_killed(root: Path, store: Path, draw: random.Random) -> None:
    process = subprocess.Popen(_command(root, store, 1), stderr=subprocess.DEVNULL)
    time.sleep(draw.uniform(0.3, 8.0))
    process.send_signal(signal.SIGKILL)
    process.wait()


def _two(root: Path, store: Path, draw: random.Random) -> None:
    both = [subprocess.Popen(_command(root, store, 1), stderr=subprocess.DEVNULL) for _ in range(2)]
    for process in draw.sample(both, 2):
        time.sleep(draw.uniform(0.3, 6.0))
        process.send_signal(signal.SIGKILL)
    for process in both:
        process.wait()


def _reader(root: Path, store: Path, draw: random.Random) -> None:
    """The scan itself lives a while longer: it has to notice, and to give the run to another reader."""
    process = subprocess.Popen(_command(root, store, 1), stderr=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while not (below := psutil.Process(process.pid).children()) and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(draw.uniform(0.0, 5.0))
    for child in below:
        with contextlib.suppress(psutil.Error):  # it may have ended by itself
            child.kill()
    time.sleep(draw.uniform(0.0, 3.0))
    process.send_signal(signal.SIGKILL)
    process.wait()


def _due(store: Path, count: int) -> bool:
    if not store.is_file():
        return True
    with Shelf(str(store)) as shelf:
        return int(shelf.base.rows("SELECT COUNT(*) FROM places WHERE done IS NOT NULL")[0][0]) < count


if __name__ == "__main__":
    main()
