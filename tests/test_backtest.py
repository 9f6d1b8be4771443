"""Replaying finished runs: looks, outcomes, and what people and programs are told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, trl_bytes
from extras import needs
from simulated import noise
from waiting import PATIENCE, wait_for

from leadline.backtest import Replay, backtest, replay, summary
from leadline.backtest.replay import Truth, outcome_of
from leadline.cli import main
from leadline.errors import LeadlineError
from leadline.progress import heard_by
from leadline.sources import open_run

COUNT = 120
U = np.arange(1, COUNT + 1) / COUNT
COURSES = {"rests": np.minimum(U / 0.2, 1.0), "rises": U, "falls": np.where(U < 0.3, U / 0.3, 1.3 - U)}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder of three finished runs."""
    for seed, (name, course) in enumerate(COURSES.items()):
        values = course + 0.02 * noise(COUNT, 0.3, seed)
        rows = [(step, {"reward": float(value)}) for step, value in enumerate(values, 1)]
        (tmp_path / name).mkdir()
        (tmp_path / name / "trainer_state.json").write_bytes(trl_bytes(rows, max_steps=COUNT, global_step=COUNT))
    return tmp_path


def test_a_look_sees_only_what_was_written_by_then(runs: Path) -> None:
    run = open_run(runs / "rests")
    early = replay(run, checks=10).looks[4]
    alone = replay(run.until(early.step), checks=5).looks[4]
    assert (early.step, early.last_step) == (alone.step, COUNT)
    assert early.verdict in ("stop", "undecided", "continue", "roll_back")


def test_a_run_at_rest_is_stopped_and_a_rising_one_is_not(runs: Path) -> None:
    rests, rises = (replay(open_run(runs / name)).outcome for name in ("rests", "rises"))
    assert rests is not None
    assert rises is not None
    assert rests.stopped_at is not None
    assert rests.spent < 1
    assert rests.regret < 0.1
    assert not rests.wrong
    assert (rises.stopped_at, rises.spent) == (None, 1.0)


def test_json_is_one_line_a_look(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backtest", str(runs / "rises"), "--json", "--checks", "4"]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    lines = [json.loads(line) for line in out.out.splitlines()]
    assert [line["step"] for line in lines] == [31, 60, 90, COUNT]
    for line in lines:
        assert set(line) == {"run", "step", "last_step", "verdict", "best_step", "p_continue_pays", "seconds"}
        assert line["last_step"] == COUNT
        assert line["best_step"] is None or line["best_step"] <= line["step"]


def test_people_get_what_the_truth_is_then_a_summary_then_a_row_a_run(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (runs / "nothing").mkdir()
    assert main(["backtest", *(str(runs / name) for name in (*COURSES, "nothing")), "--checks", "5"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("truth    Scored against the logged metric")
    assert "3 runs replayed, 15 checks" in text
    assert "1 path could not be read" in text
    rows = {line.split()[0].rpartition("/")[2]: line.split()[1:] for line in text.split("\n\n")[1].splitlines()}
    assert rows["run"] == ["verdict", "at", "step", "keep", "saved", "short", "metric"]
    assert rows["rises"][-5:] == ["120/120", "120", "0%", "0%", "reward/mean"]
    assert list(rows) == ["run", *sorted(COURSES)]


def test_a_backtest_that_is_ended_leaves_no_workers(runs: Path) -> None:
    psutil = needs("psutil", "record")
    words = [sys.executable, "-m", "leadline", "backtest", *map(str, sorted(runs.iterdir())), "--checks", "100"]
    process = psutil.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
    workers = wait_for(lambda: found if len(found := process.children(recursive=True)) >= 2 else [])
    process.terminate()
    process.wait(PATIENCE)
    assert psutil.wait_procs(workers, timeout=PATIENCE)[1] == []


def test_nothing_readable_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backtest", str(tmp_path)]) == 3
    assert "hint:" in capsys.readouterr().err


def test_a_folder_of_runs_is_shared_out(runs: Path) -> None:
    told: list[tuple[str, int, int]] = []
    with heard_by(lambda *one: told.append(one)):
        done = list(backtest([runs], checks=2, processes=2))
    assert [one for one in told if one[0] == "replaying"] == [("replaying", number, 3) for number in (1, 2, 3)]
    replays = [one for _, some in done if not isinstance(some, LeadlineError) for one in some]
    assert sorted(Path(one.run).name for one in replays) == sorted(COURSES)


def test_an_outcome_counts_what_was_saved_and_what_was_lost() -> None:
    steps = np.arange(11.0)
    truth = Truth("x", steps, np.minimum(steps, 5.0), 0.0, (steps, np.minimum(steps, 5.0)))
    early, late = outcome_of(truth, 2, 2, "stop"), outcome_of(truth, 6, 5, "stop")
    assert (early.spent, early.regret, early.wrong) == (0.2, 0.6, True)
    assert (late.spent, late.regret, late.wrong) == (0.6, 0.0, False)
    assert outcome_of(truth, None, None, "continue").regret_last == 0.0


def test_runs_without_a_truth_are_counted_and_not_scored() -> None:
    lines = dict(summary([Replay("x", ())]))
    assert lines.keys() == {"truth", "runs"}
    assert lines["runs"] == "1 run replayed, 0 checks, 0 scored."
