"""What the recorder writes is read as what the machine did; what cannot be recorded is said, and the rest goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from extras import needs

from leadline.cli import main
from leadline.errors import CannotWrite, MissingExtra
from leadline.recorder import Recorder, RecordFile
from leadline.recorder.gpus import RETRY, Gpus
from leadline.sources import open_run

needs("psutil", "record")

BUSY = "import sys, time\nend = time.time() + 300\nwhile time.time() < end: pass"
METRICS = {"critic/score/mean": 0.5, "actor/pg_loss": 0.1}


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that works, started as a user would, with a secret among its words."""
    script = tmp_path / "uploader.py"
    script.write_text(BUSY)
    process = subprocess.Popen([sys.executable, str(script), "--token", "hush"])
    yield process
    process.kill()
    process.wait()


def sampled(recorder: Recorder, seconds: float = 0.3) -> None:
    recorder.sample()
    time.sleep(seconds)


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "processes.jsonl").read_text().splitlines()]


def test_a_busy_process_is_recorded_from_its_first_work_to_its_end_and_its_words_are_not(
    tmp_path: Path, busy: subprocess.Popen[bytes]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    recorder = Recorder(out)
    until = time.monotonic() + 240
    recorder.sample()
    while busy.pid not in _pids(lines(out)[-1]):
        assert time.monotonic() < until
        sampled(recorder)
    seen = [line for line in lines(out) if busy.pid in _pids(line)]
    named = {one["name"] for line in seen for one in line["procs"] if one["pid"] == busy.pid}
    assert "uploader.py" in named
    busy.kill()
    busy.wait()
    sampled(recorder, 0)
    assert busy.pid not in _pids(lines(out)[-1])
    assert "hush" not in (out / "processes.jsonl").read_text()
    assert all(one["cpu_s"] >= 0 and one["rss_mb"] >= 0 for line in lines(out) for one in line["procs"])


def _written(folder: Path) -> bool:
    return (folder / "processes.jsonl").exists()


def _pids(line: dict[str, Any]) -> set[int]:
    return {one["pid"] for one in line["procs"]}


def test_a_shell_that_becomes_a_program_is_called_by_the_program(tmp_path: Path) -> None:
    """A shell forks before it becomes what it runs, under the same number and with the same time of birth."""
    work = tmp_path / "merge_weights.py"
    work.write_text(BUSY)
    shell = f"while [ ! -e {tmp_path}/go ]; do :; done; exec {sys.executable} {work}"
    process = subprocess.Popen(["bash", "-c", shell])
    try:
        recorder = Recorder(tmp_path)
        for _ in range(3):
            sampled(recorder, 0.1)
        (tmp_path / "go").touch()
        until = time.monotonic() + 240
        while "merge_weights.py" not in {one["name"] for one in lines(tmp_path)[-1]["procs"]}:
            assert time.monotonic() < until
            sampled(recorder, 0.2)
    finally:
        process.kill()
        process.wait()


def test_a_machine_without_a_gpu_says_so_and_records_the_rest(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    recorder.sample()
    without = [note for note in recorder.notes if note.startswith("No GPU is recorded")]
    assert (tmp_path / "gpus.csv").exists() == (not without)
    assert _written(tmp_path)


def test_without_either_package_the_user_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("psutil", "pynvml"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra) as raised:
        Recorder(tmp_path)
    assert "leadline[record]" in raised.value.next_step


class DriverError(Exception):
    pass


def driver(gpus: list[Any]) -> Any:
    """A driver whose GPUs can be lost: no machine that runs these tests has one to unplug."""

    def answer(handle: Any, what: str) -> Any:
        if handle.lost:
            raise DriverError("GPU is lost")
        if getattr(handle, what) is None:
            raise DriverError("Not Supported")
        return getattr(handle, what)

    return SimpleNamespace(
        NVMLError=DriverError,
        NVMLError_NotSupported=DriverError,
        NVMLError_FunctionNotFound=DriverError,
        nvmlMemory_v2=2,
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: len(gpus),
        nvmlDeviceGetHandleByIndex=lambda index: gpus[index],
        nvmlDeviceGetMemoryInfo=lambda handle, version=None: answer(handle, "memory"),
        nvmlDeviceGetPowerUsage=lambda handle: answer(handle, "power"),
        nvmlDeviceGetEnforcedPowerLimit=lambda handle: answer(handle, "limit"),
        nvmlDeviceGetUtilizationRates=lambda handle: SimpleNamespace(gpu=answer(handle, "busy")),
    )


def gpu(**given: Any) -> Any:
    memory = SimpleNamespace(used=3 << 30, total=80 << 30)
    return SimpleNamespace(**{"lost": False, "memory": memory, "power": 301_250, "limit": 700_000, "busy": 97} | given)


def test_a_gpu_that_is_lost_costs_itself_alone_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cards = [gpu(), gpu(power=None, busy=None)]  # the second is a slice that tells its memory alone
    monkeypatch.setitem(sys.modules, "pynvml", driver(cards))
    notes: list[str] = []
    gpus = Gpus(note=notes.append)
    rows = gpus.sample(1_794_733_855.5)
    cards[0].lost = True
    rows += gpus.sample(1_794_733_857.5)
    cards[1].lost = True
    rows += gpus.sample(1_794_733_859.5)
    assert len(notes) == 2
    cards[0].lost = cards[1].lost = False
    assert gpus.sample(1_794_733_860.5) == b""
    rows += gpus.sample(1_794_733_860.5 + RETRY)
    (tmp_path / "gpus.csv").write_bytes(Gpus.HEADER + rows)
    (tmp_path / "metrics.jsonl").write_text(json.dumps({"step": 1, "data": METRICS}) + "\n")
    read = open_run(tmp_path).telemetry.gpus
    assert read.devices.tolist() == [0, 1, 1, 0, 1]
    assert read.walls.tolist() == [1_794_733_855.5] * 2 + [1_794_733_857.5] + [1_794_733_860.5 + RETRY] * 2
    assert read.power_w[0] == 301.25
    assert np.isnan(read.power_w[1])
    assert read.memory_gb.tolist() == pytest.approx([3072 * 2**20 / 1e9] * 5)


@pytest.mark.parametrize("header", [b"", b"timestamp, index\n"])
def test_a_record_never_outgrows_its_limit_and_keeps_its_span(header: bytes, tmp_path: Path) -> None:
    record = RecordFile(tmp_path, "gpus.csv", header, largest=20_000)
    for second in range(4000):
        stamp = f"2026/11/15 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000"
        count = 2 if header else 1
        record.append("".join(f"{stamp}, {device}\n" for device in range(count)).encode())
        assert record.path.stat().st_size <= 20_000
    record.close()
    kept = record.path.read_text().splitlines()
    assert kept[0].encode() + b"\n" == header if header else True
    rows = [row for row in kept if row.startswith("2026")]
    assert rows[0].startswith("2026/11/15 00:00:00")
    assert rows[-1].startswith("2026/11/15 01:06:39")
    assert record.thinned > 4
    if header:
        stamps = [row[:23] for row in rows]
        assert all(stamps.count(stamp) == 2 for stamp in set(stamps))  # a sample stays whole
    assert sorted(tmp_path.iterdir()) == [record.path]


def test_a_full_record_is_thinned_while_leadline_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.process_iter", lambda asked: ())  # rows of one length, whatever else runs here
    now = [0.0]
    recorder = Recorder(tmp_path, every=1, largest=3_000, clock=lambda: now[0])
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: now.append(now.pop() + seconds))
    monkeypatch.setattr("leadline.recorder.time", clock)
    recorder.run(500)
    times = [line["t"] for line in lines(tmp_path)]
    assert 1_000 < (tmp_path / "processes.jsonl").stat().st_size <= 3_000
    assert (times[0], times[-1]) == (0, 500)
    assert {*np.diff(times)[:-1]} == {4}  # evenly: 126 rows of 23 bytes, where twice as many would not fit


def test_the_verb_records_within_the_size_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(Recorder, "run", lambda self, seconds: given.update(size=self._records[-1][1]._largest))
    assert main(["record", str(tmp_path), "--max-size", "0.003", "--for", "5"]) == 0
    assert given == {"size": 3_000}


def test_a_record_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "gpus.csv"
    theirs.write_text("timestamp, index, power.draw [W]\n")
    record = RecordFile(tmp_path, "gpus.csv", Gpus.HEADER, largest=1000)
    record.append(b"x\n")
    assert theirs.read_text() == "timestamp, index, power.draw [W]\n"
    assert record.path == tmp_path / "gpus-2.csv"


def test_a_full_disk_is_said_once_and_survived(tmp_path: Path) -> None:
    (tmp_path / "processes.jsonl").symlink_to("/dev/full")
    recorder = Recorder(tmp_path)
    for _ in range(3):
        recorder.sample()
    assert sum("No space left" in note for note in recorder.notes) == 1


def test_a_place_that_cannot_be_written_is_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CannotWrite, match="Can't record"):
        Recorder(tmp_path / "missing")
    assert main(["record", str(tmp_path / "missing" / "run.jsonl"), "--for", "0"]) != 0
    assert "does not exist" in capsys.readouterr().err
    (tmp_path / "processes.jsonl").mkdir()
    assert main(["record", str(tmp_path), "--for", "0"]) != 0
    assert "Can't record" in capsys.readouterr().err


# --- phases from the log


class Clock:
    def __init__(self) -> None:
        self.now = 1_794_733_000.0

    def __call__(self) -> float:
        return self.now


def verl_row(step: int, **more: float) -> str:
    timings = {"timing_s/gen": 30.0, "timing_s/old_log_prob": 4.0, "timing_s/update_actor": 8.0, "timing_s/step": 44.0}
    return json.dumps({"step": step, "data": {**METRICS, **timings, **more}}) + "\n"


@pytest.fixture
def followed(tmp_path: Path) -> tuple[Recorder, Clock, Callable[[str], None]]:
    clock = Clock()
    log = tmp_path / "metrics.jsonl"
    recorder = Recorder(tmp_path, log=tmp_path, every=2.0, clock=clock)

    def write(row: str) -> None:
        with log.open("a") as file:
            file.write(row)
        clock.now += 44
        recorder.sample()

    return recorder, clock, write


def test_phases_are_told_from_when_a_row_appears(
    tmp_path: Path, followed: tuple[Recorder, Clock, Callable[[str], None]]
) -> None:
    recorder, clock, write = followed
    recorder.sample()
    write(verl_row(1))  # it may have been there long before we looked
    for step in (2, 3):
        write(verl_row(step))
    ended = clock.now
    write(verl_row(4) + verl_row(5))  # of two that appear together only the later is dated
    phases = open_run(tmp_path).telemetry.phases
    assert phases.names == ("generate", "old_logprob", "update_actor")
    assert sorted(set(phases.steps.tolist())) == [2, 3, 5]
    mine = phases.steps == 3
    assert phases.starts[mine].tolist() == [ended - 42, ended - 12, ended - 8]
    assert phases.ends[mine].tolist() == [ended - 12, ended - 8, ended]


def test_a_recorder_that_is_started_again_goes_on_where_it_was(
    tmp_path: Path, followed: tuple[Recorder, Clock, Callable[[str], None]]
) -> None:
    _, clock, write = followed
    for step in (1, 2, 3):
        write(verl_row(step))
    again = Recorder(tmp_path, log=tmp_path, every=2.0, clock=clock)
    again.sample()
    write(verl_row(4))
    again.sample()
    steps = [json.loads(line)["step"] for line in (tmp_path / "phases.jsonl").read_text().splitlines()]
    assert steps == sorted(steps)
    assert {2, 3, 4} <= set(steps)


def test_phases_that_overlap_are_not_laid_end_to_end(
    tmp_path: Path, followed: tuple[Recorder, Clock, Callable[[str], None]]
) -> None:
    recorder, _, write = followed
    for step in (1, 2, 3):
        write(verl_row(step, **{"timing_s/step": 31.0}))
    assert not (tmp_path / "phases.jsonl").exists()
    assert any("overlap" in note for note in recorder.notes)


def test_phases_the_run_writes_itself_stay_its_own(
    tmp_path: Path, followed: tuple[Recorder, Clock, Callable[[str], None]]
) -> None:
    recorder, _, write = followed
    (tmp_path / "phases.jsonl").write_text('{"step": 1, "gen": [1794733000.0, 1794733030.0]}\n')
    for step in (1, 2, 3):
        write(verl_row(step))
    assert (tmp_path / "phases.jsonl").read_text().count("\n") == 1
    assert any("written by the run itself" in note for note in recorder.notes)


def test_the_command_records_until_it_is_asked_to_end(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "leadline", "record", str(tmp_path), "--every", "0.1"]
    repository = str(Path(__file__).parents[2])
    process = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": repository}, stdout=subprocess.PIPE, text=True)
    until = time.monotonic() + 240
    while not (_written(tmp_path) and len(lines(tmp_path)) >= 3):
        assert time.monotonic() < until
        time.sleep(0.05)
    process.terminate()
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert out.startswith("recording every 0.1 s into ")
