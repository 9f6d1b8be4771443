"""What users point at by mistake: one clear sentence each, what to do next, and exit code 3. Never a traceback."""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import EXAMPLES, trl_bytes, verl_bytes

from leadline.cli import main
from leadline.sources import source_of

ROWS = [(step, {"reward": step / 10, "kl": 0.01}) for step in range(1, 9)]
VERL_ROWS = [(step, {"critic/score/mean": step / 10}) for step in range(1, 9)]
NOBODY = 65534
BOUND = 600 << 10  # KiB a process may hold, whatever the size of a line: imports alone take a quarter of it

Refused = Callable[[Path | str], str]


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Refused:
    """Reads what cannot be read and returns the sentence."""

    def read(path: Path | str) -> str:
        capsys.readouterr()
        assert main(["read", str(path)]) == 3
        out = capsys.readouterr()
        assert out.out == ""
        return sentence_in(out.err)

    return read


def sentence_in(message: str) -> str:
    assert "Traceback" not in message
    lines = message.splitlines()
    assert [line.split(":")[0] for line in lines] == ["error", "hint"], message
    assert lines[0].endswith("."), message
    return lines[0]


def test_a_wrong_path(refused: Refused, tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / "outputs" / "grpo")


def test_an_empty_folder(refused: Refused, tmp_path: Path) -> None:
    assert str(tmp_path) in refused(tmp_path)


def test_an_empty_file(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "train.log").touch()
    assert "train.log" in refused(tmp_path / "train.log")


@contextlib.contextmanager
def without_rights() -> Iterator[None]:
    """As a user who is not root: root may open anything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("lost", ["file", "folder"])
def test_a_file_or_folder_that_may_not_be_opened(lost: str, refused: Refused) -> None:
    main(["read", str(EXAMPLES / "healthy"), "--until", "20"])  # imports all it needs while it may
    place = Path(tempfile.mkdtemp())  # not tmp_path, whose parents are closed to others
    try:
        place.chmod(0o755)
        (place / "trainer_state.json").write_bytes(trl_bytes(ROWS))
        (place / "trainer_state.json" if lost == "file" else place).chmod(0)
        with without_rights():
            said = refused(place / "trainer_state.json")
        assert "Permission denied" in said
    finally:
        place.chmod(0o755)
        shutil.rmtree(place)


SFT = [
    (step, {"loss": 2.0 - step / 10, "grad_norm": 1.0, "learning_rate": 1e-4, "mean_token_accuracy": 0.5, "epoch": 0.1})
    for step in range(1, 9)
]
DPO = [
    (
        step,
        {
            "loss": 0.69,
            "rewards/chosen": 0.1,
            "rewards/rejected": -0.1,
            "rewards/accuracies": 0.7,
            "rewards/margins": 0.2,
            "logps/chosen": -50.0,
            "logps/rejected": -60.0,
            "epoch": 0.1,
        },
    )
    for step in range(1, 9)
]


def dict_lines(rows: list[tuple[int, dict[str, float]]]) -> bytes:
    return b"".join(f"{values}\n".encode() for _, values in rows)


@pytest.mark.parametrize("carrier", ["trainer_state.json", "train.log", "standard input"])
@pytest.mark.parametrize(("rows", "words"), [(SFT, "supervised"), (DPO, "DPO")], ids=["sft", "dpo"])
def test_a_log_of_another_kind_of_training_is_called_what_it_is(
    carrier: str,
    rows: list[tuple[int, dict[str, float]]],
    words: str,
    refused: Refused,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = dict_lines(rows) if carrier == "train.log" else trl_bytes(rows)
    path = tmp_path / "run.log" if carrier == "standard input" else tmp_path / carrier
    path.write_bytes(data)
    if carrier == "standard input":
        with path.open("rb") as stream:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
            said = refused("-")
    else:
        said = refused(path).replace(str(path), "")
    assert words.lower() in said.lower()
    assert "RL" in said


LIARS = [
    "trainer_state.json",
    "metrics.jsonl",
    "progress.csv",
    "monitor.csv",
    "result.json",
    "train.log",
    "train.log.gz",
    "events.out.tfevents.1700000000.host.1.0",
    "run-abc123.wandb",
    "run-abc123.swanlab",
    "mlflow.db",
    "project.parquet",
    "completions_00001.parquet",
    "leadline.bin",
]
STARTS = {
    "noise": b"",
    "zip": b"PK\x03\x04",
    "gzip": b"\x1f\x8b\x08\x00",
    "sqlite": b"SQLite format 3\x00",
    "parquet": b"PAR1",
    "wandb": b":W&B",
    "zeros": bytes(5000),
    "opening": b'{"log_history": [{"step": 1, ',
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", LIARS)
def test_a_binary_that_is_not_what_its_name_says(name: str, start: str, refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(STARTS[start] + random.Random(f"{name} {start}").randbytes(20_000))
    assert name in refused(path)
    refused(tmp_path)


def test_links_that_lead_in_a_circle(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "again").symlink_to(tmp_path)
    (tmp_path / "trainer_state.json").symlink_to(tmp_path / "trainer_state.json")
    refused(tmp_path / "a")
    refused(tmp_path / "trainer_state.json")
    refused(tmp_path)


def test_a_run_in_a_folder_whose_links_lead_in_a_circle_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "again").symlink_to(tmp_path)
    (tmp_path / "run" / "trainer_state.json").write_bytes(trl_bytes(ROWS))
    assert main(["read", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"]["last_step"] == 8


def test_a_link_to_a_file_that_is_gone(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "trainer_state.json").symlink_to(tmp_path / "elsewhere.json")
    refused(tmp_path / "trainer_state.json")
    refused(tmp_path)


@pytest.mark.parametrize("name", ["trainer_state.json", "metrics.jsonl"])
def test_a_file_that_vanishes_after_it_was_recognised(
    name: str, refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(trl_bytes(ROWS) if name == "trainer_state.json" else verl_bytes(VERL_ROWS))
    really_open = io.open

    def open_once(file: object, *words: object, **more: object) -> object:
        stream = really_open(file, *words, **more)  # type: ignore[call-overload]
        if str(file) == str(path):
            path.unlink()
        return stream

    monkeypatch.setattr(io, "open", open_once)
    monkeypatch.setattr(builtins, "open", open_once)
    monkeypatch.setattr(Path, "open", open_once)  # Python 3.10 keeps the one it was imported with
    assert str(path) in refused(path)


@pytest.mark.parametrize("name", ["trainer_state.json", "metrics.jsonl"])
def test_a_file_that_vanishes_while_it_is_followed_keeps_what_was_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(trl_bytes(ROWS) if name == "trainer_state.json" else verl_bytes(VERL_ROWS))
    source = source_of(path)
    assert source is not None
    (reader,) = source.open(path)
    reader.update()
    path.unlink()
    reader.update()
    assert reader.log.table.row_steps.tolist() == list(range(1, 9))


def test_a_half_written_parquet_file(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "completions_00001.parquet").write_bytes(b"PAR1" + random.Random(1).randbytes(3_000))
    refused(tmp_path / "completions_00001.parquet")


def test_a_half_written_parquet_file_does_not_hide_the_run_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trainer_state.json").write_bytes(trl_bytes(ROWS))
    (tmp_path / "completions").mkdir()
    (tmp_path / "completions" / "completions_00001.parquet").write_bytes(b"PAR1" + random.Random(1).randbytes(3_000))
    assert main(["read", str(tmp_path), "--json"]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    assert json.loads(out.out)["run"]["last_step"] == 8


def test_a_database_locked_by_its_writer(refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leadline.sources.database.PATIENCE", 0.1)
    path = tmp_path / "mlflow.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.executescript(
        """
        create table experiments (experiment_id integer, name text, lifecycle_stage text);
        create table runs (run_uuid text, name text, experiment_id integer, status text, start_time integer,
                           end_time integer, lifecycle_stage text);
        create table metrics (key text, value real, timestamp integer, run_uuid text, step integer, is_nan integer);
        create table params (key text, value text, run_uuid text);
        create table tags (key text, value text, run_uuid text);
        insert into experiments values (1, 'e', 'active');
        insert into runs values ('r1', 'tiny', 1, 'RUNNING', 1700000000000, null, 'active');
        """
    )
    writer.executemany(
        "insert into metrics values ('reward', ?, 1700000000000, 'r1', ?, 0)",
        [(step / 10, step) for step in range(1, 9)],
    )
    writer.execute("begin exclusive")
    assert "lock" in refused(path).replace(str(path), "")
    writer.execute("rollback")
    writer.close()
    assert main(["read", str(path)]) == 0


@pytest.mark.parametrize(
    ("through", "start"),
    [("file", b'{"step": 1, "data": {"critic/score/mean": 0.1, "text": "'), ("pipe", b"step:1 - a/")],
)
def test_a_gigabyte_in_one_line_is_refused_in_bounded_memory(through: str, start: bytes, tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    with path.open("wb") as file:
        file.write(start)
        file.truncate(1 << 30)  # a hole: it takes no room on the disk
    # A small process in between: what a child is said to have held at most includes its parent before the exec, and
    # this one, in the middle of a test session, is larger than the bound.
    measured = (
        "import resource, subprocess, sys\n"
        "code = subprocess.call(sys.argv[2:])\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
        "open(sys.argv[1], 'w').write(f'{code} {used}')\n"
    )
    reading = [sys.executable, "-m", "leadline", "read", "-" if through == "pipe" else str(path)]
    command = [sys.executable, "-c", measured, str(tmp_path / "used"), *reading]
    with path.open("rb") as stream:
        child = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=True)
    code, held = map(int, (tmp_path / "used").read_text().split())
    assert (code, child.stdout) == (3, "")
    sentence_in(child.stderr)
    assert held < BOUND
