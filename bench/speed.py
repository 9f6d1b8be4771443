"""What reading costs in CPU time: `python bench/speed.py`. Every ratio is between things timed in turn in one run."""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
from fleet_page import served
from live_watch import cost
from numpy.typing import NDArray
from sources_speed import write_console
from tables import Table

from leadline import kept
from leadline.curve.noise import prior_over_correlations
from leadline.curve.posterior import _clock
from leadline.pipeline import read, read_run
from leadline.questions.level import Trace
from leadline.questions.shape import shape_of
from leadline.report import html
from leadline.run import Series
from leadline.sources import open_run

ROOT = Path(__file__).resolve().parent.parent
POINTS = (1_000, 10_000, 1_000_000)
FIRST_LOOK = "import sys; from leadline.pipeline import read; read(sys.argv[1], charts='main')"


def clock(n: int) -> NDArray[np.float64]:
    """Return times of points that are equally spaced, the last of them 1."""
    return np.arange(1, n + 1) / n


def autoregressive(n: int, phi: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return AR(1) noise of variance 1."""
    shocks = np.sqrt(1 - phi**2) * rng.standard_normal(n)
    return np.array(list(accumulate(shocks.tolist(), lambda last, shock: phi * last + shock)))


def make_series(n: int, index: int) -> Series:
    """A saturating rise in correlated noise."""
    values = 4 * (1 - np.exp(-clock(n) / 0.3)) + autoregressive(n, 0.5, np.random.default_rng((n, index)))
    return Series(f"metric/{index}", f"metric_{index}", "score", np.arange(1, n + 1), values)


def read_series(series: Sequence[Series]) -> None:
    """A look as the product takes it: curves, a forecast to twice the steps, and the words."""
    for one in series:
        shape_of(Trace(one, end=2 * int(one.steps[-1])))


def forget() -> None:
    """Empty what the engine keeps from one look to the next, but for what is made once a process."""
    for made in (_clock, prior_over_correlations):  # not the stories of `breaks`: few, and the same for every series
        made.cache_clear()
    kept.forget()


def look_costs(rounds: int) -> dict[int, float]:
    """Median CPU seconds of a look at each n, every cache of the engine emptied before each."""
    read_series([make_series(1_000, 0)])  # builds what is built once per process
    times: dict[int, list[float]] = {n: [] for n in POINTS}
    for k in range(rounds):
        for n in POINTS:
            series = [make_series(n + 7 * k + 1, 0)]
            forget()
            times[n].append(_cpu(lambda series=series: read_series(series)))
    return {n: float(np.median(some)) for n, some in times.items()}


def series_costs(rounds: int, count: int = 12) -> tuple[float, float]:
    """Median CPU seconds for one series and for several on one clock, again with all caches emptied."""
    one, many = [], []
    for k in range(rounds):
        group = [make_series(1_200 + 7 * k, index) for index in range(count)]
        forget()
        one.append(_cpu(lambda group=group: read_series(group[:1])))
        forget()
        many.append(_cpu(lambda group=group: read_series(group)))
    return float(np.median(one)), float(np.median(many))


def write_run(folder: Path, steps: int = 1_000) -> Path:
    """A TRL run of so many logged steps with the metrics a GRPO run logs."""
    rng = np.random.default_rng(1)
    u = clock(steps)
    columns = {
        "reward": 0.2 + 0.5 * (1 - np.exp(-3 * u)) + 0.05 * autoregressive(steps, 0.3, rng),
        "reward_std": 0.3 - 0.1 * u + 0.02 * autoregressive(steps, 0.3, rng),
        "kl": 0.05 * u + 0.004 * np.abs(autoregressive(steps, 0.5, rng)),
        "loss": 0.002 * u + 0.01 * autoregressive(steps, 0.0, rng),
        "grad_norm": 0.4 + 0.1 * np.abs(autoregressive(steps, 0.2, rng)),
        "entropy": 0.9 - 0.4 * u + 0.03 * autoregressive(steps, 0.5, rng),
        "completions/mean_length": 200 + 40 * u + 10 * autoregressive(steps, 0.3, rng),
        "learning_rate": 1e-6 * (1 - u),
        "step_time": 11 + 0.5 * autoregressive(steps, 0.2, rng),
    }
    columns |= {"step": np.arange(1, steps + 1), "epoch": u}
    history = [
        dict(zip(columns, row, strict=True)) for row in zip(*(c.tolist() for c in columns.values()), strict=True)
    ]
    path = folder / "trainer_state.json"
    path.write_text(json.dumps({"global_step": steps, "max_steps": steps, "log_history": history}))
    return path


def reading_costs(rounds: int) -> list[list[str]]:
    """What reading a bundled run costs: CPU of whole processes against that of `import numpy`, and of a warm look."""
    environment = _environment()
    example = str(ROOT / "leadline" / "examples" / "collapsed")
    python = sys.executable
    commands = {
        "import numpy": [python, "-c", "import numpy"],
        "import leadline.pipeline": [python, "-c", "import leadline.pipeline"],
        "leadline read examples/collapsed": [python, "-m", "leadline", "read", example],
        "import and first look": [python, "-c", FIRST_LOOK, example],
    }
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for k in range(rounds + 1):
        for name, command in commands.items():
            cost = _cpu_and_memory(command, environment)
            if k:  # the first round only fills the disk cache
                spent[name].append(cost)
    cpu = {name: float(np.median([seconds for seconds, _ in costs])) for name, costs in spent.items()}
    memory = max(megabytes for _, megabytes in spent["leadline read examples/collapsed"])
    first = cpu.pop("import and first look") - cpu["import leadline.pipeline"]
    read(example)
    warm = float(np.median([_cpu(lambda: read(example, charts="main")) for _ in range(rounds)]))
    run = open_run(example)
    grown = [run.until((run.last_step or 0) - more) for more in range(rounds, -1, -1)]
    read_run(grown[0], charts="main")
    later = float(np.median([_cpu(lambda one=one: read_run(one, charts="main")) for one in grown[1:]]))
    anchor = cpu.pop("import numpy")
    wanted = {"import leadline.pipeline": "<= 250 ms, 2x", "leadline read examples/collapsed": "<= 550 ms, 4x"}
    rows = [
        [f"{name}, CPU", _ms(cost), f"{cost / anchor:.1f}x import numpy", wanted[name]] for name, cost in cpu.items()
    ]
    rows.append(["its memory", f"{memory:.0f} MB", "", "<= 110 MB"])
    rows.append(["first look in process, CPU", _ms(first), f"{first / anchor:.1f}x import numpy", "<= 200 ms"])
    rows.append(["a warm look in process, CPU", _ms(warm), f"{warm / anchor:.1f}x import numpy", "<= 70 ms"])
    rows.append(["a look after one more row, CPU", _ms(later), f"{later / anchor:.1f}x import numpy", ""])
    rows += million_costs(anchor) + console_costs(anchor)
    return rows + scan_costs(anchor) + backtest_costs(anchor) + sidecar_costs(anchor)


def million_costs(anchor: float, rows: int = 1_000_000) -> list[list[str]]:
    """CPU and memory of `leadline read` of two series of a million rows, as JSON lines and as CSV."""
    rng = np.random.default_rng(0)
    reward, kl = clock(rows) + 0.1 * rng.standard_normal(rows), 0.05 * clock(rows) + 0.004 * rng.random(rows)
    forms = {
        "jsonl": ("", '{{"step": {}, "reward": {:.6f}, "kl": {:.6f}}}\n'),
        "csv": ("step,reward,kl\n", "{},{:.6f},{:.6f}\n"),
    }
    told = []
    for suffix, (head, line) in forms.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"log.{suffix}"
            with path.open("w") as file:
                file.write(head)
                file.writelines(map(line.format, range(1, rows + 1), reward.tolist(), kl.tolist()))
            cpu, memory = _cpu_and_memory([sys.executable, "-m", "leadline", "read", str(path)], _environment())
        name = f"leadline read, {rows:,} rows of {suffix}, CPU, {memory:.0f} MB"
        told.append([name, _ms(cpu), f"{cpu / anchor:.0f}x import numpy", "<= 6 s, 700 MB"])
    return told


def scan_costs(anchor: float, runs: int = 40) -> list[list[str]]:
    """CPU of the first `leadline scan` of a folder of runs, workers included, and runs per CPU second; then reports of
    these runs, opened at the page."""
    with tempfile.TemporaryDirectory() as folder:
        write_runs(Path(folder) / "runs", runs)
        environment, store = {**_environment(), "XDG_STATE_HOME": folder}, Path(folder) / "shelf.db"
        command = [sys.executable, "-m", "leadline", "scan", str(Path(folder) / "runs"), "--store", str(store)]
        cpu, _ = _cpu_and_memory(command, environment)
        each = f"{cpu / anchor / runs:.1f}x import numpy a run"
        scanned = [
            f"leadline scan, {runs} runs of 200 steps, {runs / cpu:.1f} a CPU s",
            _ms(cpu),
            each,
            ">= 12 a CPU s",
        ]
        return [scanned, *report_costs(store, anchor)]


def report_costs(store: Path, anchor: float) -> list[list[str]]:
    """Reports opened at the page: the first, some one by one, and sixteen at once; CPU of the server a report."""
    told = []
    with served(store) as (address, server):
        with urllib.request.urlopen(f"{address}api/rows?size=40") as answer:
            keys = [row["key"] for row in json.load(answer)["rows"]]

        def opened(key: str) -> float:
            begun = time.perf_counter()
            urllib.request.urlopen(f"{address}run/{key}/report", timeout=120).read()
            return time.perf_counter() - begun

        for name, some, at_once, wanted in (
            ("the very first report", keys[:1], 1, ""),
            ("a report, warm", keys[1:16], 1, "<= .5 s"),
            ("16 reports at once", keys[16:32], 16, "<= 400 MB"),
        ):
            before, _ = cost(server.pid)
            with ThreadPoolExecutor(at_once) as pool:
                walls = list(pool.map(opened, some))
            cpu, memory = (cost(server.pid)[0] - before) / len(some), cost(server.pid)[1]
            what = f"page: {name}, {np.median(walls):.2f} s of wall time, then {memory:.0f} MB; CPU a report"
            told.append([what, _ms(cpu), f"{cpu / anchor:.1f}x import numpy", wanted])
    return told


def backtest_costs(anchor: float, runs: int = 29) -> list[list[str]]:
    """CPU of `leadline backtest`, ten checks a run, workers included."""
    with tempfile.TemporaryDirectory() as folder:
        places = write_runs(Path(folder) / "runs", runs)
        cpu, _ = _cpu_and_memory([sys.executable, "-m", "leadline", "backtest", *map(str, places)], _environment())
    ratio = f"{cpu / runs / anchor:.1f}x import numpy"
    return [[f"leadline backtest, {runs} runs of 200 steps, CPU a run", _ms(cpu / runs), ratio, "<= 1.5 s"]]


def console_costs(anchor: float, size: int = 300 << 20) -> list[list[str]]:
    """CPU and memory of `leadline read` of a console that holds a line of metrics in 64 KB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.log"
        write_console(path, size, 64_000)
        cpu, memory = _cpu_and_memory([sys.executable, "-m", "leadline", "read", str(path)], _environment())
    what = f"leadline read, a console of {size >> 20} MB, CPU, {memory:.0f} MB"
    return [[what, _ms(cpu), f"{cpu / anchor:.0f}x import numpy", "<= 3.6 s, 138 MB"]]


TRAINING = """
import sys, time
import leadline
run = leadline.attach("bench", sys.argv[1])
began = time.monotonic()
for step in range(1, int(sys.argv[2]) + 1):
    level = 1 - 1 / (1 + step / 200)
    numbers = {f"rewards/function_{place}/mean": level * (1 + (7 * step + place) % 11 / 50) for place in range(24)}
    run.log(step, {"reward": level + (13 * step % 17) / 100, "kl": step / 1e4, "loss": (5 * step % 7) / 1e3, **numbers})
    time.sleep(max(0.0, began + step * 0.04 - time.monotonic()))
"""


def sidecar_costs(anchor: float, steps: int = 1_500) -> list[list[str]]:
    """CPU of the sidecar that looks at a training of 40 ms steps, its start included, as a share of a core."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", TRAINING, folder, str(steps)]
        begun = time.monotonic()
        training = subprocess.Popen(command, env={**_environment(), "XDG_STATE_HOME": folder})
        spent: dict[int, float] = {}
        while training.poll() is None:
            time.sleep(0.5)
            for place in Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):  # it has ended
                    words = place.read_bytes()
                    if b"leadline.inside.sidecar" in words and folder.encode() in words:
                        spent[int(place.parent.name)] = cost(int(place.parent.name))[0]
        lasted, cpu = time.monotonic() - begun, sum(spent.values())
        if training.returncode or not spent:
            raise RuntimeError(f"the training ended with {training.returncode}, {len(spent)} sidecars were seen")
        time.sleep(2)  # the sidecar sees that the run is over before its folder goes
    what = f"sidecar beside {steps:,} steps of 40 ms, {cpu / lasted:.1%} of a core, CPU"
    return [[what, _ms(cpu), f"{cpu / anchor:.0f}x import numpy in {lasted:.0f} s", "<= 5% of a core"]]


def write_runs(home: Path, runs: int) -> list[Path]:
    """Return the folders of so many runs of some 200 steps."""
    places = [home / f"run{number}" for number in range(runs)]
    for number, place in enumerate(places):
        place.mkdir(parents=True)
        write_run(place, 200 + number)
    return places


def _environment() -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else every process compiles the package anew: half of its time
    return environment


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


ALONE = """
import json, os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(json.dumps([status, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def _cpu_and_memory(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """CPU seconds and megabytes of a process. A small one starts it: what its parent holds counts as held by it."""
    asked = [sys.executable, "-c", ALONE, *command]
    told = subprocess.run(asked, env=environment, stdout=subprocess.PIPE, check=True).stdout
    status, cpu, memory = json.loads(told)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {status}")
    return cpu, memory


def help_costs(rounds: int) -> tuple[float, float]:
    """Median CPU seconds of `leadline --help` as a whole process, and of Python importing click."""
    environment = _environment()
    commands = ([sys.executable, "-m", "leadline", "--help"], [sys.executable, "-c", "import click"])
    times: tuple[list[float], list[float]] = ([], [])
    for k in range(2 * rounds + 1):
        for some, command in zip(times, commands, strict=True):
            spent = _cpu_and_memory(command, environment)[0]
            if k:
                some.append(spent)
    return float(np.median(times[0])), float(np.median(times[1]))


def page_costs(rounds: int, steps: int = 2_000) -> tuple[float, float, int]:
    """Median CPU seconds of reading a run and of making its HTML report, and the bytes of that."""
    reads, pages, size = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = write_run(Path(folder), steps)
        html.render(read(path))  # what is made once a process
        for _ in range(rounds):
            forget()
            begun = time.process_time()
            reading = read(path)
            between = time.process_time()
            size = len(html.render(reading).encode())
            reads.append(between - begun)
            pages.append(time.process_time() - between)
    return float(np.median(reads)), float(np.median(pages)), size


def _ms(spent: float) -> str:
    return f"{spent * 1e3:.0f} ms"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time a look, a group of series, and the command.")
    parser.add_argument("--rounds", type=int, default=7, help="repetitions behind each median")
    rounds = parser.parse_args(argv).rounds
    reading = reading_costs(rounds)
    looks = look_costs(rounds)
    one, many = series_costs(rounds)
    helped, clicked = help_costs(rounds)
    reads, pages, size = page_costs(rounds)
    rows = reading
    for n in POINTS:
        target = "<= 3x; <= 250 ms (methods.md)" if n == POINTS[-1] else ""
        rows.append([f"a look at n = {n:,}", _ms(looks[n]), f"{looks[n] / looks[POINTS[0]]:.2f}x n = 1,000", target])
    rows += [
        ["12 series on one clock", _ms(many), f"{many / one:.2f}x one series ({_ms(one)})", "<= 2.5x"],
        ["leadline --help", _ms(helped), f"{helped / clicked:.2f}x import click ({_ms(clicked)})", "<= 3x"],
        [
            f"HTML, 2,000 steps, {size / 1e6:.1f} MB",
            _ms(pages),
            f"{pages / reads:.2f}x reading ({_ms(reads)})",
            "<= 2x",
        ],
    ]
    print(Table("Speed", "see each row", ["what", "time", "ratio, same run", "target"], rows).text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
