"""The state file: one writer, all of a look or nothing of it."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main, verbs
from leadline.errors import BadState
from leadline.live.records import Alert, Cursor, Look, Made
from leadline.live.store import VERSION, Store
from leadline.sources import folders, open_run
from leadline.sources.text import head_of


def a_look(step: int = 10, digest: str = "d", life: int = 0) -> Look:
    return Look("/runs/a", life, step, step, "schedule", 5.0, "continue", 0.7, 8, "Continue.", digest, b"{}")


def an_alert(key: str) -> Alert:
    return Alert("/runs/a", "verdict.stop", 10, None, "concern", "Stop.", ("why",), None, key)


def record(store: Store, look: Look, **more: object) -> bool:
    number = store.run("/runs/a", 1.0)
    channels = more.pop("channels", ())
    made = Made(look, None, **more)  # type: ignore[arg-type]
    return store.record(number, made, cursor=Cursor(step=look.step, points=look.points), channels=channels)  # type: ignore[arg-type]


def test_a_look_comes_back_as_it_was(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        assert record(store, a_look())
        assert store.looks(1) == (a_look(),)
        assert store.cursor(1) == Cursor(step=10, points=10)
    with Store(tmp_path / "s.db", write=False) as store:
        assert store.looks(1) == (a_look(),)


def test_the_same_look_is_written_once(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        for _ in range(2):
            record(store, a_look(), alerts=[an_alert("k")], channels=["x"])
        assert len(store.looks(1)) == len(store.alerts()) == 1
        assert record(store, a_look(digest="other"))
        assert record(store, a_look(life=1))


def test_all_of_a_look_is_written_or_nothing(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        record(store, a_look())
        with pytest.raises(sqlite3.Error):  # the last part of it cannot be written
            record(
                store,
                a_look(20, "e"),
                alerts=[an_alert("k"), Alert("/runs/a", "x", 1, None, "concern", "", (), None, None)],  # type: ignore[arg-type]
            )
        assert store.looks(1) == (a_look(),)
        assert store.cursor(1).step == 10
        assert store.alerts() == ()


def test_an_alert_is_kept_once_and_delivered_to_every_channel(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        number = store.run("/runs/a", 1.0)
        store.put_alerts(number, [an_alert("k"), an_alert("k")], ["a", "b", "a"], 2.0)
        store.put_alerts(number, [an_alert("k")], ["a"], 3.0)
        assert store.alerts() == (an_alert("k"),)
        assert [(one.channel, one.alert) for one in store.pending_alerts(9.0)] == [
            ("a", an_alert("k")),
            ("b", an_alert("k")),
        ]


def test_names_that_are_no_text_are_kept(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        assert store.run("/runs/\udcff", 1.0) == store.run("/runs/\udcff", 2.0)


def test_a_second_watch_of_the_same_state_is_told_so(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db"):
        words = [sys.executable, "-m", "leadline", "watch", str(tmp_path), "--headless", "--state"]
        second = subprocess.run([*words, str(tmp_path / "s.db")], capture_output=True, text=True, timeout=240)
    assert second.returncode == 2
    assert "Another watch is writing to the state file" in second.stderr
    assert "Traceback" not in second.stderr
    with Store(tmp_path / "s.db"):
        pass  # it is free again


@pytest.mark.parametrize("what", ["text", "another program", "newer", "folder", "no permission", "nothing there"])
def test_a_state_file_that_cannot_be_used_is_explained(what: str, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    state = tmp_path / "s.db"
    if what == "text":
        state.write_text("not a database, but long enough to be looked at as one" * 40)
    elif what in ("another program", "newer"):
        base = sqlite3.connect(state)
        base.execute("CREATE TABLE t (x)")
        base.execute(f"PRAGMA user_version = {0 if what == 'another program' else VERSION + 1}")
        base.close()
    elif what == "folder":
        state.mkdir()
    elif what == "no permission":
        state = Path("/proc/leadline/s.db")
    else:
        assert main(["history", "run", "--state", str(state)]) == 2
        assert "Can't use the state file" in capfd.readouterr().err
        return
    with pytest.raises(BadState) as raised:
        Store(state)
    assert str(state) in raised.value.what
    assert main(["watch", str(tmp_path), "--headless", "--state", str(state)]) == 2
    assert "Traceback" not in capfd.readouterr().err


def test_a_state_file_with_predictions_is_read_and_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "s.db"
    with Store(file) as store:
        record(store, a_look())
    with closing(sqlite3.connect(file)) as base:
        base.execute("CREATE TABLE predictions (look INTEGER NOT NULL REFERENCES looks)")
        base.execute("INSERT INTO predictions VALUES (1)")
        base.execute("PRAGMA user_version = 2")
        base.commit()
    for write in (False, True, False):
        with Store(file, write=write) as store:
            assert store.looks(1) == (a_look(),)
    with closing(sqlite3.connect(file)) as base:
        assert base.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert base.execute("SELECT name FROM sqlite_master WHERE name = 'predictions'").fetchall() == []


def test_history_reads_while_a_watch_writes(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        record(store, a_look())
        record(store, a_look(20, "e"))
        shown = CliRunner().invoke(verbs, ["history", "/runs", "--state", str(tmp_path / "s.db")])
    assert shown.exit_code == 0
    assert shown.stdout.count("Continue.") == 2


def test_history_finds_what_a_sidecar_keeps_beside_its_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = tmp_path / "out" / "leadline" / "run" / "journal.jsonl"
    journal.parent.mkdir(parents=True)
    with Store(journal.with_name("state.db")) as store:
        store.record(store.run(str(journal), 1.0), Made(a_look(), None), cursor=Cursor(step=10, points=10), channels=())
    monkeypatch.chdir(tmp_path)
    for path in ("out", "out/leadline/run", str(journal)):
        assert CliRunner().invoke(verbs, ["history", path]).stdout.count("Continue.") == 1


def test_a_state_file_in_a_watched_folder_is_never_opened_as_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever closes a file takes all locks of its process from it."""
    (tmp_path / "log.jsonl").write_text("".join(f'{{"step": {step}, "reward": 0.1}}\n' for step in range(9)))
    opened: list[str] = []
    monkeypatch.setattr(folders, "head_of", lambda place: opened.append(place.name) or head_of(place))
    with Store(tmp_path / "run.db") as store:
        record(store, a_look())
        assert open_run(tmp_path).last_step == 8
        assert opened == ["log.jsonl"]
    open_run(tmp_path)
    assert "run.db" in opened


def test_history_of_an_unknown_run_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(tmp_path / "s.db") as store:
        record(store, a_look())
    assert main(["history", "/runs/b", "--state", str(tmp_path / "s.db")]) == 3
    assert "no history for /runs/b" in capsys.readouterr().err


def test_what_is_remembered_is_its_owners_business(tmp_path: Path) -> None:
    with Store(tmp_path / "folder" / "state.db") as base:
        base.run("run", 0.0)
        assert {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "folder").iterdir()} == {0o600}
        assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o700


def test_a_lock_that_is_a_link_is_refused_and_its_target_left_alone(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "state.db.lock").symlink_to(precious)
    with pytest.raises(BadState):
        Store(tmp_path / "state.db")
    assert precious.read_text() == "mine"


def test_no_log_lies_in_memory_that_machines_with_one_disk_do_not_share(tmp_path: Path) -> None:
    with Store(tmp_path / "state.db") as base:
        base.run("run", 0.0)
        assert sorted(file.name for file in tmp_path.iterdir()) == ["state.db", "state.db.lock"]


def test_a_history_is_read_after_a_watch_was_killed_while_it_wrote(tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    program = """
import os, sys
from pathlib import Path
from leadline.live.store import Store
store = Store(Path(sys.argv[1]))
store.run("one", 0.0)
with store._base.writing() as base:
    base.execute("PRAGMA cache_size = 1")
    names = [(f"{number:0999}",) for number in range(99)]
    base.executemany("INSERT INTO runs (name, first_seen) VALUES (?, 0)", names)
    os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", program, str(state)], check=False)
    assert state.with_name("state.db-journal").exists()
    with Store(state, write=False) as store:
        assert list(store.names()) == ["one"]
