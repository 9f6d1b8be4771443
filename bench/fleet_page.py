"""The page of all runs: how long a first view and a first report take, and what a thousand clients at once get.

    python bench/fleet_page.py [--rows 10000 100000] [--clients 1000] [--only views|clients|reports] [--runs RUNS]

A server of its own over a shelf of drawn rows: the page reads rows and never what they were made from. Times are those
of a client, from the request to the last byte of the answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import astuple, replace
from pathlib import Path

import psutil

from leadline.shelf.row import Row
from leadline.shelf.store import FIELDS, Shelf, key_of

VIEWS = {
    "first view (triage)": "",
    "table, first page": "runs",
    "search, two words": "runs?q=lr3+seed12",
    "one project, by time": "runs?project=project-7&sort=last&down=1",
    "sorted by p, page 50": "runs?sort=p&first=5000",
    "by variant": "runs?by=variant",
    "rows as JSON (100)": "api/rows",
}


def main() -> None:
    told = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    told.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    told.add_argument("--clients", type=int, default=1000)
    told.add_argument("--runs", type=Path, help="folder of real runs: their reports are opened")
    told.add_argument("--only", choices=("views", "clients", "reports"))
    asked = told.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8 * asked.clients)), hard))
    with tempfile.TemporaryDirectory(prefix="leadline-page-") as folder:
        if asked.runs is not None and asked.only in (None, "reports"):
            store = Path(folder) / "reports.db"
            scan = [sys.executable, "-m", "leadline", "scan", str(asked.runs), "--store", str(store)]
            subprocess.run(scan, check=True, stderr=subprocess.DEVNULL)
            with served(store) as (address, process):
                opening(address, process)
        for rows in asked.rows if asked.only != "reports" else ():
            store = Path(folder) / f"page-{rows}.db"
            fill(store, rows)
            with served(store) as (address, process):
                if asked.only in (None, "views"):
                    viewing(address, rows)
                if asked.only in (None, "clients"):
                    asyncio.run(crowd(address, process, asked.clients, rows))


def fill(store: Path, rows: int) -> None:
    """A shelf of so many rows, drawn with a fixed seed."""
    draw, now = random.Random(16), time.time()
    spark = "".join(f"{min(99, 2 * place):02d}" for place in range(48))
    row = Row("", "/lab", "", "", "", "", None, "read", spark=spark)
    verdicts = ("continue", "stop", "roll_back", "undecided", "finished")
    with Shelf(str(store)) as shelf, shelf.base.writing():
        values = []
        for number in range(rows):
            name = f"project-{number % 40}/grpo-lr{number % 7}-seed{number}"
            verdict = draw.choice(verdicts)
            drawn = replace(
                row, identity=f"/lab/{name}", place=f"/lab/{name}", name=name, project=f"project-{number % 40}",
                variant=f"grpo-lr{number % 7}", seed=str(number), verdict=verdict, p=draw.random(),
                headline="CONTINUE · reward rising, 0.1 → 0.62", framework="trl-grpo", last_step=number % 900,
                planned_steps=1000, last_at=now - draw.random() * 30 * 86400, level=draw.random(),
                ended="plan" if verdict == "finished" else None, quiet_at=now + 6000,
                need="falling" if verdict == "roll_back" else None,
            )  # fmt: skip
            values.append((*astuple(drawn), key_of(drawn.identity), 1))
        marks = ", ".join("?" * (len(FIELDS.split(", ")) + 2))
        shelf.changed()
        shelf.base.many(f"INSERT INTO runs ({FIELDS}, key, change) VALUES ({marks})", values)


@contextmanager
def served(store: Path) -> Iterator[tuple[str, psutil.Process]]:
    command = [sys.executable, "-m", "leadline", "serve", "--store", str(store), "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found is not None
        for _ in range(100):
            try:
                urllib.request.urlopen(found[0] + "static/app.css", timeout=5).close()
                break
            except OSError:
                time.sleep(0.2)
        yield found[0], psutil.Process(server.pid)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)


def viewing(address: str, rows: int) -> None:
    print(f"\n## Page: {rows} rows, load {os.getloadavg()[0]:.1f}; ms until the whole answer is there\n")
    print("| view | the very first | median of 9 | worst | kB | target |\n|---|---|---|---|---|---|")
    for name, path in VIEWS.items():
        walls, size = [], 0
        for number in range(10):
            asked = f"{address}{path}{'&' if '?' in path else '?'}time={number}"  # else it is kept for a moment
            began = time.monotonic()
            with urllib.request.urlopen(asked, timeout=60) as answer:
                size = len(answer.read())
            walls.append(1000 * (time.monotonic() - began))
        target = f"<= {300 if rows <= 10_000 else 1000}" if not path else ""
        first, rest = walls[0], walls[1:]
        middle, worst = statistics.median(rest), max(rest)
        print(f"| {name} | {first:.0f} | {middle:.0f} | {worst:.0f} | {size / 1024:.0f} | {target} |", flush=True)


def opening(address: str, process: psutil.Process) -> None:
    """Sixteen reports opened one after the other, then sixteen others at once."""
    with urllib.request.urlopen(f"{address}api/rows?size=40") as answer:
        keys = [row["key"] for row in json.load(answer)["rows"]]

    def opened(key: str) -> float:
        began = time.monotonic()
        urllib.request.urlopen(f"{address}run/{key}/report", timeout=120).read()
        return time.monotonic() - began

    print(f"\n## Reports, load {os.getloadavg()[0]:.1f}\n")
    print("| opened | median s | worst s | CPU s each | memory after, MB | target |\n|---|---|---|---|---|---|")
    for name, some, at_once, target in (
        ("the very first", keys[:1], 1, ""),
        ("15 more, one by one", keys[1:16], 1, "<= .5 s"),
        ("16 at once", keys[16:32], 16, "<= 400 MB"),
    ):
        before = sum(process.cpu_times()[:2])
        with ThreadPoolExecutor(at_once) as pool:
            walls = list(pool.map(opened, some))
        cpu, memory = (sum(process.cpu_times()[:2]) - before) / len(some), process.memory_info().rss / 1e6
        print(f"| {name} | {statistics.median(walls):.2f} | {max(walls):.2f} | {cpu:.2f} | {memory:.0f} | {target} |")


async def crowd(address: str, process: psutil.Process, clients: int, rows: int) -> None:
    """All ask for the first page at once, then for what an open page asks every two seconds."""
    host, port = re.fullmatch(r"http://([^:]+):(\d+)/", address).groups()  # type: ignore[union-attr]

    async def ask(path: str) -> tuple[str, float]:
        began = time.monotonic()
        try:
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
            await writer.drain()
            status = (await reader.readline()).split(b" ")[1:2]
            while await reader.read(1 << 16):
                pass
            writer.close()
            return b"".join(status).decode(), time.monotonic() - began
        except OSError as error:
            return type(error).__name__, time.monotonic() - began

    print(f"\n## {clients} clients at once, {rows} rows\n")
    print(
        "| what | answered | not answered | median s | last s | memory of the server, MB |\n|---|---|---|---|---|---|"
    )
    answers = await asyncio.gather(*(ask("/") for _ in range(clients)))
    good, walls = sum(status == "200" for status, _ in answers), sorted(wall for _, wall in answers)
    memory = process.memory_info().rss / 1e6
    middle, last = walls[len(walls) // 2], walls[-1]
    print(f"| first page | {good} | {clients - good} | {middle:.1f} | {last:.1f} | {memory:.0f} |")
    answers = await asyncio.gather(*(ask("/news") for _ in range(clients)))
    good, walls = sum(status == "200" for status, _ in answers), sorted(wall for _, wall in answers)
    memory = process.memory_info().rss / 1e6
    middle, last = walls[len(walls) // 2], walls[-1]
    print(f"| what an open page asks | {good} | {clients - good} | {middle:.1f} | {last:.1f} | {memory:.0f} |")


if __name__ == "__main__":
    main()
