"""Databases and folders of trackers under rough conditions: locked, growing, torn, in write-ahead mode, hostile."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from leadline.errors import NothingReadable
from leadline.sources import database, mlflow_store, trackio_store

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture
def mlflow_db(tmp_path: Path) -> Path:
    return Path(shutil.copy(SAMPLES / "mlflow" / "mlflow.db", tmp_path))


@pytest.fixture
def trackio_db(tmp_path: Path) -> Path:
    return Path(shutil.copy(SAMPLES / "trackio" / "sample.db", tmp_path))


@pytest.fixture
def mlruns(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLES / "mlflow" / "mlruns", tmp_path / "mlruns"))


def test_a_database_locked_by_a_writer_is_one_sentence(mlflow_db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    writer = sqlite3.connect(mlflow_db, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    with pytest.raises(NothingReadable, match="locked by the program that writes to it"):
        mlflow_store.open(mlflow_db)
    writer.execute("ROLLBACK")
    reader = mlflow_store.open(mlflow_db)[0]
    reader.update()
    before = len(reader.log.table)
    writer.execute("INSERT INTO metrics SELECT key, value, timestamp + 1, run_uuid, step + 100, is_nan FROM metrics")
    writer.execute("BEGIN EXCLUSIVE")
    assert reader.update()  # says so, and keeps what was read
    assert len(reader.log.table) == before
    assert "locked" in reader.log.notes[0]
    writer.execute("ROLLBACK")
    writer.execute("UPDATE params SET value = value")
    assert reader.update()
    assert len(reader.log.table) > before
    assert not reader.log.notes
    writer.close()


def test_a_database_is_read_without_leaving_anything_beside_it(trackio_db: Path) -> None:
    before = trackio_db.read_bytes()
    for reader in trackio_store.open(trackio_db):
        reader.update()
    assert [path.name for path in trackio_db.parent.iterdir()] == [trackio_db.name]
    assert trackio_db.read_bytes() == before


def test_rows_still_in_the_write_ahead_file_are_read(trackio_db: Path) -> None:
    reader = trackio_store.open(trackio_db)[0]
    reader.update()
    writer = sqlite3.connect(trackio_db, isolation_level=None)
    assert writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    run = writer.execute("SELECT run_id FROM metrics ORDER BY id").fetchone()[0]
    writer.execute(
        "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, '2026-01-01', 'one', 31, ?)",
        (run, b'{"critic/score/mean": 0.25}'),
    )
    assert reader.update()
    column = reader.log.table.columns()["critic/score/mean"]
    assert (column.steps[-1], column.values[-1]) == (31, 0.25)
    writer.close()


def test_only_new_rows_of_a_database_are_read(mlflow_db: Path) -> None:
    reader = mlflow_store.open(mlflow_db)[0]
    reader.update()
    before = reader.log.table.columns()["actor/ppo_kl"].values.tolist()
    writer = sqlite3.connect(mlflow_db, isolation_level=None)
    run = writer.execute("SELECT run_uuid FROM runs WHERE name = 'one'").fetchone()[0]
    writer.execute("UPDATE metrics SET value = 99")  # what was read stays as it was
    writer.execute("INSERT INTO metrics VALUES ('actor/ppo_kl', 0.5, 1000, ?, 31, 0)", (run,))
    writer.close()
    assert reader.update()
    assert reader.log.table.columns()["actor/ppo_kl"].values.tolist() == [*before, 0.5]


def test_hostile_rows_of_a_database_are_left_out(mlflow_db: Path) -> None:
    writer = sqlite3.connect(mlflow_db, isolation_level=None)
    run = writer.execute("SELECT run_uuid FROM runs WHERE name = 'one'").fetchone()[0]
    rows = [
        ("'; DROP TABLE metrics; --", 1.0, 1, run, 1, 0),
        ("x", "many", 1, run, 2, 0),
        ("x", 1.0, b"\xff", run, 3, 0),
        ("x", 1.0, 1, run, 2**62, 0),
        ("x", 4.0, 1, run, 4, 0),
    ]
    writer.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", rows)
    writer.close()
    reader = mlflow_store.open(mlflow_db)[0]
    reader.update()
    columns = reader.log.table.columns()
    assert columns["x"].values.tolist() == [4.0]
    assert columns["'; DROP TABLE metrics; --"].values.tolist() == [1.0]


def test_a_deleted_run_is_not_listed(mlflow_db: Path, mlruns: Path) -> None:
    writer = sqlite3.connect(mlflow_db, isolation_level=None)
    writer.execute("UPDATE runs SET lifecycle_stage = 'deleted' WHERE name = 'one'")
    writer.close()
    assert len(mlflow_store.open(mlflow_db)) == 1
    meta = next(mlruns.glob("*/*/meta.yaml"))
    meta.write_text(meta.read_text().replace("lifecycle_stage: active", "lifecycle_stage: deleted"))
    assert len(mlflow_store.open(mlruns)) == 1


def test_a_file_store_may_be_given_at_any_depth(mlruns: Path) -> None:
    experiment = next(place for place in mlruns.iterdir() if place.is_dir())
    run = next(place for place in experiment.iterdir() if place.is_dir())
    assert [len(mlflow_store.open(place)) for place in (mlruns, experiment, run)] == [2, 2, 1]


def test_a_metric_file_that_grows_or_is_cut(mlruns: Path) -> None:
    run = next(mlruns.glob("*/*/meta.yaml")).parent
    reader = mlflow_store.open(run)[0]
    reader.update()
    file = run / "metrics" / "actor" / "ppo_kl"
    with file.open("a") as lines:
        lines.write("1000 0.5 31\n1000 0.6 3")  # the last line is still being written
    assert reader.update()
    assert reader.log.table.columns()["actor/ppo_kl"].steps.tolist()[-1] == 31
    with file.open("a") as lines:
        lines.write("2\nnonsense\n1000 0.7\n")  # old versions wrote no step
    assert reader.update()
    assert reader.log.table.columns()["actor/ppo_kl"].steps.tolist()[-2:] == [32, 0]
    assert "1 lines made no sense" in reader.log.notes[0]
    file.write_text("1000 0.1 1\n")
    assert reader.update()
    assert reader.log.table.columns()["actor/ppo_kl"].values.tolist() == [0.1]
    assert len(reader.log.table.columns()["actor/pg_loss"].steps) == 30


def test_metrics_logged_without_any_step_are_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    (tmp_path / "meta.yaml").write_text("run_name: x\n")
    (tmp_path / "metrics" / "reward").write_text("1000 0.5 0\n2000 0.6 0\n")
    reader = mlflow_store.open(tmp_path)[0]
    reader.update()
    assert "passed no step" in reader.log.notes[0]


def test_an_older_trackio_database_without_run_ids(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    writer = sqlite3.connect(path)
    writer.execute(
        "CREATE TABLE metrics (id INTEGER PRIMARY KEY, timestamp TEXT, run_name TEXT, step INTEGER, metrics TEXT)"
    )
    rows = [("2026-01-01T00:00:00", name, step, '{"reward": 0.5}') for name in ("a", "b") for step in (1, 2)]
    writer.executemany("INSERT INTO metrics (timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?)", rows)
    writer.execute("INSERT INTO metrics (timestamp, run_name, step, metrics) VALUES ('?', 'a', 3, '{torn')")
    writer.commit()
    writer.close()
    readers = trackio_store.open(path)
    for reader in readers:
        reader.update()
    assert [reader.log.label for reader in readers] == ["a", "b"]
    assert readers[0].log.table.row_steps.tolist() == [1, 2]
    assert "1 unreadable row" in readers[0].log.notes[0]
