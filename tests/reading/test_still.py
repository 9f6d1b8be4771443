"""A log that has long been still: told from when it was last written and from the run's own rhythm."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import leadline
from leadline import pipeline
from leadline.cli import main
from leadline.reading.wall_clock import still_from
from leadline.report.data import as_data
from leadline.run import Run, Series
from leadline.sources import open_run, read_stream
from leadline.sources.around import OF_ZONES
from leadline.words.verdict import headline

START, HOUR = 1_700_000_000.0, 3600.0


def run(*, every: float = 60.0, rows: int = 50, pause: float = 0.0, written_at: float | None = None) -> Run:
    """Rows that carry their time, with one longer pause in the middle."""
    walls = START + every * np.arange(rows, dtype=float)
    walls[rows // 2 :] += pause
    last = float(walls[-1]) if written_at is None else written_at
    reward = Series("reward/mean", "reward", "mean", np.arange(1, rows + 1), np.linspace(0, 1, rows), walls)
    return Run("run", series=(reward,), written_at=last)


def ends(*, since: float, of: Run) -> bool:
    assert of.written_at is not None
    end = still_from(of)
    return end is not None and end < of.written_at + since


def test_a_fast_run_is_waited_for_an_hour() -> None:
    assert not ends(since=0.9 * HOUR, of=run(every=5))
    assert ends(since=1.1 * HOUR, of=run(every=5))


def test_a_slow_run_is_waited_for_by_its_own_rhythm() -> None:
    assert not ends(since=19 * HOUR, of=run(every=HOUR))
    assert ends(since=21 * HOUR, of=run(every=HOUR))


def test_a_run_that_paused_before_may_pause_again() -> None:
    assert not ends(since=29 * HOUR, of=run(every=60, pause=10 * HOUR))
    assert ends(since=31 * HOUR, of=run(every=60, pause=10 * HOUR))


def test_a_run_whose_rows_carry_no_times_is_waited_for_a_day() -> None:
    timed = run()
    untimed = replace(timed, series=tuple(replace(series, walls=None) for series in timed.series))
    assert not ends(since=23 * HOUR, of=untimed)
    assert ends(since=25 * HOUR, of=untimed)


def test_a_run_of_few_rows_or_unknown_last_writing_is_never_still() -> None:
    assert still_from(run(rows=5)) is None
    assert still_from(Run("run", series=run().series)) is None
    assert still_from(run().until(40)) is None


def lines(*, timed: bool, took: float = 30.0, rows: int = 60) -> str:
    noise = np.random.default_rng(0).normal(0, 0.05, rows)
    said = [
        {"step": step, "reward": step / 100 + noise[step - 1], "loss": 0.1, "time/step": took}
        | ({"timestamp": START + took * step} if timed else {})
        for step in range(1, rows + 1)
    ]
    return "".join(json.dumps(row) + "\n" for row in said)


def log(folder: Path, *, timed: bool, changed: float) -> Path:
    file = folder / "metrics.jsonl"
    file.write_text(lines(timed=timed))
    os.utime(file, (changed, changed))
    return file


def test_rows_say_when_it_was_written_and_a_file_where_they_do_not(tmp_path: Path) -> None:
    assert open_run(log(tmp_path, timed=True, changed=START + 1e6)).written_at == START + 30 * 60
    assert open_run(log(tmp_path, timed=False, changed=START + 1e6)).written_at == START + 1e6


def test_rows_of_another_time_zone_do_not_make_a_run_older(tmp_path: Path) -> None:
    changed = START + 30 * 60 + OF_ZONES - HOUR
    assert open_run(log(tmp_path, timed=True, changed=changed)).written_at == changed


def test_a_stream_does_not_say_when_it_was_written() -> None:
    assert read_stream(lines(timed=False).encode()).written_at is None


def test_every_way_to_read_a_run_asks_the_same_clock(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = log(tmp_path, timed=False, changed=START)
    assert main(["read", str(old)]) == 0
    said = {
        capsys.readouterr().out.partition("\n")[0],
        leadline.read(old).headline,
        next(leadline.read_all(old)).headline,
        headline(pipeline.read(old).judgement),
        headline(pipeline.read_run(open_run(old)).judgement),
    }
    assert len(said) == 1
    assert said.pop().startswith("LOG ENDED")


def test_a_log_that_was_still_for_long_is_finished_at_the_time_given(tmp_path: Path) -> None:
    old, new = (log(tmp_path / name, timed=False, changed=at) for name, at in _made(tmp_path))
    told = [as_data(pipeline.read(file, now=START)) for file in (old, new)]
    for data in told:
        data["run"] = None  # the paths differ
    assert told[0] == told[1]
    assert pipeline.read(old, now=START).judgement.ended is None
    assert pipeline.read(old, now=START + 1e6).judgement.ended == "silent"
    assert pipeline.read(new, now=START + 1e6).judgement.ended is None


def _made(folder: Path) -> list[tuple[str, float]]:
    for name in ("old", "new"):
        (folder / name).mkdir()
    return [("old", START), ("new", START + 1e6 - HOUR / 2)]


@pytest.mark.parametrize(("more", "ended"), [((), "silent"), (("--until", "60"), None)])
def test_read_takes_a_still_log_for_a_finished_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], ended: str | None
) -> None:
    file = log(tmp_path, timed=False, changed=START)
    assert main(["read", str(file), "--json", *more]) == 0
    assert json.loads(capsys.readouterr().out)["judgement"]["ended"] == ended
