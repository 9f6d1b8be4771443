"""Reviews on disk: found again, under many writers, after a kill, beside a run, and full of hostile text."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import trl_bytes
from waiting import wait_for

from leadline.cli import main
from leadline.pipeline import read, view_of
from leadline.review import store
from leadline.run import Grade, Review
from leadline.sources import open_run


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    rows = [(step, {"reward": 0.01 * step}) for step in range(1, 41)]
    (folder / "trainer_state.json").write_bytes(trl_bytes(rows, max_steps=40))
    return folder


def test_a_review_comes_back_and_is_cut_like_the_rest(run: Path) -> None:
    graded = Review("hacked", 40, 10, (Grade(1, 10, 0.9), Grade(11, 40, 0.1)), "anna", 5.0, note="looped")
    store.add(str(run), graded)
    store.add(str(run), Review("ok", 20, reader="ben", at=4.0))
    kept = store.load(str(run))
    assert [review.reader for review in kept.reviews] == ["ben", "anna"]
    assert kept.reviews[1] == graded
    assert [one.reader for one in view_of(open_run(run)).run.reviews] == ["ben", "anna"]
    assert [one.reader for one in view_of(open_run(run).until(30)).run.reviews] == ["ben"]
    assert [one.reader for one in view_of(open_run(run / "trainer_state.json")).run.reviews] == ["ben", "anna"]


def test_of_one_reader_the_review_of_the_latest_samples_counts(run: Path) -> None:
    for review in (Review("ok", 40, at=1.0), Review("hacked", 20, 5, at=2.0)):
        store.add(str(run), review)
    assert [one.answer for one in view_of(open_run(run)).run.reviews] == ["ok"]
    store.add(str(run), Review("hacked", 40, 5, at=3.0))
    assert [one.answer for one in view_of(open_run(run)).run.reviews] == ["hacked"]


def keep_samples(run: Path, word: str, steps: Sequence[int], more: Sequence[str] = ()) -> None:
    (run / "rollouts").mkdir(exist_ok=True)
    for step in steps:
        texts = (f"{word} {step}", *more)
        rows = [{"input": "q", "output": text, "score": 1.0, "step": step} for text in texts]
        (run / "rollouts" / f"{step}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def answers(run: Path) -> list[str]:
    return [one.answer for one in view_of(open_run(run)).run.reviews]


def test_a_review_does_not_outlive_the_samples_it_was_given_of(run: Path) -> None:
    keep_samples(run, "old", (10, 20, 30, 40))
    assert main(["review", str(run), "hacked", "--since", "5"]) == 0
    keep_samples(run, "old", (40,), more=("written later",))  # the newest file was still being written
    assert answers(run) == ["hacked"]
    keep_samples(run, "new", (30, 40))  # the same start, another seed
    assert answers(run) == []
    assert sum("other samples" in note for note in view_of(open_run(run)).run.notes) == 1
    assert store.load_of(open_run(run)).reviews == ()
    for file in (run / "rollouts").iterdir():
        file.unlink()
    assert answers(run) == ["hacked"]  # without samples nothing says that the run is another one


def test_a_review_without_a_digest_counts_as_before(run: Path) -> None:
    keep_samples(run, "old", (10, 20))
    file = store.add(str(run), Review("ok", 20))
    line = json.loads(file.read_text())
    assert line.pop("saw") == []
    file.write_text(json.dumps(line) + "\n")
    keep_samples(run, "new", (10, 20))
    assert answers(run) == ["ok"]


def test_links_lead_to_the_same_reviews(run: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(run)
    store.add(str(tmp_path / "link"), Review("ok", 20))
    assert len(store.load(str(run)).reviews) == 1


def test_beside_the_run_it_travels(run: Path, tmp_path: Path) -> None:
    before = read(run).run
    file = store.add(str(run), Review("ok", 20), beside=True)
    assert file == run / store.BESIDE
    moved = run.rename(tmp_path / "moved")
    assert len(store.load(str(moved)).reviews) == 1
    after = read(moved).run
    assert (after.signals, after.unread_keys, after.notes) == (before.signals, before.unread_keys, before.notes)


def test_forgetting_leaves_what_was_said_of_other_runs(run: Path) -> None:
    other = run / "other.json"
    other.write_text("{}")
    store.add(str(run), Review("ok", 20))
    store.add(str(run), Review("ok", 20), beside=True)
    store.add(str(other), Review("ok", 30), beside=True)
    assert store.forget(str(run)) == 2
    assert store.load(str(run)).reviews == ()
    assert [one.seen_until for one in store.load(str(other)).reviews] == [30]
    assert store.forget(str(run)) == 0


def test_forgetting_a_log_leaves_the_folders_reviews_and_their_mode(run: Path) -> None:
    log = run / "trainer_state.json"
    store.add(str(run), Review("ok", 20))
    file = store.add(str(run), Review("ok", 30), beside=True)
    store.add(str(log), Review("ok", 40), beside=True)
    file.chmod(0o600)
    assert store.forget(str(log)) == 1
    assert [one.seen_until for one in store.load(str(run)).reviews] == [20, 30]
    assert file.stat().st_mode & 0o777 == 0o600


def test_damaged_lines_are_skipped_with_one_note(run: Path) -> None:
    file = store.add(str(run), Review("ok", 20))
    good = json.loads(file.read_text())
    wrong: list[object] = [
        *({**good, **change} for change in ({"answer": "stop"}, {"seen_until": "1"}, {"since_step": 1e400})),
        *({**good, **change} for change in ({"grades": [[1, 2]]}, {"grades": [[1, 2, 7]]}, {"at": None})),
        *({**good, **change} for change in ({"seen_until": True}, {"grades": [[9, 2, 0.5]]}, {"seen_until": 10**30})),
        *({**good, "saw": saw} for saw in ("x", [[1]], [["1", "x"]], [[1, None]], [[1, "x"]] * 9)),
        *(5, None, [good], {**good, "at": 10**400}),
    ]
    with file.open("ab") as out:
        for line in wrong:
            out.write(json.dumps(line).encode() + b"\n")
        out.write(b"\xff\xfe not json\n" + b"[" * 100_000 + b"\n")
    store.add(str(run), Review("hacked", 30, 5))
    kept = store.load(str(run))
    assert [one.answer for one in kept.reviews] == ["ok", "hacked"]
    assert kept.damaged == len(wrong) + 2
    notes = [note for note in read(run).run.notes if "damaged" in note]
    assert len(notes) == 1


def test_hostile_text_is_inert(run: Path) -> None:
    store.add(str(run), Review("ok", 20, reader="\x1b[31mroot\u202e\n{}" * 99, note="a\nb\x00" * 999))
    kept = store.load(str(run))
    assert kept.damaged == 0
    assert kept.reviews[0].reader.isprintable()
    assert kept.reviews[0].note.isprintable()
    assert len(kept.reviews[0].reader) <= store.TEXT


def test_what_lies_beside_a_run_need_not_be_a_file(run: Path, tmp_path: Path) -> None:
    os.mkfifo(run / store.BESIDE)
    assert store.load(str(run)).reviews == ()
    (run / store.BESIDE).unlink()
    (run / store.BESIDE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(store.CannotWrite):
        store.add(str(run), Review("ok", 20), beside=True)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("path", ["-", "", "x" * 5000, "a\0b", "n" * 300])
def test_strange_paths_have_no_reviews(path: str) -> None:
    assert store.load(path).reviews == ()
    assert store.mark(path) == ""
    if path[:1] != "n":
        with pytest.raises(store.CannotWrite):
            store.add(path, Review("ok", 1))


def _write(path: str, number: int, count: int) -> None:
    for place in range(count):
        store.add(path, Review("ok", place, reader=f"{number} " + "x" * 250))


def test_many_writers_at_once_lose_and_mix_nothing(run: Path) -> None:
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=_write, args=(str(run), number, 25)) for number in range(4)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    kept = store.load(str(run))
    assert (len(kept.reviews), kept.damaged) == (100, 0)


def test_a_killed_writer_costs_at_most_its_last_line(run: Path) -> None:
    writer = multiprocessing.get_context("fork").Process(target=_write, args=(str(run), 1, 100_000))
    writer.start()
    file, _ = store._home(str(run))
    wait_for(lambda: file.exists() and file.stat().st_size >= 3000)
    assert writer.pid is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()
    before = len(store.load(str(run)).reviews)
    assert before > 3
    with file.open("ab") as out:
        out.write(b'{"run": "half a li')  # as a full disk or a lost machine leaves it
    store.add(str(run), Review("hacked", 7, 3))
    kept = store.load(str(run))
    assert (len(kept.reviews), kept.damaged) == (before + 1, 1)
