"""What others need for a first view of the same runs: MLflow's server and Trackio's page beside `leadline serve`.

    python bench/fleet_peers.py [--counts 100 1000 10000] [--steps 300] [--only leadline|mlflow|trackio]

One run (7 metrics) is logged by the real package; the others are copies of its rows in its own database, since logging
10,000 runs through a client takes hours. Measured is what the page asks for when it opens: MLflow's first page of its
table (`runs/search`, 100 runs), Trackio's list of runs and then all their histories in batches of 64, as its page does.
Needs mlflow and trackio; where one is not installed its row says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from fleet_page import fill, served

METRICS = ("train/reward", "train/kl", "train/loss", "train/entropy", "train/length", "train/grad_norm", "eval/reward")
PATIENCE = 120.0  # seconds that a first view may take before it is given up
BATCH = 64  # runs whose histories Trackio's page asks for at a time


def main() -> None:
    told = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    told.add_argument("--counts", type=int, nargs="+", default=[100, 1000, 10_000])
    told.add_argument("--steps", type=int, default=300)
    told.add_argument("--only", choices=("leadline", "mlflow", "trackio"))
    asked = told.parse_args()
    print(f"\n## First view beside others, load {os.getloadavg()[0]:.1f}\n")
    print("| page | runs | first view s | MB sent | what is asked |\n|---|---|---|---|---|")
    for name, view in {"leadline": leadline, "mlflow": mlflow, "trackio": trackio}.items():
        if asked.only not in (None, name):
            continue
        if importlib.util.find_spec(name) is None:
            print(f"| {name} | | not installed | | |")
            continue
        for count in asked.counts:
            with tempfile.TemporaryDirectory(prefix="leadline-peers-") as folder:
                seconds, size, what = view(Path(folder), count, asked.steps)
            shown = f"{seconds:.2f}" if seconds < PATIENCE else f"> {PATIENCE:.0f}"
            print(f"| {name} | {count} | {shown} | {size / 1e6:.2f} | {what} |", flush=True)


def rows(steps: int) -> Iterator[tuple[int, dict[str, float]]]:
    for step in range(1, steps + 1):
        yield step, {key: math.sin(step / 30 + place) for place, key in enumerate(METRICS)}


def leadline(home: Path, count: int, steps: int) -> tuple[float, int, str]:
    fill(home / "page.db", count)
    with served(home / "page.db") as (address, _):
        return *first(lambda: _ask(address)), "triage"


def mlflow(home: Path, count: int, steps: int) -> tuple[float, int, str]:
    store = home / "mlflow.db"
    program = (
        "import json, sys, mlflow; mlflow.set_tracking_uri(sys.argv[1]); mlflow.set_experiment('lab')\n"
        "with mlflow.start_run(run_name='run-0') as run:\n"
        "    for step, row in json.load(open(sys.argv[2])): mlflow.log_metrics(row, step=step)\n"
    )
    (home / "rows.json").write_text(json.dumps(list(rows(steps))), encoding="utf-8")
    _run(program, f"sqlite:///{store}", str(home / "rows.json"))
    with sqlite3.connect(store) as base:
        (model,) = base.execute("SELECT run_uuid FROM runs").fetchone()
        for table in ("runs", "metrics", "latest_metrics", "tags"):
            _copied(base, table, model, "run_uuid", count)
        (experiment,) = base.execute("SELECT experiment_id FROM runs LIMIT 1").fetchone()
    port = _free()
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", f"sqlite:///{store}", "--workers", "1"]
    environment = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with _serving([*command, "--host", "127.0.0.1", "--port", str(port)], port, "/health", environment):
        asked = {"experiment_ids": [str(experiment)], "max_results": 100, "order_by": ["attributes.start_time DESC"]}
        view = f"http://127.0.0.1:{port}/ajax-api/2.0/mlflow/runs/search"
        return *first(lambda: _ask(view, asked)), "runs/search, first 100"


def trackio(home: Path, count: int, steps: int) -> tuple[float, int, str]:
    environment = {"TRACKIO_DIR": str(home), "HF_HUB_OFFLINE": "1"}
    program = (
        "import json, sys, trackio; trackio.init(project='lab', name='run-0')\n"
        "for step, row in json.load(open(sys.argv[1])): trackio.log(row, step=step)\n"
        "trackio.finish()\n"
    )
    (home / "rows.json").write_text(json.dumps(list(rows(steps))), encoding="utf-8")
    _run(program, str(home / "rows.json"), environment=environment)
    with sqlite3.connect(home / "lab.db") as base:
        (model,) = base.execute("SELECT run_id FROM metrics").fetchone()
        for table in ("metrics", "configs"):
            _copied(base, table, model, "run_id", count, but=("id", "log_id"))
    port = _free()
    program = f"import trackio; trackio.show('lab', open_browser=False, block_thread=True, server_port={port})"
    with _serving([sys.executable, "-c", program], port, "/", environment):
        address, until = f"http://127.0.0.1:{port}/api", time.monotonic() + PATIENCE

        def view() -> int:
            size, answer = _told(f"{address}/get_runs_for_project", {"project": "lab"})
            runs = [{"run": run.get("name"), "run_id": run.get("id")} for run in json.loads(answer)["data"]]
            for first in range(0, len(runs), BATCH):
                if time.monotonic() > until:
                    return size
                part = {"project": "lab", "runs": runs[first : first + BATCH], "scalar_only": True}
                size += _told(f"{address}/get_logs_batch", part)[0]
            return size

        return *first(view), "list of runs, then all histories"


def _copied(base: sqlite3.Connection, table: str, model: str, key: str, count: int, but: tuple[str, ...] = ()) -> None:
    """So many runs like the first: the same rows under other ids."""
    columns = [name for _, name, *_ in base.execute(f"PRAGMA table_info({table})") if name not in but]
    chosen = ", ".join(f'"{name}"' for name in columns)
    values = ", ".join({key: ":run", "name": ":name", "run_name": ":name"}.get(name, f'"{name}"') for name in columns)
    values = values.replace(":name", '"name"') if table == "tags" else values
    base.executemany(
        f"INSERT INTO {table} ({chosen}) SELECT {values} FROM {table} WHERE {key} = '{model}'",
        [{"run": f"{number:032x}", "name": f"run-{number}"} for number in range(1, count)],
    )


def first(view: Callable[[], int]) -> tuple[float, int]:
    """Seconds and bytes of a first view: what is asked a second time may be kept somewhere."""
    began = time.monotonic()
    size = view()
    return time.monotonic() - began, size


def _ask(address: str, told: Mapping[str, object] | None = None) -> int:
    return _told(address, told)[0]


def _told(address: str, told: Mapping[str, object] | None = None) -> tuple[int, bytes]:
    body = None if told is None else json.dumps(told).encode()
    request = urllib.request.Request(address, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        read = answer.read()
    return len(read), read


def _run(program: str, *told: str, environment: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program, *told],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr.decode()[-2000:])


@contextmanager
def _serving(command: list[str], port: int, alive: str, environment: Mapping[str, str]) -> Iterator[None]:
    server = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{alive}", timeout=2).close()
                break
            except OSError:
                time.sleep(0.5)
        yield
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def _free() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


if __name__ == "__main__":
    main()
