"""A scan: what is kept, what is read again, and what a kill leaves behind."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner
from waiting import wait_for

from leadline.cli import verbs
from leadline.errors import BadState, CannotWrite, NothingReadable
from leadline.fleet import pool as pool_module
from leadline.fleet.pool import Pool
from leadline.fleet.reader import read_task
from leadline.fleet.scan import Tally, scan
from leadline.pipeline import read
from leadline.review import store as reviews
from leadline.run import Review
from leadline.shelf.row import Row, Task, Unit, UnitOutcome
from leadline.shelf.store import Scope, Shelf
from leadline.words.verdict import headline

from .conftest import write_run


class Here:
    """An engine in this process, which notes what it reads."""

    room = 4

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.read: list[str] = []

    def submit(self, tasks: Sequence[Task]) -> None:
        self.tasks += tasks

    def collect(self, patience: float) -> list[tuple[Task, UnitOutcome | None]]:
        task = self.tasks.pop(0)
        self.read.append(Path(task.unit.place).name)
        return [(task, read_task(task))]

    def close(self) -> None:
        self.tasks.clear()


def scanned(shelf: Shelf, *roots: Path, **options: object) -> tuple[Tally, Here]:
    engine = Here()
    return scan(tuple(map(str, roots)), shelf, engine, **options), engine  # type: ignore[arg-type]


def rows(shelf: Shelf) -> dict[str, Row]:
    return {row.name: row for row, _ in shelf.rows()}


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with Shelf(str(tmp_path / "shelf.db")) as shelf:
        yield shelf


@pytest.mark.parametrize("write", [True, False])
def test_a_store_of_another_version_is_refused_and_left_as_it_is(lab: Path, tmp_path: Path, write: bool) -> None:
    store = str(tmp_path / "other.db")
    with Shelf(store) as shelf:
        scanned(shelf, lab)
        shelf.base.run("UPDATE shelf SET value = 2 WHERE key = 'version'")
    with pytest.raises(BadState, match="another Leadline, in version 2"):
        Shelf(store, write=write)


def test_every_run_is_a_row_and_a_bad_one_says_why(lab: Path, shelf: Shelf) -> None:
    tally, _ = scanned(shelf, lab)
    kept = rows(shelf)
    assert (tally.units, tally.read, tally.unreadable) == (7, 7, 1)
    good = kept["math/grpo-seed1"]
    assert (good.project, good.variant, good.seed, good.last_step, good.state) == ("math", "math/grpo", "1", 41, "read")
    judgement = read(good.identity).judgement
    assert (good.verdict, good.outcome) == (judgement.verdict, judgement.outcome)
    assert good.headline == headline(judgement)
    assert good.verdict is not None
    assert len(good.spark) == 2 * 41
    assert kept["code/broken"].state == "unreadable"
    assert "no training steps" in str(kept["code/broken"].problem)


def test_a_second_scan_reads_only_what_changed(lab: Path, shelf: Shelf) -> None:
    scanned(shelf, lab)
    before = rows(shelf)
    tally, engine = scanned(shelf, lab)
    assert (tally.read, engine.read) == (0, [])
    write_run(lab / "web" / "only", steps=55)
    write_run(lab / "web" / "new")
    _, engine = scanned(shelf, lab)
    assert sorted(engine.read) == ["new", "only"]
    after = rows(shelf)
    assert after["web/only"].last_step == 55
    assert {name for name in before if before[name] != after[name]} == {"web/only"}


def test_a_review_has_its_run_read_again_and_no_other(lab: Path, shelf: Shelf) -> None:
    scanned(shelf, lab)
    assert rows(shelf)["web/only"].reason != "gamed"
    reviews.add(str(lab / "web" / "only"), Review("hacked", seen_until=40, since_step=20, reader="me"))
    assert scanned(shelf, lab)[1].read == ["only"]
    assert rows(shelf)["web/only"].reason == "gamed"
    assert scanned(shelf, lab)[1].read == []


def test_a_forgotten_root_is_read_whole_and_gives_the_same_rows(lab: Path, shelf: Shelf) -> None:
    scanned(shelf, lab)
    before = rows(shelf)
    shelf.forget((str(lab),))
    _, engine = scanned(shelf, lab)
    assert len(engine.read) == 7
    assert rows(shelf) == before
    assert scanned(shelf, lab)[1].read == []


def test_a_run_that_vanished_stays_marked_and_comes_back(lab: Path, shelf: Shelf, tmp_path: Path) -> None:
    scanned(shelf, lab)
    shutil.move(lab / "math" / "ppo-seed0", tmp_path / "away")
    assert scanned(shelf, lab)[0].vanished == 1
    gone = {row.name: vanished for row, vanished in shelf.rows() if vanished is not None}
    assert list(gone) == ["math/ppo-seed0"]
    assert scanned(shelf, lab)[0].vanished == 0
    shutil.move(tmp_path / "away", lab / "math" / "ppo-seed0")
    scanned(shelf, lab)
    assert [name for name, vanished in ((row.name, vanished) for row, vanished in shelf.rows()) if vanished] == []


def test_a_root_that_is_gone_marks_nothing(lab: Path, shelf: Shelf, tmp_path: Path) -> None:
    scanned(shelf, lab)
    shutil.move(lab, tmp_path / "away")
    with pytest.raises(NothingReadable):
        scanned(shelf, lab)
    assert [vanished for _, vanished in shelf.rows() if vanished] == []


def test_scans_at_the_same_time_read_every_run_once_and_miss_none(lab: Path, tmp_path: Path) -> None:
    """The one that began first notes its places last, and the one that began last ends first."""
    store, told, ready = str(tmp_path / "shared.db"), [], threading.Barrier(3)

    def one() -> None:
        with Shelf(store) as shelf:
            ready.wait()
            told.append(scanned(shelf, lab))

    Shelf(store).close()
    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read = sorted(name for _, engine in told for name in engine.read)
    assert read == ["a", "b", "broken", "grpo-seed0", "grpo-seed1", "only", "ppo-seed0"]
    with Shelf(store) as shelf:
        shelf.note([Unit(str(lab), str(lab / "web" / "only"), "older")], 1.0)
        assert shelf.finish(Scope((str(lab),), 2.0)) == 0
        assert scanned(shelf, lab)[1].read == []


def test_many_runs_in_one_file_are_read_alone_when_one_grows(tmp_path: Path, shelf: Shelf) -> None:
    folder = tmp_path / "kept"
    for place, name in enumerate(("first", "second", "third")):
        run = write_run(tmp_path / name, lift=1 + 3 * place, steps=40 + 30 * place)
        folder.mkdir(exist_ok=True)
        shutil.copy(run / "metrics.jsonl", folder / f"{name}.jsonl")
    scanned(shelf, folder)
    before = {row.name: row for row, _ in shelf.rows()}
    assert len(before) == 3
    unit = next(iter(shelf.base.rows("SELECT place, wanted FROM places")))
    with (folder / "second.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"step": 41, "reward": 2.5, "kl": 0.4, "loss": 0.1}\n')
    known = tuple((row.identity, row.mark) for row in before.values())
    outcome = read_task(Task(Unit(str(folder), unit[0], "new"), known))
    assert [row.name for row in outcome.rows] == ["second.jsonl"]
    assert len(outcome.kept) == 2


def test_a_place_is_never_with_two_readers_and_a_lost_lease_writes_nothing(lab: Path, shelf: Shelf) -> None:
    scanned(shelf, lab)
    shelf.base.run("UPDATE places SET done = NULL")
    scope = Scope((str(lab),), 0.0, maker="other")
    mine = shelf.claim(scope, "me", 4)
    other = shelf.claim(scope, "you", 10)
    assert len(mine) == 4
    assert len(other) == 3
    assert not {task.unit.place for task in mine} & {task.unit.place for task in other}
    shelf.base.run("UPDATE places SET leased_until = 0 WHERE leased_by = 'me'")
    taken = shelf.claim(scope, "third", 10)
    assert {task.unit for task in taken} == {task.unit for task in mine}
    assert not shelf.put(UnitOutcome(mine[0].unit), owner="me", maker="other")
    assert [vanished for _, vanished in shelf.rows() if vanished] == []
    assert shelf.put(read_task(taken[0]), owner="third", maker="other")


def test_a_place_that_ends_its_reader_again_and_again_becomes_a_row(lab: Path) -> None:
    unit = Unit(str(lab), str(lab / "code" / "a"), "m")
    (row,) = read_task(Task(unit, attempts=4)).rows
    assert "killed the reader 3 times" in str(row.problem)


def test_the_pool_gives_the_same_rows_and_survives_a_reader_that_is_killed(
    lab: Path, shelf: Shelf, tmp_path: Path
) -> None:
    scanned(shelf, lab)
    pool, killed = Pool(2), []

    def kill_one(tally: Tally) -> None:
        if not killed and pool._processes:
            process = next(iter(pool._processes))
            os.kill(process.pid, signal.SIGKILL)
            killed.append(process.pid)

    with Shelf(str(tmp_path / "other.db")) as other:
        for number in range(12):
            write_run(lab / "more" / f"run-{number}")
        tally = scan((str(lab),), other, pool, progress=kill_one)
        scanned(shelf, lab)
        assert killed
        assert tally.read == 19
        assert rows(other) == rows(shelf)


def test_a_machine_that_can_start_no_reader_is_told_of(
    lab: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-such-interpreter"))
    with pytest.raises(CannotWrite, match="in a row ended before they had read anything"):
        scan((str(lab),), shelf, Pool(2))
    assert shelf.base.rows("SELECT COUNT(*) FROM places WHERE leased_by IS NOT NULL") == [(0,)]


def test_a_reader_that_cannot_be_ended_does_not_hold_up_the_end_of_a_scan(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that waits for a disk that does not respond, which no signal ends."""
    responds = threading.Event()
    monkeypatch.setattr(pool_module, "_answer", lambda process, task: responds.wait(60) and None)
    monkeypatch.setattr(pool_module, "HANGS", 0.2)
    pool = Pool(1)
    pool.submit([Task(Unit(str(lab), str(lab / "code" / name), "m")) for name in "ab"])
    try:
        assert pool.collect(0.1) == []
        began = time.monotonic()
        pool.close()
        assert time.monotonic() - began < 10
        assert all(thread.daemon for thread in pool._threads)  # nor the end of the program
    finally:
        responds.set()


def test_a_scan_that_is_killed_is_gone_on_with(lab: Path, tmp_path: Path) -> None:
    for number in range(30):
        write_run(lab / "more" / f"run-{number}")
    store = tmp_path / "killed.db"
    command = [sys.executable, "-m", "leadline", "scan", str(lab), "--store", str(store), "--workers", "1"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: _count(store) >= 3)
    finally:
        process.kill()
        process.wait()
    done = _count(store)
    assert 3 <= done < 37
    with Shelf(str(store)) as shelf:
        shelf.base.run("UPDATE places SET leased_until = 0")  # a minute later
        _, engine = scanned(shelf, lab)
        assert len(engine.read) == 37 - done
        killed = rows(shelf)
        assert shelf.base.rows("SELECT COUNT(*) FROM places WHERE leased_by IS NOT NULL OR done IS NULL") == [(0,)]
    with Shelf(str(tmp_path / "whole.db")) as whole:
        scanned(whole, lab)
        assert rows(whole) == killed


def _count(store: Path) -> int:
    try:
        with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as base:
            return int(base.execute("SELECT COUNT(*) FROM places WHERE done IS NOT NULL").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_a_run_is_read_once_more_when_its_log_is_long_still(lab: Path, shelf: Shelf) -> None:
    write_run(lab / "web" / "only", steps=40, began=time.time() - 41 * 60)
    scanned(shelf, lab)
    row = rows(shelf)["web/only"]
    assert row.ended is None
    assert row.quiet_at is not None
    assert row.still_at is not None
    assert row.still_at > row.quiet_at
    # As if that moment had come since it was read.
    now = time.time()
    shelf.base.run("UPDATE runs SET still_at = ? WHERE name = 'web/only'", (now - 50,))
    where = str(lab / "web" / "only")
    shelf.base.run("UPDATE places SET read_at = ?, again_at = ? WHERE place = ?", (now - 99, now - 50, where))
    assert scanned(shelf, lab)[1].read == ["only"]
    assert scanned(shelf, lab)[1].read == []


def test_what_lies_beside_runs_and_is_none_is_no_row(lab: Path, shelf: Shelf) -> None:
    """Tables of runs and notes are none; a bad run among its like, or one that was named, is a row."""
    (lab / "index.csv").write_text("run,team,reward\nmath,a,0.5\ncode,b,0.7\nweb,a,0.1\n", encoding="utf-8")
    (lab / "math" / "results.tsv").write_text("lr\treward\n0.1\t0.5\n0.2\t0.7\n0.3\t0.1\n", encoding="utf-8")
    (lab / "math" / "notes.txt").write_text("Try a larger batch next week.\n", encoding="utf-8")
    for number in range(120):
        (lab / "flat").mkdir(exist_ok=True)
        (lab / "flat" / f"log-{number}.jsonl").write_text('{"step": 1, "reward": 0}\n' * (number > 0), encoding="utf-8")
    scanned(shelf, lab)
    names = set(rows(shelf))
    assert not any("index" in name or "results" in name or "notes" in name for name in names)
    assert {"flat/log-0.jsonl", "code/broken"} <= names
    scanned(shelf, lab / "math" / "notes.txt")
    assert rows(shelf)["notes.txt"].state == "unreadable"


def test_an_old_log_is_read_once_whatever_it_holds(lab: Path, shelf: Shelf) -> None:
    """One without times has no rhythm, and has ended after a day: it must not stay due for ever."""
    os.utime(lab / "web" / "only" / "metrics.jsonl", (1e9, 1e9))
    write_run(lab / "web" / "dated", began=1e9)
    scanned(shelf, lab)
    told = rows(shelf)
    assert (told["web/only"].ended, told["web/dated"].ended) == ("silent", "silent")
    assert scanned(shelf, lab)[1].read == []


def test_scans_that_are_killed_blame_no_place(shelf: Shelf) -> None:
    """What a scan had taken and never opened must not count as what ended its reader."""
    scope = Scope(("/lab",), began=shelf.base.now(), maker="1")
    shelf.note([Unit("/lab", "/lab/a", "m")], scope.began)
    for number in range(9):
        (task,) = shelf.claim(scope, f"scan {number}", 5)
        assert task.attempts == 1
        shelf.base.run("UPDATE places SET leased_until = 0")  # its lease ends, as after a kill
    shelf.base.run("UPDATE places SET leased_by = 'me'")
    shelf.hand_back([task], "me")
    assert shelf.claim(scope, "me", 5)[0].attempts == 2


def test_a_place_without_a_mark_is_read_once_a_scan(shelf: Shelf) -> None:
    """What a server holds is told by asking it alone."""
    scope = Scope(("mlflow://host",), began=shelf.base.now(), maker="1")
    for _ in range(2):
        shelf.note([Unit("mlflow://host", "mlflow://host/1", "")], shelf.base.now())
        (task,) = shelf.claim(scope, "me", 5)
        assert shelf.put(UnitOutcome(task.unit), owner="me", maker="1")
        assert shelf.claim(scope, "me", 5) == []


@pytest.mark.parametrize("mark", ["m", ""])
def test_a_clock_that_was_ahead_freezes_no_place(shelf: Shelf, mark: str) -> None:
    """Whatever it noted and read then counts as not read, also what is told by asking alone."""
    ahead = Scope(("/lab",), began=shelf.base.now(), maker="1")
    shelf.note([Unit("/lab", "/lab/a", mark)], ahead.began)
    (task,) = shelf.claim(ahead, "me", 5)
    assert shelf.put(UnitOutcome(task.unit), owner="me", maker="1")
    shelf.base.run("UPDATE places SET seen_at = seen_at + 7200, read_at = read_at + 7200")
    now = Scope(("/lab",), began=shelf.base.now(), maker="1")
    shelf.note([Unit("/lab", "/lab/a", mark and "grown")], now.began)
    assert [task.unit.mark for task in shelf.claim(now, "me", 5)] == [mark and "grown"]


def test_names_that_are_no_text_are_kept(tmp_path: Path, shelf: Shelf) -> None:
    odd = tmp_path / "lab" / os.fsdecode(b"\xff<script>\x01")
    write_run(odd)
    write_run(tmp_path / "lab" / "plain")
    scanned(shelf, tmp_path / "lab")
    assert set(rows(shelf)) == {odd.name, "plain"}
    assert scanned(shelf, tmp_path / "lab")[1].read == []


def test_the_verb_prints_rows(lab: Path, tmp_path: Path) -> None:
    called = CliRunner().invoke(
        verbs, ["scan", str(lab), "--store", str(tmp_path / "s.db"), "--workers", "2", "--json"]
    )
    assert called.exit_code == 0, called.output
    told = [
        line for line in called.stdout.splitlines() if line.startswith("{")
    ]  # click 8.1 mixes in what goes to stderr
    printed = [orjson.loads(line) for line in told]
    assert len(printed) == 7
    with Shelf(str(tmp_path / "s.db"), write=False) as shelf:
        assert printed == [orjson.loads(orjson.dumps({**asdict(row), "vanished_at": None})) for row, _ in shelf.rows()]


def test_rows_of_the_same_run_differ_only_by_what_changed(lab: Path) -> None:
    unit = Unit(str(lab), str(lab / "web" / "only"), "m")
    (first,) = read_task(Task(unit)).rows
    (second,) = read_task(Task(replace(unit, mark="n"))).rows
    assert first == second
