"""One watch for many runs: a table says of each what is wanted."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from live.growing import write_rows
from waiting import PATIENCE, wait_for

from leadline.cli import main
from leadline.errors import BadOrder, BadState
from leadline.live.entries import load
from leadline.live.store import Store

TRAINER = """
import pathlib, signal, sys
log = open(sys.argv[1], "a")
signal.signal(signal.SIGTERM, lambda *_: (pathlib.Path(sys.argv[1] + ".saved").touch(), sys.exit(0)))
print("training", flush=True)
for row in sys.stdin:  # which rows come when is said by the test
    log.write(row)
    log.flush()
"""


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "leadline.toml"
    file.write_text(text)
    return file


def test_a_table_is_read(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        """
        [watch]
        tell = ["stdout"]
        state = "state.db"
        metrics = "0.0.0.0:9109"
        [[watch.run]]
        path = "a"
        act = "stop"
        dry_run = false
        then = "sigkill"
        after = 60
        [[watch.run]]
        path = "s3://bucket/b"
        act = "file:/tmp/stop"
        tell = ["stdout"]
        budget = 2000
        [[watch.run]]
        path = "c"
        """,
    )
    wanted = load(file)
    first, second, third = wanted.entries
    assert (first.path, first.act, first.dry_run, first.then, first.after) == (
        str(tmp_path / "a"), "stop", False, "sigkill", 60.0,
    )  # fmt: skip
    assert first.tell == ("stdout",)
    assert (second.path, second.dry_run, second.tell, second.budget) == ("s3://bucket/b", True, ("stdout",), 2000)
    assert third.act is None  # whoever only wants to be told is not acted for
    assert (wanted.state, wanted.metrics) == (tmp_path / "state.db", "0.0.0.0:9109")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no \\[watch\\] table"),
        ("[watch", "could not be read"),
        ("[watch]", "names no run"),
        ("[watch]\nlook = 1\n[[watch.run]]\npath='a'", "the key 'look'"),
        ("[[watch.run]]\nact='stop'", "has no path"),
        ("[[watch.run]]\npath='a'\nact='stop'\ndry_run='no'", "dry_run = 'no' is not valid"),
        ("[[watch.run]]\npath='a'\ndry_run=false", "without an action"),
        ("[[watch.run]]\npath='a'\npolicy='ask'", "the key 'policy'"),
        ("[[watch.run]]\npath='a'\nbudget='many'", "budget = 'many' is not valid"),
        ("[[watch.run]]\npath='a'\ntell='stdout'", "tell = 'stdout' is not valid"),
        ("[[watch.run]]\npath='a'\n[[watch.run]]\npath='a'", "is named for several runs"),
        (
            "[[watch.run]]\npath='a'\nact='sigterm:7'\ndry_run=false\n"
            "[[watch.run]]\npath='b'\nact='sigterm:7'\ndry_run=false",
            "order sigterm:7 is named for several runs",
        ),
        (
            "[[watch.run]]\npath='a'\nact='sigterm:7'\ndry_run=false\n"
            "[[watch.run]]\npath='b'\nact='sigint:7:next'\ndry_run=false",
            "order sigint:7:next is named for several runs",
        ),
    ],
)
def test_a_table_that_cannot_be_followed_is_refused_with_what_is_wrong(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadOrder, match=says):
        load(written(tmp_path, text))


def test_paths_or_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, "[watch]\n[[watch.run]]\npath = 'a'\n")
    for words in (
        [],
        ["a", "--config", str(file)],
        ["--config", str(file), "--act", "stop"],
        ["--config", str(file), "--dry-run"],
    ):
        assert main(["watch", *words]) == 2
        assert "Traceback" not in capsys.readouterr().err


def test_of_several_runs_each_has_its_own_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three runs fall; one is to be acted on, one is asked about, of one people are told. Only the first is ended."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    trainings = {}
    lines = ["[watch]", f"state = '{tmp_path / 'state.db'}'", "tell = ['stdout']", "every = 0.5"]
    for name in ("acted", "asked", "told"):
        log = tmp_path / name / "metrics.jsonl"
        log.parent.mkdir()
        (log.parent / "config.json").write_text(json.dumps({"max_steps": 300}))
        training = subprocess.Popen(
            [sys.executable, "-c", TRAINER, str(log)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert training.stdout is not None
        training.stdout.readline()
        trainings[name] = training
        lines += ["[[watch.run]]", f"path = '{name}'", "budget = 300"]
        lines += [f"act = 'sigterm:{training.pid}'"] if name != "told" else []
        lines += ["dry_run = false"] if name == "acted" else []
    file = written(tmp_path, "\n".join(lines))
    watch = subprocess.Popen([sys.executable, "-m", "leadline", "watch", "--config", str(file), "--headless"])

    def ended() -> set[str]:
        return {name for name, training in trainings.items() if training.poll() is not None}

    def looked(name: str) -> int:
        """The step of the newest look at a run; 0 before the first."""
        if not (tmp_path / "state.db").exists():
            return 0
        with contextlib.suppress(sqlite3.Error, BadState), Store(tmp_path / "state.db", write=False) as store:
            numbers = [number for run, number in store.names().items() if Path(run).name == name]
            return max((one.step for number in numbers for one in store.looks(number)), default=0)
        return 0  # it is being made

    try:
        for first, last in ((1, 110), *((first, first + 20) for first in range(110, 230, 20))):
            for seed, training in enumerate(trainings.values()):
                rows = tmp_path / "rows"
                write_rows(rows, range(first, last), seed=seed, fall_after=60)
                assert training.stdin is not None
                if training.poll() is None:
                    training.stdin.write(rows.read_bytes())
                    training.stdin.flush()
                rows.unlink()
            wait_for(lambda first=first: all(looked(name) >= first for name in trainings if name not in ended()))

        def said() -> set[tuple[str, str]]:
            if not (tmp_path / "state.db").exists():
                return set()
            with Store(tmp_path / "state.db", write=False) as store:
                return {
                    (Path(name).name, str(action["state"]))
                    for name, number in store.names().items()
                    for _, action in store.actions(number)
                }

        wait_for(lambda: {("acted", "done"), ("asked", "dry")} <= said(), 120)
        assert trainings["acted"].wait(PATIENCE) == 0
        assert [trainings[name].poll() for name in ("asked", "told")] == [None, None]
        assert not [state for name, state in said() if name == "told"]
        assert (tmp_path / "acted" / "metrics.jsonl.saved").exists()
        assert not (tmp_path / "asked" / "metrics.jsonl.saved").exists()
    finally:
        for process in (watch, *trainings.values()):
            process.kill()
            process.communicate()
