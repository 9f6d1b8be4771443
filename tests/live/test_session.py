"""The verb as its users meet it: a service that takes signals, a view on a screen."""

from __future__ import annotations

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from live.growing import settle, write_rows
from live.receivers import WebServer, serving
from rich.console import Console
from waiting import wait_for

from leadline.cli import main
from leadline.live import session as sessions
from leadline.live.acting.orders import Action, Decision, Life
from leadline.live.acting.writer import RunFiles
from leadline.live.entries import Options, WatchEntry
from leadline.live.records import Look, Made
from leadline.live.screen import Keys, Screen, keys
from leadline.live.session import _Session
from leadline.live.settling import _Standing
from leadline.live.store import Store
from leadline.live.watch import Watch


@contextmanager
def service(*words: str) -> Iterator[subprocess.Popen[str]]:
    """`leadline watch` as a service runs it."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "leadline", "watch", *words, "--headless"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_service_looks_when_asked_and_ends_when_asked(tmp_path: Path) -> None:
    log, state, answer = tmp_path / "metrics.jsonl", tmp_path / "state.db", tmp_path / "answer.json"
    write_rows(log, range(1, 140), fall_after=60)
    with service(str(log), "--state", str(state), "--verdict-file", str(answer), "--notify", "stdout") as process:
        wait_for(answer.exists)
        assert json.loads(answer.read_text())["step"] == 138
        process.send_signal(signal.SIGUSR1)
        wait_for(lambda: json.loads(answer.read_text())["step"] == 139)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0
    assert err == ""
    with Store(state) as store:
        (number,) = store.names().values()
        first, second = store.looks(number)
        assert [(look.step, look.why) for look in (first, second)] == [(138, "first"), (139, "asked")]
        assert out.count(f"{log} step 138: {first.says}\n") == 1
        assert out.count(f"{log} step 139: {second.says}\n") == 1
        (alert,) = store.alerts()
        assert alert.about == "verdict.roll_back"
        assert out.count("Next: Stop the run") == 1  # told once for both looks
        assert store.delivery_counts() == {"sent": 1}


def test_alerts_of_a_watch_arrive_by_every_channel_and_leave_no_address_in_its_state(tmp_path: Path) -> None:
    """By an address and a command on the command line: alerts are kept for the name of a channel, never for these."""
    log, state, received = tmp_path / "metrics.jsonl", tmp_path / "state.db", tmp_path / "received"
    write_rows(log, range(1, 140), fall_after=60)
    web = WebServer()
    with serving(web):
        words = [
            "--notify",
            f"webhook:{web.url}/s3cret",
            "--notify",
            f"command:/bin/sh -c 'cat > {received}; : s3cret'",
        ]
        with service(str(log), "--state", str(state), *words):
            wait_for(lambda: web.keys() and received.exists() and received.read_text())
    with Store(state, write=False) as store:
        assert web.keys() == [alert.key for alert in store.alerts()]
    assert b"s3cret" not in b"".join(file.read_bytes() for file in tmp_path.glob("state.db*"))


def test_a_service_whose_reader_is_gone_goes_on(tmp_path: Path) -> None:
    log, answer = tmp_path / "metrics.jsonl", tmp_path / "answer.json"
    write_rows(log, range(1, 40))
    words = ["watch", str(log), "--headless", "--state", str(tmp_path / "state.db"), "--verdict-file", str(answer)]
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen([sys.executable, "-m", "leadline", *words], stdout=writer, stderr=writer)
    os.close(writer)
    try:
        for step in (38, 39):
            wait_for(lambda step=step: answer.exists() and json.loads(answer.read_text())["step"] == step)
            process.send_signal(signal.SIGUSR1)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_many_looks_add_up_to_the_bar_for_acting(tmp_path: Path) -> None:
    """With --interval, looks come close together: it takes many to span what the bar asks for."""
    log = tmp_path / "metrics.jsonl"
    write_rows(log, range(1, 14))
    with Store(tmp_path / "state.db") as store:
        session = _Session(Options((WatchEntry(str(log)),), headless=True, answer=tmp_path / "answer.json"), store)
        session.watch.tick(force=True)
        (watched,) = session.watch.runs.values()
        acted = []
        for step in range(1000, 1200):
            reading = {
                "run": {"first_step": 0, "last_step": step, "planned_steps": 2000},
                "judgement": {
                    "verdict": "stop" if step > 1010 else "undecided",
                    "p_continue_pays": 0.05,
                    "best_checkpoint": None,
                    "because": ["reward.peaked"],
                },
            }
            body = json.dumps(reading).encode()
            look = Look(str(log), 0, step, step, "time", 0.0, "stop", 0.05, None, "", str(step), body)
            store.record(watched.number, Made(look, None), cursor=watched.cursor)
            watched.last = look
            session.settle()
            acted.append(json.loads((tmp_path / "answer.json").read_text())["act"])
    assert acted.index(True) + 1000 == 1111
    assert all(acted[111:])


def test_a_keyboard_that_is_gone_is_not_asked_again() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"l")
    keyboard = Keys(reader)
    assert keyboard.wait(60) == "l"
    os.close(writer)
    assert keyboard.wait(60) == ""
    os.close(reader)
    assert keyboard.wait(0) == ""


def test_a_watch_that_is_fed_by_no_terminal_has_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        with keys() as keyboard:
            assert keyboard.wait(0) == ""


def test_the_answer_is_replaced_as_a_whole(tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    for name in ("a", "b"):
        write_rows(tmp_path / f"{name}.jsonl", range(1, 40))
    entries = tuple(WatchEntry(str(tmp_path / f"{name}.jsonl")) for name in ("a", "b"))
    with Store(tmp_path / "state.db") as store:
        session = _Session(Options(entries, headless=True, answer=answer), store)
        session.watch.start()
        settle(session.watch)
        session.settle()
        session.watch.end()
        told = json.loads(answer.read_text())
        assert {Path(each["run"]).name for each in told["runs"]} == {"a.jsonl", "b.jsonl"}
        wanted = {"run", "step", "verdict", "outcome", "p_continue_pays", "best_checkpoint", "says", "act", "at", "to"}
        assert all(each.keys() == wanted for each in told["runs"])
        assert sorted(file.name for file in tmp_path.iterdir()) == [
            "a.jsonl", "answer.json", "b.jsonl", "state.db", "state.db.lock",
        ]  # fmt: skip


def test_a_pipe_is_no_answer_file_and_a_link_to_one_stays(tmp_path: Path) -> None:
    log, pipe, link, said = tmp_path / "metrics.jsonl", tmp_path / "pipe", tmp_path / "link", list[str]()
    write_rows(log, range(1, 40))
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "answer.json")
    for place in (pipe, link):
        with Store(tmp_path / f"{place.name}.db") as store:
            session = _Session(Options((WatchEntry(str(log)),), headless=True, answer=place), store)
            session.said = said.append
            session.watch.start()
            settle(session.watch)
            session.settle()
            session.watch.end()
    assert pipe.is_fifo()
    assert said == [f"No verdict file: can't write {pipe}: it exists and is not a regular file."]
    assert link.is_symlink()
    assert json.loads((tmp_path / "answer.json").read_text())["step"] == 38


def shown(screen: Screen, console: Console) -> str:
    console.print(screen.shown())
    file = console.file
    assert isinstance(file, io.StringIO)
    text = file.getvalue()
    file.truncate(0)
    file.seek(0)
    return text


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=100, height=40, force_terminal=False, color_system=None)


def test_one_run_is_shown_as_its_reading(tmp_path: Path, watch: Callable[..., Watch], console: Console) -> None:
    log = tmp_path / "metrics.jsonl"
    one = watch(log)
    screen = Screen(one.runs, one.places, one.ask, color=False, console=console)
    one.tick(force=True)
    assert "Waiting for the first row" in shown(screen, console)
    write_rows(log, range(1, 60))
    settle(one)
    text = shown(screen, console)
    assert text.startswith("CONTINUE")
    assert "checked at step 58, now at 59" in text
    assert len(text.splitlines()) <= 40


def test_several_runs_are_a_list_from_which_one_is_opened(
    tmp_path: Path, watch: Callable[..., Watch], console: Console
) -> None:
    for name in ("one", "two\x1b[31m"):
        (tmp_path / name).mkdir()
        write_rows(tmp_path / name / "metrics.jsonl", range(1, 60), fall_after=20 if name == "one" else None)
    one = watch(tmp_path / "one", tmp_path / "two\x1b[31m")
    settle(one)
    screen = Screen(one.runs, one.places, one.ask, color=False, console=console)
    text = shown(screen, console)
    assert "> " in text.splitlines()[1]
    assert "one " in text.splitlines()[1]
    assert "roll back" in text.splitlines()[1]
    assert "\x1b" not in text
    assert all(screen.press(key) for key in ("\x1b[B", "\r"))
    assert shown(screen, console).startswith("CONTINUE")
    assert screen.press("\x1b")
    assert "> " in shown(screen, console).splitlines()[2]
    assert not screen.press("q")


def test_what_cannot_be_done_is_said_before_anything_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for words in (["-"], ["run", "--notify", "pigeon:x"], ["run", "--act", "explode"], ["run", "--map", "nonsense"]):
        assert main(["watch", *words, "--headless"]) == 2
        assert "Traceback" not in capsys.readouterr().err


def test_a_watch_that_is_started_again_shows_what_it_knows(
    tmp_path: Path, watch: Callable[..., Watch], console: Console
) -> None:
    log = tmp_path / "metrics.jsonl"
    write_rows(log, range(1, 60))
    first = watch(log)
    settle(first)
    first.end()
    first.store.close()
    again = watch(log)
    settle(again)
    assert shown(Screen(again.runs, again.places, again.ask, color=False, console=console), console).startswith(
        "CONTINUE"
    )
    (number,) = again.store.names().values()
    assert [(look.step, look.why) for look in again.store.looks(number)] == [(58, "first")]


def test_acting_waits_for_what_was_due_when_the_bar_was_reached_and_for_nothing_else() -> None:
    """Where rows come fast some look is always due: the bar held at step 264, and the act came at 468."""
    standing, due = _Standing((0, 1), 0), [296, 331]

    def caught_up(step: int, *, act: bool = True) -> bool:
        return standing.has_caught_up(due, step, act)

    assert not caught_up(264)
    due = [331, 370]
    assert not caught_up(296)
    assert caught_up(331)  # although the next one is due by now
    assert caught_up(340, act=False)  # it does not hold any more
    assert not caught_up(350)


def test_of_two_paths_neither_is_alone_although_one_is_not_there_yet(tmp_path: Path) -> None:
    log = tmp_path / "metrics.jsonl"
    write_rows(log, range(1, 14))
    for more, by_table in (((), False), ((tmp_path / "not-there-yet",), False), ((tmp_path / "not-there-yet",), True)):
        entries = tuple(WatchEntry(str(path)) for path in (log, *more))
        with Store(tmp_path / f"{len(more)}{by_table}.db") as store:
            session = _Session(Options(entries, by_table=by_table, headless=True), store)
            session.watch.tick(force=True)
            (watched,) = session.watch.runs.values()
            assert session._is_alone(watched) == (by_table or not more)
            session.watch.end()


def test_acting_that_hangs_delays_neither_the_watch_nor_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a disk does on which somebody has a file open."""
    monkeypatch.setattr(sessions, "HANGS", 0.01)
    log, responds, asked, said = tmp_path / "metrics.jsonl", threading.Event(), list[bool](), list[str]()
    write_rows(log, range(1, 40))
    with Store(tmp_path / "state.db") as store:
        session = _Session(Options((WatchEntry(str(log)),), headless=True, answer=tmp_path / "answer.json"), store)
        session.said = said.append
        session.watch.tick(force=True)

        def hangs(watched: object) -> None:
            asked.append(True)
            responds.wait(60)

        monkeypatch.setattr(session._settling, "settle", hangs)
        session.settle()
        session.settle()
        assert (len(asked), said) == (1, ["Acting waits for a disk or a program that does not respond."])
        responds.set()
        wait_for(lambda: [session.settle()] and len(asked) > 1)  # type: ignore[func-returns-value]


def test_growth_is_told_to_an_actor_once_and_again_if_it_could_not_be_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, told = tmp_path / "metrics.jsonl", list[bool]()
    write_rows(log, range(1, 40))
    with Store(tmp_path / "state.db") as store:
        session = _Session(Options((WatchEntry(str(log), act="stop"),), headless=True), store)
        session.watch.start()
        settle(session.watch)
        (watched,) = session.watch.runs.values()
        (actor,) = session._settling._actors.values()
        consider = actor.consider

        def locked(*_: object, grew: bool, **__: object) -> None:
            told.append(grew)
            raise sqlite3.OperationalError("locked")

        def considered(life: Life, decision: Decision, run: RunFiles, *, alone: bool, grew: bool) -> Action | None:
            told.append(grew)
            return consider(life, decision, run, alone=alone, grew=grew)

        monkeypatch.setattr(actor, "consider", considered)
        session._settling.settle(watched)
        write_rows(log, range(40, 42))
        session.watch.tick(force=True)
        monkeypatch.setattr(actor, "consider", locked)
        with pytest.raises(sqlite3.OperationalError):
            session._settling.settle(watched)
        monkeypatch.setattr(actor, "consider", considered)
        session._settling.settle(watched)
        session._settling.settle(watched)
        session.watch.end()
    assert told == [False, True, True, False]
