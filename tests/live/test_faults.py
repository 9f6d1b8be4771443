"""What goes wrong around a watch, really done: it goes on, loses nothing, and says so once."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live.growing import looks, settle, write_rows
from waiting import wait_for

from leadline.live import follow as following
from leadline.live import store as storing
from leadline.live import watch as watching
from leadline.live.follow import NamedPath
from leadline.live.schedule import Watched
from leadline.live.watch import Watch


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "PATIENCE", 0.05)
    monkeypatch.setattr(watching, "TRY_AGAIN", 0.05)


def test_a_locked_state_file_is_waited_for(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    log, said = tmp_path / "metrics.jsonl", []
    write_rows(log, range(1, 40))
    one = watch(log, problem=said.append)
    settle(one)
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    write_rows(log, range(40, 60))
    one.tick(force=True)
    wait_for(lambda: bool(said))
    assert len(looks(one.store)) == 1
    one.tick(force=True)  # following does not wait for it
    other.execute("ROLLBACK")
    other.close()
    settle(one)
    assert [look[2] for look in looks(one.store)] == [38, 40, 45, 51, 58]
    assert len(said) == 1
    assert "locked" in said[0]


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """What a full disk does to a file that wants to grow."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_loses_no_look(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    log, said = tmp_path / "metrics.jsonl", []
    write_rows(log, range(1, 40))
    one = watch(log, problem=said.append)
    settle(one)
    write_rows(log, range(40, 60))
    state = tmp_path / "state.db"
    with no_file_larger_than(max(state.stat().st_size, log.stat().st_size)):
        one.tick(force=True)
        wait_for(lambda: bool(said))
    settle(one)
    assert [look[2] for look in looks(one.store)] == [38, 40, 45, 51, 58]
    assert all("Can't write state file" in says for says in said)
    one.end()
    one.store.close()
    check = sqlite3.connect(tmp_path / "state.db")
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    check.close()


@contextmanager
def without_permission(log: Path) -> Iterator[None]:
    if os.geteuid() == 0:
        os.seteuid(65534)  # nobody; our folder is ours alone
        try:
            yield
        finally:
            os.seteuid(0)
    else:
        log.chmod(0)
        try:
            yield
        finally:
            log.chmod(0o600)


def test_a_log_that_may_no_longer_be_read_is_read_when_it_may_be_again(
    tmp_path: Path, watch: Callable[..., Watch]
) -> None:
    log, said = tmp_path / "metrics.jsonl", []
    write_rows(log, range(1, 40))
    log.chmod(0o600)
    one = watch(log, problem=said.append)
    settle(one)
    for _ in range(2):
        with without_permission(log):
            one.tick(force=True)
            one.tick(force=True)
        settle(one)
    write_rows(log, range(40, 52))
    settle(one)
    assert [look[2] for look in looks(one.store)] == [38, 40, 45]
    assert len(said) == 2  # once each time
    assert all(str(log) in says for says in said)


def test_a_run_that_cannot_be_looked_at_does_not_end_the_watch_of_the_others(
    tmp_path: Path, watch: Callable[..., Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Watch._made

    def fail_for_one(watch: Watch, watched: Watched, *rest: object) -> object:
        if watched.identity.endswith("bad.jsonl"):
            raise ZeroDivisionError("a defect")
        return make(watch, watched, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Watch, "_made", fail_for_one)
    said: list[str] = []
    for name in ("bad", "good"):
        write_rows(tmp_path / f"{name}.jsonl", range(1, 40))
    one = watch(tmp_path / "bad.jsonl", tmp_path / "good.jsonl", problem=said.append)
    settle(one)
    assert [Path(look[0]).name for look in looks(one.store)] == ["good.jsonl"]
    assert len(said) == 1
    assert "ZeroDivisionError" in said[0]


def test_where_looks_come_faster_than_they_can_be_made_the_newest_is_made(
    tmp_path: Path, watch: Callable[..., Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LATE", 0.0)
    log = tmp_path / "metrics.jsonl"
    write_rows(log, range(1, 40))
    one = watch(log)
    settle(one)
    write_rows(log, range(40, 120))
    settle(one)
    (watched,) = one.runs.values()
    assert [look[2] for look in looks(one.store)] == [38, 117]
    assert watched.dropped == 9


@pytest.fixture
def go_on(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Every look waits for it."""
    make, let_go = Watch._made, threading.Event()

    def slow(*rest: object) -> object:
        let_go.wait(240)
        return make(*rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Watch, "_made", slow)
    return let_go


def test_following_goes_on_while_a_look_is_made(
    tmp_path: Path, watch: Callable[..., Watch], go_on: threading.Event
) -> None:
    log = tmp_path / "metrics.jsonl"
    write_rows(log, range(1, 40))
    one = watch(log)
    one.tick(force=True)
    write_rows(log, range(40, 60))
    one.tick(force=True)
    (watched,) = one.runs.values()
    assert watched.sighting.current == 59
    assert looks(one.store) == []
    go_on.set()
    settle(one)
    assert [look[2] for look in looks(one.store)] == [38, 40, 45, 51, 58]


def test_a_look_that_is_asked_for_twice_is_made_once(
    tmp_path: Path, watch: Callable[..., Watch], go_on: threading.Event
) -> None:
    log = tmp_path / "metrics.jsonl"
    write_rows(log, range(1, 40))
    one = watch(log)
    one.tick(force=True)
    (watched,) = one.runs.values()
    wait_for(lambda: not watched.due)  # the first look is being made
    for _ in range(3):
        one.ask()
    assert [(due.step, due.why) for due in watched.due] == [(39, "asked")]
    go_on.set()
    settle(one)
    assert [look[2] for look in looks(one.store)] == [38, 39]


def test_a_path_that_cannot_be_followed_does_not_end_the_watch_of_the_others(
    tmp_path: Path, watch: Callable[..., Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    find_runs = following.find_runs

    def fail_for_one(place: Path, *rest: Any, **options: Any) -> object:
        if place.name == "bad.jsonl":
            raise ZeroDivisionError("a defect")
        return find_runs(place, *rest, **options)

    monkeypatch.setattr(following, "find_runs", fail_for_one)
    said: list[str] = []
    for name in ("bad", "good"):
        write_rows(tmp_path / f"{name}.jsonl", range(1, 40))
    one = watch(tmp_path / "bad.jsonl", tmp_path / "good.jsonl", problem=said.append)
    settle(one)
    settle(one)
    assert [Path(look[0]).name for look in looks(one.store)] == ["good.jsonl"]
    assert len(said) == 1
    assert "bad.jsonl: ZeroDivisionError" in said[0]


def test_a_path_that_hangs_delays_no_other(
    tmp_path: Path, watch: Callable[..., Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network disk or an address that never answers: the others are followed, and whoever calls is not held up."""
    answers = threading.Event()
    plain = NamedPath.poll

    def poll(self: NamedPath, *, force: bool = False) -> object:
        if self.path.endswith("hangs.jsonl"):
            answers.wait(60)
        return plain(self, force=force)

    monkeypatch.setattr(NamedPath, "poll", poll)
    monkeypatch.setattr(following, "HANGS", 0.2)
    monkeypatch.setattr(following, "DEADLINE", 0.3)
    for name in ("hangs", "good", "other"):
        write_rows(tmp_path / f"{name}.jsonl", range(1, 14))
    said: list[str] = []
    paths = [tmp_path / f"{name}.jsonl" for name in ("hangs", "good", "other")]
    one = watch(*paths, problem=said.append)
    began = time.monotonic()
    while len(one.runs) < 2 or not said:
        one.tick()
        assert time.monotonic() - began < 30
    assert {Path(identity).name for identity in one.runs} == {"good.jsonl", "other.jsonl"}
    assert "hangs.jsonl has not responded for" in said[0]
    answers.set()
    wait_for(lambda: (one.tick(), len(one.runs) == 3)[1])
    assert said[1:] == [f"{paths[0]} responds again."]


def test_a_watch_ends_at_once_although_a_path_hangs(tmp_path: Path) -> None:
    """A pipe that nobody writes to stands for a disk that is gone: opening it never returns."""
    program = (
        "import sys, threading; from leadline.live import follow;"
        "follow.NamedPath.poll = lambda self, force=False: threading.Event().wait();"
        "from leadline.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    words = ["watch", str(tmp_path / "run.jsonl"), "--headless", "--state", str(tmp_path / "state.db")]
    process = subprocess.Popen([sys.executable, "-c", program, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert "watching" in process.stdout.readline()
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert time.monotonic() - began < 15
    finally:
        process.kill()
        process.communicate()


def test_a_path_is_polled_later_if_no_thread_is_to_be_had(
    tmp_path: Path, watch: Callable[..., Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "metrics.jsonl"
    write_rows(log, range(1, 40))
    one = watch(log)

    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", refused)
        one.tick(force=True)
    assert not one.runs
    settle(one)
    assert [look[2] for look in looks(one.store)] == [38]
