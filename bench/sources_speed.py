"""What reading files costs: `python bench/sources_speed.py [--quick] [--only PART ...] [--scratch DIR]`.

Every ratio is taken on the same file in the same run, the page cache warm for both sides. Peak memory is that of a
process that does nothing else. The files are written to a scratch folder and deleted afterwards.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
from tables import Table

from leadline.sources import source_of

ROOT = Path(__file__).resolve().parent.parent
MEBIBYTE = 1 << 20
ROUNDS = 5  # of each side, in turn; the best counts, since everything else is the machine's
KEYS = [f"actor/metric_{number}" for number in range(36)]
READ = """
import sys, time
from pathlib import Path
from leadline.sources import source_of
path = Path(sys.argv[1])
began = time.perf_counter()
reader = source_of(path).open(path)[0]
reader.update()
columns = reader.log.table.columns()
spent = time.perf_counter() - began
points = max(len(column.values) for column in columns.values())
"""
SAMPLE = """
import sys, time
from pathlib import Path
from leadline.sources import open_run
path = Path(sys.argv[1])
began = time.perf_counter()
rollouts = open_run(path).rollouts
points = sum(len(rollouts.at(step)) for step in rollouts.steps[:: max(1, len(rollouts.steps) // 8)])
spent = time.perf_counter() - began
"""
REPORT = """
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(spent, points, int(peak) / 1024)
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is written: the figures of the issue, or a tenth."""

    steps: int  # of the TensorBoard and JSONL files
    console: int  # bytes
    rollouts: int  # bytes


FULL = Size(steps=20_000, console=1 << 30, rollouts=5 << 30)
QUICK = Size(steps=2_000, console=100 << 20, rollouts=500 << 20)


def best(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def in_turn(one: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Seconds of both, the rounds interleaved so that a busy machine slows both alike."""
    pairs = [(best(one, 1), best(other, 1)) for _ in range(ROUNDS)]
    return min(mine for mine, _ in pairs), min(theirs for _, theirs in pairs)


def read(path: Path) -> object:
    source = source_of(path)
    if source is None:
        raise RuntimeError(f"no source recognises {path}")
    reader = source.open(path)[0]
    reader.update()
    return reader.log.table.columns()


def alone(path: Path, work: str = READ) -> tuple[float, int, float]:
    """Seconds, points and peak MiB of a process that reads the file and ends."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-c", work + REPORT, str(path)], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    spent, points, peak = done.stdout.split()
    return float(spent), int(points), float(peak)


def tensorboard(folder: Path, size: Size) -> list[list[str]]:
    """Against the reader of the tensorboard package."""
    try:
        from tensorboard.backend.event_processing.event_accumulator import SCALARS, EventAccumulator
        from tensorboardX import SummaryWriter
    except ImportError as error:
        return [
            ["TensorBoard events", "skipped", f"{error.name} is not installed: pip install -e '.[writers]'", ">= 10x"]
        ]
    tags, values = 20, np.random.default_rng(1).normal(size=(size.steps, 20)).tolist()
    with SummaryWriter(str(folder / "tensorboard")) as writer:
        for step, row in enumerate(values):
            for tag, value in enumerate(row):
                writer.add_scalar(f"train/metric_{tag}", value, step)
    (file,) = (folder / "tensorboard").iterdir()

    def theirs() -> None:
        events = EventAccumulator(str(file), size_guidance={SCALARS: 0}).Reload()
        for tag in events.Tags()["scalars"]:
            [(event.step, event.value, event.wall_time) for event in events.Scalars(tag)]

    mine, peer = in_turn(lambda: read(file), theirs)
    what = f"TensorBoard, {size.steps * tags:,} scalars, {_mb(file)}"
    return [[what, _s(mine), f"{peer / mine:.1f}x faster than EventAccumulator ({_s(peer)})", ">= 10x"]]


def verl_lines(steps: int, start: int = 1) -> Iterator[bytes]:
    values = np.random.default_rng(start).normal(size=(steps, len(KEYS))).tolist()
    for step, row in enumerate(values, start=start):
        data = {"critic/score/mean": row[0], "actor/kl_loss": abs(row[1])} | dict(zip(KEYS, row, strict=True))
        yield json.dumps({"step": step, "data": data}).encode() + b"\n"


def jsonl(folder: Path, size: Size) -> list[list[str]]:
    """Against what one would write in a notebook; then the cost of reading again after the file grew."""
    file = folder / "metrics.jsonl"
    with file.open("wb") as out:
        out.writelines(verl_lines(size.steps))

    def theirs() -> None:
        columns: dict[str, list[float]] = {}
        with file.open() as lines:
            for line in lines:
                for key, value in json.loads(line)["data"].items():
                    columns.setdefault(key, []).append(value)

    mine, peer = in_turn(lambda: read(file), theirs)
    what = f"JSONL, {size.steps:,} rows, {_mb(file)}"
    rows = [[what, _s(mine), f"{peer / mine:.1f}x faster than json.loads into lists ({_s(peer)})", ">= 3x"]]
    source = source_of(file)
    assert source is not None
    reader = source.open(file)[0]
    reader.update()
    growth = max(size.steps // 100, 1)
    spent = []
    for k in range(ROUNDS):
        with file.open("ab") as out:
            out.writelines(verl_lines(growth, start=size.steps + 1 + k * growth))
        began = time.perf_counter()
        assert reader.update()
        spent.append(time.perf_counter() - began)
    idle = best(reader.update)
    whole = best(lambda: _update_anew(file))
    share = f"{min(spent) / whole:.1%} of reading it whole ({_s(whole)}); nothing new: {idle * 1e6:.0f} us"
    rows.append([f"JSONL grown by 1 % ({growth:,} rows)", _s(min(spent)), share, "about 1 %"])
    return rows


def _update_anew(file: Path) -> None:
    source = source_of(file)
    assert source is not None
    source.open(file)[0].update()


NOISE = (
    b"(WorkerDict pid=4242) \x1b[36mINFO 11-15 08:00:01 [loggers.py:116] Engine 000: Avg prompt throughput: 812.3 "
    b"tokens/s, Avg generation throughput: 5120.9 tokens/s, Running: 96 reqs, GPU KV cache usage: 34.1%\x1b[0m\n",
    b"Processed prompts:  45%|####5     | 230/512 [00:31<00:38,  7.31it/s, est. speed input: 901.22 toks/s]\r",
    b"(TaskRunner pid=31337) /usr/lib/python3/site-packages/torch/utils/checkpoint.py:87: UserWarning: None of\n",
    b'[prompt] What is 17 + 25? Let\'s think step by step and output the final answer after "####".\n',
    b"[response] 17 + 25 = 42: first 17 + 20 = 37, then 37 + 5 = 42.\n#### 42\n[score] 1.0\n",
)


def step_line(step: int, values: Sequence[float]) -> bytes:
    parts = [f"step:{step}", f"critic/score/mean:{values[0]:.6f}"]
    parts += [f"{key}:{value:.6f}" for key, value in zip(KEYS, values, strict=True)]
    return f"(TaskRunner pid=31337) {' - '.join(parts)}\n".encode()


def write_console(file: Path, size: int, noise: int) -> None:
    """A verl console under Ray: after each line of metrics about `noise` bytes of everything else."""
    filler = b"".join(NOISE) * max(1, noise // sum(map(len, NOISE))) if noise else b""
    values = np.random.default_rng(2).normal(size=(997, len(KEYS))).tolist()
    written, step = 0, 0
    with file.open("wb") as out:
        while written < size:
            step += 1
            written += out.write(step_line(step, values[step % 997])) + out.write(filler)


def console(folder: Path, size: Size) -> list[list[str]]:
    """A console log in bounded memory, beside `wc -l`."""
    rows = []
    for what, noise, bytes_written in (
        ("console log, a line of metrics in 64 KB", 64_000, size.console),
        ("console log, every line metrics", 0, size.console // 8),
    ):
        file = folder / "train.log"
        write_console(file, bytes_written, noise)
        subprocess.run(["wc", "-l", str(file)], capture_output=True, check=True)  # warms the cache
        count = best(lambda file=file: subprocess.run(["wc", "-l", str(file)], capture_output=True, check=True))
        spent, points, peak = min(alone(file) for _ in range(ROUNDS))
        speed, counted = (file.stat().st_size / MEBIBYTE / seconds for seconds in (spent, count))
        ratio = f"{speed:.0f} MB/s, {speed / counted:.2f} of wc -l ({counted:.0f} MB/s); peak {peak:.0f} MB"
        target = ">= .33 of wc -l; < 300 MB" if noise else "< 300 MB"
        rows.append([f"{what}, {_mb(file)}, {points:,} points", _s(spent), ratio, target])
        file.unlink()
    return rows


def rollouts(folder: Path, size: Size) -> list[list[str]]:
    """A dump of samples far larger than memory should be, in files by step and in one file."""
    rows = []
    rng = np.random.default_rng(3)
    words = np.array([f"word{number}" for number in range(500)])
    for what, files in (("one file a step", 50), ("one file", 1)):
        place = folder / "dump"
        (place / "rollouts").mkdir(parents=True)
        with (place / "metrics.jsonl").open("wb") as out:
            out.writelines(verl_lines(files))
        samples = [
            {"input": f"prompt {k // 8}", "output": " ".join(rng.choice(words, 700)), "score": float(k % 2), "step": 1}
            for k in range(800)
        ]
        for step in range(1, files + 1):
            chunk = b"".join(json.dumps(sample | {"step": step}).encode() + b"\n" for sample in samples)
            with (place / "rollouts" / f"{step}.jsonl").open("wb") as out:
                for _ in range(max(1, size.rollouts // files // len(chunk))):
                    out.write(chunk)
        spent, points, peak = alone(place, SAMPLE)
        total = sum(file.stat().st_size for file in (place / "rollouts").iterdir()) / 2**30
        rows.append(
            [f"rollouts, {total:.1f} GB, {what}", _s(spent), f"{points:,} samples; peak {peak:.0f} MB", "sampled"]
        )
        shutil.rmtree(place)
    return rows


PARTS: dict[str, Callable[[Path, Size], list[list[str]]]] = {
    one.__name__: one for one in (tensorboard, jsonl, console, rollouts)
}


def _s(spent: float) -> str:
    return f"{spent:.2f} s" if spent >= 1 else f"{spent * 1e3:.1f} ms"


def _mb(file: Path) -> str:
    return f"{file.stat().st_size / MEBIBYTE:.0f} MB"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time the readers beside what else one could use.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument(
        "--scratch", type=Path, default=Path(tempfile.gettempdir()), help="where the files go meanwhile"
    )
    asked = parser.parse_args(argv)
    size = QUICK if asked.quick else FULL
    free, needed = shutil.disk_usage(asked.scratch).free, size.rollouts + (2 << 30)
    if free < needed:
        print(f"{asked.scratch} has {free >> 30} GB free and {needed >> 30} GB are needed: pass --quick or --scratch.")
        return 2
    rows = []
    with tempfile.TemporaryDirectory(dir=asked.scratch, prefix="leadline-bench-") as folder:
        for name in asked.only:
            rows += PARTS[name](Path(folder), size)
    print(Table("Reading files", "see each row", ["what", "time", "beside it, same file", "target"], rows).text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
