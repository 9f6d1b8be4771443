"""What reading costs: `python bench/speed.py`. Every ratio is taken between things timed in turn in the same run."""

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

from leadline.curve import fit_curves
from leadline.curve.clock import _clock
from leadline.curve.noise import prior_over_correlations
from leadline.pipeline import read
from leadline.questions import shape_of
from leadline.report import html
from leadline.run import Series

ROOT = Path(__file__).resolve().parent.parent
POINTS = (1_000, 10_000, 1_000_000)


def make_series(n: int, index: int) -> Series:
    """A saturating rise in correlated noise."""
    values = 4 * (1 - np.exp(-clock(n) / 0.3)) + autoregressive(n, 0.5, np.random.default_rng((n, index)))
    return Series(f"metric/{index}", f"metric_{index}", "score", np.arange(1, n + 1), values)


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def read_series(series: Sequence[Series]) -> None:
    """A look as the product takes it: curves, a forecast to twice the steps, and the words."""
    for curve in fit_curves(list(series), horizon_step=2 * int(series[0].steps[-1])).values():
        shape_of(curve)


def forget() -> None:
    """Empty what the engine keeps from one look to the next, but for what is made once a process."""
    for kept in (_clock, prior_over_correlations):  # not the stories of `breaks`: few, and the same for every series
        kept.cache_clear()


def look_costs(rounds: int) -> dict[int, float]:
    """Median seconds of a look at each n, every cache of the engine emptied before each."""
    read_series([make_series(1_000, 0)])  # builds what is built once per process
    times: dict[int, list[float]] = {n: [] for n in POINTS}
    for k in range(rounds):
        for n in POINTS:
            series = [make_series(n + 7 * k + 1, 0)]
            forget()
            times[n].append(seconds(lambda series=series: read_series(series)))
    return {n: float(np.median(some)) for n, some in times.items()}


def series_costs(rounds: int, count: int = 12) -> tuple[float, float]:
    """Median seconds for one series and for several on one clock, again with all caches emptied."""
    one, many = [], []
    for k in range(rounds):
        group = [make_series(1_200 + 7 * k, index) for index in range(count)]
        forget()
        one.append(seconds(lambda group=group: read_series(group[:1])))
        forget()
        many.append(seconds(lambda group=group: read_series(group)))
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
    """Median seconds of `leadline read` as a whole process, and of Python importing numpy and scipy.linalg."""
    python = [sys.executable]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    with tempfile.TemporaryDirectory() as folder:
        path = write_run(Path(folder))
        commands = ([*python, "-m", "leadline", "read", str(path)], [*python, "-c", "import numpy, scipy.linalg"])
        times: tuple[list[float], list[float]] = ([], [])
        for k in range(rounds + 1):
            for some, command in zip(times, commands, strict=True):
                spent = seconds(lambda command=command: _run(command, environment))
                if k:  # the first round only fills the disk cache
                    some.append(spent)
    return float(np.median(times[0])), float(np.median(times[1]))


def help_costs(rounds: int) -> tuple[float, float]:
    """Median seconds of `leadline --help` as a whole process, and of Python importing click."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    commands = ([sys.executable, "-m", "leadline", "--help"], [sys.executable, "-c", "import click"])
    times: tuple[list[float], list[float]] = ([], [])
    for k in range(2 * rounds + 1):
        for some, command in zip(times, commands, strict=True):
            spent = seconds(lambda command=command: _run(command, environment))
            if k:
                some.append(spent)
    return float(np.median(times[0])), float(np.median(times[1]))


def page_costs(rounds: int, steps: int = 2_000) -> tuple[float, float, int]:
    """Median seconds of reading a run and of making its HTML report, and the bytes of that."""
    reads, pages, size = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = write_run(Path(folder), steps)
        html.render(read(path))  # what is made once a process
        for _ in range(rounds):
            forget()
            begun = time.perf_counter()
            reading = read(path)
            between = time.perf_counter()
            size = len(html.render(reading).encode())
            reads.append(between - begun)
            pages.append(time.perf_counter() - between)
    return float(np.median(reads)), float(np.median(pages)), size


def _run(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")


def _ms(spent: float) -> str:
    return f"{spent * 1e3:.0f} ms"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time a look, a group of series, and the command.")
    parser.add_argument("--rounds", type=int, default=7, help="repetitions behind each median")
    rounds = parser.parse_args(argv).rounds
    looks = look_costs(rounds)
    one, many = series_costs(rounds)
    command, imports = process_costs(rounds)
    helped, clicked = help_costs(rounds)
    reads, pages, size = page_costs(rounds)
    rows = []
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
