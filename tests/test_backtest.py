"""Replaying finished runs: looks, outcomes, and what people and programs are told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import trl_bytes
from simulated import noise

from leadline.backtest import Replay, Unread, backtest, replay, summary
from leadline.backtest.outcome import Truth, outcome_of
from leadline.cli import main
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
    early = replay(run, looks=10).looks[4]
    alone = replay(run.until(early.step), looks=5).looks[4]
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
    assert main(["backtest", str(runs / "rises"), "--json", "--looks", "4"]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    lines = [json.loads(line) for line in out.out.splitlines()]
    assert [line["step"] for line in lines] == [31, 60, 90, COUNT]
    for line in lines:
        assert set(line) == {"run", "step", "last_step", "verdict", "best_step", "p_continue_pays", "seconds"}
        assert line["last_step"] == COUNT
        assert line["best_step"] is None or line["best_step"] <= line["step"]


def test_people_get_a_summary(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (runs / "nothing").mkdir()
    assert main(["backtest", *(str(runs / name) for name in (*COURSES, "nothing")), "--looks", "5"]) == 0
    text = capsys.readouterr().out
    assert "3 replayed, 15 looks" in text
    assert "1 could not be read" in text
    assert "the training reward, smoothed: 3 runs" in text


def test_nothing_readable_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backtest", str(tmp_path)]) == 3
    assert "tried:" in capsys.readouterr().err


def test_a_folder_of_runs_is_shared_out(runs: Path) -> None:
    counted: list[int] = []
    done = list(backtest([runs], looks=2, processes=2, started=counted.append))
    assert counted == [3]
    assert not any(isinstance(one, Unread) for one in done)
    replays = [one for some in done if not isinstance(some, Unread) for one in some]
    assert sorted(Path(one.run).name for one in replays) == sorted(COURSES)


def test_an_outcome_counts_what_was_saved_and_what_was_lost() -> None:
    steps = np.arange(11.0)
    truth = Truth(steps, np.minimum(steps, 5.0), 0.0, (steps, np.minimum(steps, 5.0)), "test")
    early, late = outcome_of(truth, 2, 2), outcome_of(truth, 6, 5)
    assert (early.spent, early.regret, early.wrong) == (0.2, 0.6, True)
    assert (late.spent, late.regret, late.wrong) == (0.6, 0.0, False)
    assert outcome_of(truth, None, None).regret_last == 0.0


def test_runs_without_a_truth_are_counted_and_not_scored() -> None:
    lines = dict(summary([Replay("x", (), None, "no reward series that could be scored")]))
    assert lines == {"runs": "1 replayed, 0 looks; 0 scored"}
