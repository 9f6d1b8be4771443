"""What is due because time goes by, on a clock that the test sets."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from live.growing import looks, settle, write_rows

from leadline.live.watch import Watch


class Clocks:
    """A wall clock and one that never goes back."""

    def __init__(self) -> None:
        self.steady, self.wall = 1000.0, 1.8e9

    def pass_by(self, seconds: float) -> None:
        self.steady += seconds
        self.wall += seconds


def begun(
    tmp_path: Path, watch: Callable[..., Watch], *, first: int = 1, **options: object
) -> tuple[Watch, Path, Clocks]:
    log, clocks = tmp_path / "metrics.jsonl", Clocks()
    clocks.wall = _now(log)
    write_rows(log, range(first, 40))
    one = watch(log, clock=lambda: clocks.steady, wall=lambda: clocks.wall, **options)
    settle(one)
    for step in range(40, 44):  # a row every ten seconds
        clocks.pass_by(10)
        write_rows(log, [step])
        _written(log, clocks)
        settle(one)
    return one, log, clocks


def _now(log: Path) -> float:
    log.touch()
    return log.stat().st_mtime


def test_the_last_row_of_a_log_that_stands_still_is_looked_at(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    one, _, clocks = begun(tmp_path, watch)
    assert looks(one.store)[-1][2:] == (40, "schedule")
    clocks.pass_by(50)
    settle(one)
    assert looks(one.store)[-1][2:] == (40, "schedule")
    clocks.pass_by(30)
    settle(one)
    settle(one)
    assert [look[2:] for look in looks(one.store)][-2:] == [(40, "schedule"), (43, "quiet")]


def test_silence_is_told_once_and_again_after_the_next_row(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    one, log, clocks = begun(tmp_path, watch, channels=("stdout",))
    for _ in range(3):
        clocks.pass_by(700)
        settle(one)
    assert [(alert.about, alert.step) for alert in one.store.alerts()] == [("silence", 43)]
    assert "12 min" in one.store.alerts()[0].says
    write_rows(log, [44])
    settle(one)
    for _ in range(20):
        clocks.pass_by(2000)
        settle(one)
    assert [(alert.about, alert.step) for alert in one.store.alerts()] == [("silence", 43), ("silence", 44)]


@pytest.mark.parametrize(("first", "budget"), [(1, 43), (0, 44)])
def test_a_run_at_its_planned_end_is_not_silent(
    tmp_path: Path, watch: Callable[..., Watch], first: int, budget: int
) -> None:
    one, _, clocks = begun(tmp_path, watch, first=first, channels=("stdout",), budget=budget)
    clocks.pass_by(5000)
    settle(one)
    assert one.store.alerts() == ()


def test_looks_by_the_clock_are_made_when_there_is_something_new(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    one, log, clocks = begun(tmp_path, watch, every=30.0)
    write_rows(log, [44])
    settle(one)
    before = len(looks(one.store))
    clocks.pass_by(31)
    settle(one)
    after = looks(one.store)
    assert len(after) == before + 1
    clocks.pass_by(300)
    settle(one)
    assert len(looks(one.store)) <= before + 2  # the last row, once
    count = len(looks(one.store))
    clocks.pass_by(300)
    settle(one)
    assert len(looks(one.store)) == count


def test_silence_is_told_although_the_watch_was_restarted_during_it(
    tmp_path: Path, watch: Callable[..., Watch]
) -> None:
    first, log, clocks = begun(tmp_path, watch)
    clocks.pass_by(100)
    write_rows(log, range(44, 60))
    _written(log, clocks)
    settle(first)  # the look at 58 keeps how often rows come
    clocks.pass_by(60)
    settle(first)
    first.end()
    first.store.close()
    clocks.pass_by(500)  # nobody watches
    again = watch(log, clock=lambda: clocks.steady, wall=lambda: clocks.wall, channels=("stdout",))
    settle(again)
    assert again.store.alerts() == ()
    clocks.pass_by(2000)
    settle(again)
    assert [(alert.about, alert.step) for alert in again.store.alerts()] == [("silence", 59)]
    assert "43 min" in again.store.alerts()[0].says  # since it was written, not since it was seen


def test_a_run_that_hangs_before_its_third_row_is_told(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    log, clocks = tmp_path / "metrics.jsonl", Clocks()
    clocks.wall = _now(log)
    write_rows(log, [1])
    one = watch(log, clock=lambda: clocks.steady, wall=lambda: clocks.wall, channels=("stdout",))
    settle(one)
    for _ in range(4):
        clocks.pass_by(700)
        settle(one)
    (alert,) = one.store.alerts()
    assert alert.about == "silence"
    assert "step time not known yet" in alert.says


def test_a_run_that_stood_still_long_before_is_no_news(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    log, clocks = tmp_path / "metrics.jsonl", Clocks()
    clocks.wall = _now(log) + 3000
    write_rows(log, range(1, 40))
    one = watch(log, clock=lambda: clocks.steady, wall=lambda: clocks.wall, channels=("stdout",))
    settle(one)
    (watched,) = one.runs.values()
    assert 2900 < clocks.steady - watched.grown < 3100
    clocks.pass_by(5000)
    settle(one)
    assert one.store.alerts() == ()


def _written(log: Path, clocks: Clocks) -> None:
    os.utime(log, (clocks.wall, clocks.wall))


def test_a_clock_that_is_stepped_back_delays_nothing(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    one, log, clocks = begun(tmp_path, watch, channels=("stdout",))
    (number,) = one.store.names().values()
    one.store.put_alerts(number, [_alert("before")], ["stdout"], clocks.wall)
    ids = [delivery.id for delivery in one.store.pending_alerts(clocks.wall)]
    one.store.mark(ids, "stdout", clocks.wall, "handed")
    one.store.mark(ids, "stdout", clocks.wall, "pending", next_try=clocks.wall + 60, problem="down")
    clocks.wall -= 86400
    write_rows(log, range(44, 60))
    settle(one)
    assert looks(one.store)[-1][2:] == (58, "schedule")
    assert [delivery.id for delivery in one.store.pending_alerts(clocks.wall)] == ids
    one.end()
    one.store.close()
    again = watch(log, clock=lambda: clocks.steady, wall=lambda: clocks.wall)
    settle(again)
    (watched,) = again.runs.values()
    assert watched.grown <= clocks.steady
    write_rows(log, range(60, 70))
    settle(again)
    assert [look[2] for look in looks(again.store)] == sorted(look[2] for look in looks(again.store))


def _alert(key: str) -> object:
    from leadline.live.records import Alert

    return Alert("run", "silence", 1, 1, "concern", "Nothing.", (), None, key)
