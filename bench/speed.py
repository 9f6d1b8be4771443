"""What reading costs in CPU time: `python bench/speed.py`. Every ratio is between things timed in turn in one run."""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
from simulate import autoregressive, clock
from tables import Table

from leadline.curve.fit import fit_curve
from leadline.curve.noise import prior_over_correlations
from leadline.curve.posterior import _clock
from leadline.pipeline import read
from leadline.questions.shape import shape_of
from leadline.report import html
from leadline.run import Series

ROOT = Path(__file__).resolve().parent.parent
POINTS = (1_000, 10_000, 1_000_000)
FIRST_LOOK = "import sys; from leadline.pipeline import read; read(sys.argv[1], charts='main')"


def make_series(n: int, index: int) -> Series:
    """A saturating rise in correlated noise."""
    values = 4 * (1 - np.exp(-clock(n) / 0.3)) + autoregressive(n, 0.5, np.random.default_rng((n, index)))
    return Series(f"metric/{index}", f"metric_{index}", "score", np.arange(1, n + 1), values)


def read_series(series: Sequence[Series]) -> None:
    """A look as the product takes it: curves, a forecast to twice the steps, and the words."""
    for one in series:
        shape_of(fit_curve(one, horizon_step=2 * int(one.steps[-1])))


def forget() -> None:
    """Empty what the engine keeps from one look to the next, but for what is made once a process."""
    for kept in (_clock, prior_over_correlations):  # not the stories of `breaks`: few, and the same for every series
        kept.cache_clear()


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


def process_costs(rounds: int) -> tuple[float, float]:
    """Median CPU seconds of `leadline read` as a whole process, and of Python importing numpy and scipy.linalg."""
    python = [sys.executable]
    environment = _environment()
    with tempfile.TemporaryDirectory() as folder:
        path = write_run(Path(folder))
        commands = ([*python, "-m", "leadline", "read", str(path)], [*python, "-c", "import numpy, scipy.linalg"])
        times: tuple[list[float], list[float]] = ([], [])
        for k in range(rounds + 1):
            for some, command in zip(times, commands, strict=True):
                spent = _cpu_and_memory(command, environment)[0]
                if k:  # the first round only fills the disk cache
                    some.append(spent)
    return float(np.median(times[0])), float(np.median(times[1]))


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
    anchor = cpu.pop("import numpy")
    wanted = {"import leadline.pipeline": "<= 250 ms, 2x", "leadline read examples/collapsed": "<= 550 ms, 4x"}
    rows = [
        [f"{name}, CPU", _ms(cost), f"{cost / anchor:.1f}x import numpy", wanted[name]] for name, cost in cpu.items()
    ]
    rows.append(["its memory", f"{memory:.0f} MB", "", "<= 110 MB"])
    rows.append(["first look in process, CPU", _ms(first), f"{first / anchor:.1f}x import numpy", "<= 200 ms"])
    rows.append(["a warm look in process, CPU", _ms(warm), f"{warm / anchor:.1f}x import numpy", "<= 70 ms"])
    return rows + million_costs(anchor) + scan_costs(anchor)


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


def scan_costs(anchor: float, runs: int = 24) -> list[list[str]]:
    """CPU of the first `leadline scan` of a folder of runs, workers included, and runs per CPU second."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs):
            home = Path(folder) / "runs" / f"run{number}"
            home.mkdir(parents=True)
            write_run(home, 200 + number)
        environment = {**_environment(), "XDG_STATE_HOME": folder}
        command = [sys.executable, "-m", "leadline", "scan", str(Path(folder) / "runs")]
        cpu, _ = _cpu_and_memory(command, environment)
    each = f"{cpu / anchor / runs:.1f}x import numpy a run"
    return [[f"leadline scan, {runs} runs of 200 steps, {runs / cpu:.1f} a CPU s", _ms(cpu), each, ">= 12 a CPU s"]]


def _environment() -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else every process compiles the package anew: half of its time
    return environment


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _cpu_and_memory(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """CPU seconds and megabytes of a process."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {status}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


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
    command, imports = process_costs(rounds)
    helped, clicked = help_costs(rounds)
    reads, pages, size = page_costs(rounds)
    rows = reading
    for n in POINTS:
        target = "<= 3x; <= 250 ms (methods.md)" if n == POINTS[-1] else ""
        rows.append([f"a look at n = {n:,}", _ms(looks[n]), f"{looks[n] / looks[POINTS[0]]:.2f}x n = 1,000", target])
    rows += [
        ["12 series on one clock", _ms(many), f"{many / one:.2f}x one series ({_ms(one)})", "<= 2.5x"],
        ["leadline --help", _ms(helped), f"{helped / clicked:.2f}x import click ({_ms(clicked)})", "<= 3x"],
        ["leadline read, 1,000 steps", _ms(command), f"{command / imports:.2f}x imports ({_ms(imports)})", "<= 5x"],
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
