"""Whatever is asked of a machine that is full, odd or old: one clear sentence, and never a traceback."""

from __future__ import annotations

import concurrent.futures
import io
import json
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import EXAMPLES, verl_bytes

import leadline
from leadline.cli import main
from leadline.errors import BadNumber, LeadlineError, NothingReadable
from leadline.pipeline import read_run
from leadline.report import terminal
from leadline.report.data import as_data
from leadline.sources import open_run, read_stream
from leadline.sources.rollouts import find

HEALTHY = str(EXAMPLES / "healthy")


def command(*words: str, **more: object) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent.parent), **more.pop("env", {})}  # type: ignore[dict-item]
    return subprocess.run(
        [sys.executable, "-m", "leadline", *words], env=environment, stderr=subprocess.PIPE, check=False, **more
    )  # type: ignore[call-overload,no-any-return]


# Output.


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize(
    "words", [["--help"], ["read", HEALTHY, "--until", "30"], ["schema"]], ids=lambda words: words[0]
)
def test_a_full_disk_is_told_in_one_sentence(words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = command(*words, stdout=full)
    assert done.returncode == 4
    assert b"t write the output: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii", "cp437"])
def test_an_encoding_that_lacks_our_characters_is_not_used(
    encoding: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(page, encoding=encoding))
    assert main(["read", HEALTHY, "--until", "60"]) == 0
    sys.stdout.flush()
    assert capsys.readouterr().err == ""
    shown = page.getvalue().decode("utf-8")
    assert shown.split()[0].strip(",").isupper()
    assert "→" in shown


def test_help_shows_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "..." not in shown.partition("Commands:")[2]
    assert "have said, saved, and cost." in " ".join(shown.split())


def test_help_imports_no_numbers() -> None:
    program = "import sys, leadline.cli as cli; cli.main(['--help']); sys.exit('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0


# Numbers that nobody can work with.


@pytest.mark.parametrize(
    "words", [["--budget", "9" * 20], ["--budget", "0"], ["--price", "nan"], ["--price", "inf"], ["--price", "-1"]]
)
def test_a_number_that_is_none_is_a_usage_error(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", HEALTHY, *words]) == 2
    assert words[0] in capsys.readouterr().err


@pytest.mark.parametrize("told", [{"budget": 10**20}, {"budget": 0}, {"price": math.nan}, {"price": math.inf}])
def test_from_python_it_is_an_error_of_ours(told: dict[str, float]) -> None:
    with pytest.raises(BadNumber, match="must be a"):
        leadline.read(HEALTHY, **told)  # type: ignore[arg-type]


HUGE = "9" * 30
ROW = "{'loss': 0.1, 'reward': 0.5, 'learning_rate': 1e-6, 'epoch': 1}\n"
ODD = {
    "a bar's count": f" 10%|#  | {HUGE}/40 [00:00<00:02, 2.2it/s]\n{ROW}" * 8,
    "a bar's total": f" 10%|#  | 3/{HUGE} [00:00<00:02, 2.2it/s]\n{ROW}" * 8,
    "a line of settings": f"Total optimization steps = {HUGE}\n" + "step=1 reward=0.5\nstep=2 reward=0.6\n" * 4,
    "a learning rate": "".join(
        json.dumps({"step": n, "reward": 0.1 * n, "learning_rate": 1e308 * (-1) ** n}) + "\n" for n in range(1, 30)
    ),
    "a step": f"step={HUGE} reward=0.5\nstep=2 reward=0.6\nstep=3 reward=0.6\nstep=4 reward=0.7\n",
    "an episode's length": '#{"t_start": 1.7e9, "env_id": "x"}\nr,l,t\n1.0,10,1.0\n2.0,inf,2.0\n3.0,nan,3.0\n4,9,4.0\n',
    "a young log": "".join(json.dumps({"step": n, "reward": 0.1}) + "\n" for n in (1, 2, 3))
    + '{"eval_reward": 0.2}\n' * 3
    + '{"step": 4, "rew',
    "the largest values": "".join(
        json.dumps({"step": n, "reward": 1.7e308 * math.sin(n), "kl": 1e308, "loss": 5e-324}) + "\n"
        for n in range(1, 60)
    ),
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_numbers_in_a_log_are_read_without_a_warning(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reading = read_run(read_stream(text.encode()))
        assert terminal.render(reading).split()[0].strip(",").isupper()
        json.dumps(as_data(reading), allow_nan=False)  # raises where there is one


def test_values_too_large_to_work_with_are_told_and_not_counted_as_missing() -> None:
    rows = [json.dumps({"step": n, "reward": 1e308 * (0.5 + n / 200), "loss": 0.1 * (n % 3)}) for n in range(1, 101)]
    shown = terminal.render(read_run(read_stream("\n".join([*rows, ""]).encode())))
    assert "all 100 values of reward are NaN or Inf" in " ".join(shown.split())
    assert "0 points" not in shown


def test_one_bad_byte_moves_no_other_row_and_is_told() -> None:
    rows = [
        f"{{'loss': {0.1 + k / 1000:.4f}, 'reward': {math.cos(k):.4f}, 'kl': {k / 500:.4f}, 'learning_rate': 1e-06, "
        f"'epoch': {k / 300:.2f}}}\n"
        for k in range(1, 25)
    ]
    data = "".join(rows).encode()
    whole = read_stream(data).get("reward/mean")
    assert whole is not None
    there = dict(zip(whole.steps.tolist(), whole.values.tolist(), strict=True))
    start = len("".join(rows[:12]))
    for at in range(start, start + len(rows[12])):
        for byte in (0xFF, 0x00, 0x7B, 0x7D, 0x27, 0x0A):
            run = read_stream(data[:at] + bytes([byte]) + data[at + 1 :])
            reward = run.get("reward/mean")
            assert reward is not None
            moved = sum(there.get(s) != v for s, v in zip(reward.steps.tolist(), reward.values.tolist(), strict=True))
            assert moved <= 2 or run.notes, (at - start, byte, moved)
            assert moved <= 4, (at - start, byte, moved)


# Errors and data that travel.


@pytest.mark.parametrize("kind", [LeadlineError, *LeadlineError.__subclasses__()])
def test_an_error_can_be_pickled(kind: Callable[..., LeadlineError]) -> None:
    error = pickle.loads(pickle.dumps(kind("what.", tried="this", next_step="that")))
    assert (type(error), error.what, error.tried, error.next_step) == (kind, "what.", "this", "that")


def test_an_error_comes_back_from_another_process() -> None:
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        future = pool.submit(open_run, "/no/such/run")
        with pytest.raises(NothingReadable, match="does not exist"):
            future.result()


def test_the_note_about_parquet_comes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("completions_00001.parquet", "samples.parquet"):
        (tmp_path / name).write_bytes(b"PAR1PAR1")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    notes = find(sorted(tmp_path.iterdir())).notes
    assert len(notes) == len(set(notes))


def test_a_recorder_refuses_a_path_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", str(tmp_path / "typo"), "--for", "0.1"]) == 3
    assert "does not exist" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_comparison_of_many_runs_comes_to_its_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(40):
        rows = [(step, {"critic/score/mean": ((seed * 31 + step * 17) % 101) / 101}) for step in range(1, 9)]
        (tmp_path / f"variant{seed}{'abcdefgh'[seed % 8]}").mkdir()
        (tmp_path / f"variant{seed}{'abcdefgh'[seed % 8]}" / "metrics.jsonl").write_bytes(verl_bytes(rows))
    assert main(["compare", "--each", "--no-color", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = next(number for number, line in enumerate(lines) if "final (80%)" in line)
    assert table < 25
