"""What telling Leadline costs a training loop: `python bench/live.py [--steps 20000]`.

Every logger has a process of its own, as in a training, and they log the same rows by turns, a few at a time, so that
all of them meet the same machine. `LeadlineCallback` is called as the Trainer does: the end of a step, then its log.
Peers: W&B offline, trackio, a plain JSON line. The answer of a sidecar changes meanwhile, as often as looks are made.
Two clocks: what the loop waits (the target), and the processor's time, which other programs hardly touch. A second
table has work before every row that drives it out of the processor's caches, as a training does. What a watch costs is
measured by `bench/live_watch.py`.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
os.environ |= {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "CUDA_VISIBLE_DEVICES": ""}

import argparse
import contextlib
import gc
import importlib.util
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
from tables import Table

import leadline
from leadline.inside.trainer import Hooks

KEYS = 28  # as many as TRL's GRPOTrainer logs
ANSWERS = 500  # steps between two answers of a sidecar
AT_ONCE = 20  # steps of one logger before the next has its turn
WARM = 100  # first steps, in which files are opened and code is met for the first time
WORK = 12  # products of matrices in a step of about 40 ms
Logger = Callable[[int, dict[str, float]], None]


def row_of(step: int, rng: np.random.Generator) -> dict[str, float]:
    values = rng.normal(size=KEYS).tolist()
    return {f"rewards/some_function_{key}/mean": value for key, value in enumerate(values)} | {"reward": step / 1e3}


@contextlib.contextmanager
def attached(folder: Path) -> Iterator[Logger]:
    run = leadline.attach("bench", folder, watch=False, stop=True)

    def log(step: int, row: dict[str, float]) -> None:
        run.log(step, row)
        run.should_stop()

    yield answering(log, run.folder)
    run.close()


@contextlib.contextmanager
def callback(folder: Path) -> Iterator[Logger]:
    """The class the Trainer is given where transformers is installed, else the part of it that is ours."""
    made = leadline.LeadlineCallback if importlib.util.find_spec("transformers") else Hooks
    ours: Any = made(name="bench", folder=folder, watch=False, stop=True)
    args = SimpleNamespace(output_dir=str(folder), to_dict=dict, world_size=1, save_strategy="no")
    state = SimpleNamespace(is_world_process_zero=True, max_steps=10**6, global_step=0)
    control = SimpleNamespace(should_training_stop=False)
    ours.on_train_begin(args, state, control)
    state.global_step = 1

    def log(step: int, row: dict[str, float]) -> None:
        state.global_step = step
        ours.on_step_end(args, state, control, model=None, optimizer=None)
        ours.on_log(args, state, control, logs=row, model=None, optimizer=None)

    yield answering(log, ours.run.folder)
    ours.on_train_end(args, state, control)


def answering(log: Logger, folder: Path | None) -> Logger:
    """The same, with a sidecar that answers now and then. What it does is not the loop's time."""
    assert folder is not None

    def logged(step: int, row: dict[str, float]) -> None:
        log(step, row)

    def answer(step: int) -> None:
        if step % ANSWERS == 0:
            said = {"run": "bench", "step": step, "verdict": "continue", "says": "Continue. " * 20, "act": False}
            (folder / "beside").write_text(json.dumps(said))
            (folder / "beside").replace(folder / "answer.json")

    logged.answer = answer  # type: ignore[attr-defined]
    return logged


@contextlib.contextmanager
def plain(folder: Path) -> Iterator[Logger]:
    with (folder / "plain.jsonl").open("a") as file:

        def log(step: int, row: dict[str, float]) -> None:
            file.write(json.dumps({"step": step, "time": time.time(), **row}) + "\n")
            file.flush()

        yield log


@contextlib.contextmanager
def wandb(folder: Path) -> Iterator[Logger]:
    import wandb as theirs

    run = theirs.init(project="bench", dir=folder, settings=theirs.Settings(console="off"))
    yield lambda step, row: run.log(row, step=step)
    run.finish()


@contextlib.contextmanager
def trackio(folder: Path) -> Iterator[Logger]:
    os.environ["TRACKIO_DIR"] = str(folder)
    import trackio as theirs

    with contextlib.redirect_stdout(io.StringIO()):
        run = theirs.init(project="bench", name="bench", embed=False)
    yield lambda step, row: run.log(row, step=step)
    with contextlib.redirect_stdout(io.StringIO()):
        theirs.finish()


LOGGERS = {
    "LeadlineCallback: end of step + log": (callback, None),
    "leadline.attach: log + should_stop": (attached, None),
    "json.dumps + write + flush": (plain, None),
    "W&B, offline": (wandb, "wandb"),
    "trackio": (trackio, "trackio"),
}


def serve(name: str, folder: Path) -> None:
    """One logger: for each line `FIRST COUNT WORK` on standard input, that many steps, and their times on a line."""
    rng = np.random.default_rng(0)
    flushed = np.zeros(1 << 22)  # 32 MB: more than the caches hold
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the others print is no time of ours
    with LOGGERS[name][0](folder) as log:
        gc.collect()
        for line in sys.stdin:
            first, count, work = map(int, line.split())
            found = []
            for step in range(first, first + count):
                row = row_of(step, rng)
                if work:
                    flushed += 1.0
                begun, spent = time.perf_counter(), time.thread_time()
                log(step, row)
                found.append((time.perf_counter() - begun, time.thread_time() - spent))
                getattr(log, "answer", lambda step: None)(step)
            print(json.dumps(found), file=out, flush=True)


def timed(names: list[str], steps: int, *, work: bool) -> dict[str, np.ndarray]:
    """Seconds of every call by logger, on both clocks."""
    took: dict[str, list[list[float]]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        servers = {}
        for number, name in enumerate(names):
            (place := Path(folder) / str(number)).mkdir()
            words = [sys.executable, __file__, "--serve", name, "--folder", str(place)]
            servers[name] = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        for first in range(1, steps + 1, AT_ONCE):
            for name, server in servers.items():
                assert server.stdin is not None
                assert server.stdout is not None
                print(first, AT_ONCE, int(work), file=server.stdin, flush=True)
                took[name] += json.loads(server.stdout.readline())
        for server in servers.values():
            server.communicate(timeout=120)
    warm = {name: np.array(found)[WARM:] for name, found in took.items()}
    return {name: found for name, found in warm.items() if len(found)}


def shown(title: str, took: dict[str, np.ndarray], steps: int) -> Table:
    rows = []
    reference = float(np.median(took["json.dumps + write + flush"][:, 0]))
    for name, seconds in took.items():
        figures = [1e6 * float(np.quantile(seconds[:, clock], q)) for clock in (0, 1) for q in (0.5, 0.999)]
        waited = float(np.median(seconds[:, 0])) / reference
        rows.append([name, *(f"{one:.1f}" if one < 100 else f"{one:.0f}" for one in figures), f"{waited:.2f}"])
    columns = ["logger", "median, us", "99.9 %, us", "processor, median", "processor, 99.9 %", "over a plain line"]
    note = f"{steps} steps of {KEYS + 1} metrics, the first {WARM} left out; machine load {os.getloadavg()[0]:.1f}."
    return Table(title, "median < 50 us, 99.9 % < 1000 us", columns, rows, note)


def once() -> Table:
    """What is paid once: importing, and starting a journal with its sidecar."""
    text = (
        "import time; a = time.perf_counter(); import leadline; leadline.attach; b = time.perf_counter(); "
        "import sys; run = leadline.attach('x', sys.argv[1], watch=bool(sys.argv[2])); c = time.perf_counter(); "
        "run.close(); print(b - a, c - b)"
    )
    rows = []
    for name, look in (("without a sidecar", ""), ("with a sidecar", "1")):
        found = []
        for _ in range(5):
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [sys.executable, "-c", text, folder, look], capture_output=True, text=True, check=True
                )
                found.append([float(word) for word in done.stdout.split()])
        imported, begun = np.median(found, axis=0)
        rows.append([name, f"{1e3 * imported:.0f}", f"{1e3 * begun:.1f}"])
    return Table("Once a run", "reported", ["attach", "import, ms", "attach, ms"], rows)


def train(folder: Path, seconds: float, look: bool) -> None:
    """Train for so long in steps of about 40 ms, with a journal and a sidecar or without; print the times of steps."""
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((400, 400))
    run = leadline.attach("bench", folder) if look else None
    took, until, step = [], time.monotonic() + seconds, 0
    while time.monotonic() < until:
        step += 1
        begun = time.perf_counter()
        for _ in range(WORK):
            matrix @ matrix
        if run is not None:
            run.log(
                step, {**row_of(step, rng), "reward": 1 - float(np.exp(-step / 300)) + 0.05 * rng.standard_normal()}
            )
            run.should_stop()
        took.append(time.perf_counter() - begun)
    print(json.dumps({"took": took, "sidecar": sidecar_seconds(folder)}))
    if run is not None:
        run.close()


def sidecar_seconds(folder: Path) -> float:
    """Processor seconds of the sidecar of a folder so far."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes()
            if b"leadline.inside.sidecar" in words and str(folder).encode() in words:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def end_to_end(seconds: float) -> Table:
    """Step times of a training with a journal and its sidecar, and without, by turns."""
    found: dict[str, list[float]] = {"without": [], "with": []}
    used, lasted = 0.0, 0.0
    for turn in ("without", "with") * 2:
        with tempfile.TemporaryDirectory() as folder:
            words = ["--train", turn, "--folder", folder, "--seconds", str(seconds)]
            done = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True, check=True)
            told = json.loads(done.stdout)
            found[turn] += told["took"][len(told["took"]) // 10 :]
            used, lasted = used + told["sidecar"], lasted + (seconds if turn == "with" else 0.0)
            time.sleep(5)  # the sidecar makes its last check
    base = float(np.median(found["without"]))
    rows = [
        [turn, *(f"{1e3 * one:.2f}" for one in (np.median(took), np.mean(took))), f"{np.median(took) / base:.3f}"]
        for turn, took in found.items()
    ]
    note = (
        f"Sidecar: {used / lasted:.1%} of one core, its start and first check included; load {os.getloadavg()[0]:.1f}."
    )
    columns = ["attach with its sidecar", "median step, ms", "mean step, ms", "of without"]
    return Table("A training end to end", "sidecar <= 5 % of one core", columns, rows, note)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--train", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each training end to end; there are four")
    asked = parser.parse_args()
    if asked.train:
        train(asked.folder, asked.seconds, asked.train == "with")
        return
    if asked.serve:
        serve(asked.serve, asked.folder)
        return
    names = [name for name, (_, package) in LOGGERS.items() if package is None or importlib.util.find_spec(package)]
    print(shown("Cost of a step, back to back", timed(names, asked.steps, work=False), asked.steps).text())
    few = max(asked.steps // 5, 1)
    print(shown("Cost of a step, with work between", timed(names, few, work=True), few).text())
    print(once().text())
    print(end_to_end(asked.seconds).text())


if __name__ == "__main__":
    main()
