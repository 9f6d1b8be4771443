"""Real training with `LeadlineCallback` inside: looks appear, a run that broke is stopped, a healthy one is not."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from writers.held import Held, differences, held_in, read_as
from writers.launch import PROGRAMS, environment, run_program

from leadline.cli import main
from leadline.sources import open_run

HEALTHY = ("0.002",)
# A thousand times as high. It gets more steps than the healthy run, so that a fast machine leaves time for looks.
BROKEN = ("2", "--steps", "800")
# Known only when training is over: written after the last checkpoint.
CLOSING = {"train_runtime", "train_samples_per_second", "train_steps_per_second", "total_flos", "train_loss"}


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("healthy")
    run_program("train_watched", out, *HEALTHY, "--stop")
    return out


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("broken")
    (out / "console.log").write_text(run_program("train_watched", out, *BROKEN, "--stop"))
    return out


def ended(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / "ended.json").read_text()))


def journal(out: Path) -> Path:
    return out / "run" / "leadline" / "run" / "journal.jsonl"


def answer(out: Path) -> dict[str, Any]:
    """What was said last; the sidecar may still be at its last look when the training has ended."""
    file, last = journal(out).with_name("answer.json"), ended(out)["step"]
    until = time.monotonic() + 60
    while True:
        said = dict(json.loads(file.read_text())) if file.exists() else {"step": 0}
        if said["step"] >= last or time.monotonic() > until:
            return said
        time.sleep(0.2)


def looks(out: Path) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(f"file:{journal(out).with_name('state.db')}?mode=ro", uri=True)) as base:
        return list(base.execute("SELECT step, verdict FROM looks ORDER BY step"))


def rewards(out: Path) -> list[float]:
    return [row["reward"] for row in ended(out)["log"] if "reward" in row]


def test_a_healthy_run_is_looked_at_and_trains_to_its_end(healthy: Path) -> None:
    assert ended(healthy)["step"] == 160
    assert ended(healthy)["stopped_at"] is None
    learned = rewards(healthy)
    assert sum(learned[-20:]) > 1.5 * sum(learned[:20])
    assert answer(healthy)["step"] == 160
    assert len(looks(healthy)) >= 3


def test_a_run_whose_learning_rate_broke_it_is_stopped(broken: Path) -> None:
    over = ended(broken)
    assert over["stopped_at"] == over["step"] < 800
    learned = rewards(broken)
    assert sum(learned[-10:]) / 10 < 0.6 * max(learned[:60])  # it had learned, and lost it
    said = looks(broken)
    if said[-1] == (over["step"], "finished"):  # a last look after its end, which the journal tells
        said.pop()
    assert {verdict for _, verdict in said[-2:]} <= {"stop", "roll_back"}
    assert f"leadline: stops the training at step {over['step']}" in (broken / "console.log").read_text()
    assert '"end":"stopped by leadline' in journal(broken).read_text().splitlines()[-1]


def test_a_run_that_was_stopped_saved_its_state_and_says_where_to_go_back_to(broken: Path) -> None:
    step = ended(broken)["step"]
    assert (broken / "run" / f"checkpoint-{step}" / "model.safetensors").exists()
    best = answer(broken)["best_checkpoint"]
    assert best["step"] < step
    assert (Path(best["path"]) / "model.safetensors").exists()


def test_what_was_done_is_written_down(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = journal(broken).with_name("state.db")
    assert main(["history", str(journal(broken)), "--state", str(state)]) == 0
    assert "asked the training's own callback to stop it" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("out", ["healthy", "broken"])
def test_the_journal_holds_every_value_and_is_one_run_with_the_rest_of_its_folder(
    out: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place: Path = request.getfixturevalue(out)
    (tmp_path / "held.json").write_text(json.dumps(ended(place)["log"]))
    held: Held = held_in(tmp_path / "held.json")
    read = open_run(journal(place))
    assert differences(read_as(read), held) == []
    assert read.framework == "trl-grpo"
    assert read.config.group_size == 8
    assert read.config.planned_steps == (160 if out == "healthy" else 800)
    whole = open_run(place / "run")
    assert differences(read_as(whole), held, without=CLOSING) == []
    assert {one.step for one in whole.checkpoints} >= {one.step for one in read.checkpoints} > set()


def test_two_processes_of_one_training_stop_at_the_same_step(tmp_path: Path) -> None:
    """A Trainer in two processes, told to stop by an answer that only the first of them can see; the checkpoint that it
    recommends was rotated away long before."""
    run_program("stop_two", tmp_path)
    stopped = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1)]
    assert stopped[0] == stopped[1]
    assert 20 <= stopped[0] < 2000
    assert not (tmp_path / "run" / "checkpoint-5").exists()
    kept = tmp_path / "run" / "kept-by-leadline" / "checkpoint-5"
    assert {"model.safetensors", "rng_state_0.pth", "rng_state_1.pth"} <= {file.name for file in kept.iterdir()}
    assert str(kept) in (tmp_path / "run" / "LEADLINE.md").read_text()


@pytest.fixture(scope="module")
def rotated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that breaks, in a folder that keeps fewer checkpoints than are written until it is stopped: the oldest are
    deleted, and one of them is the one to go back to."""
    out = tmp_path_factory.mktemp("rotated")
    (out / "console.log").write_text(run_program("train_watched", out, *BROKEN, "--stop", "--keep", "15"))
    return out


def test_the_checkpoint_that_is_recommended_outlives_the_stop(rotated: Path) -> None:
    over, told = ended(rotated), (rotated / "console.log").read_text()
    assert over["stopped_at"] == over["step"] < 800
    assert told.count("stops the training at step") == 1
    note = (rotated / "run" / "LEADLINE.md").read_text()
    assert f"stopped this training at step {over['step']}" in note
    (named,) = re.findall(r"resume_from_checkpoint='([^']+)'", note)
    kept = Path(named)
    assert kept in (rotated / "run" / "kept-by-leadline").iterdir()
    assert (kept / "model.safetensors").exists()
    assert (kept / "trainer_state.json").exists()
    assert str(kept) in told


def test_the_checkpoint_that_is_recommended_outlives_rotation_where_nothing_is_stopped(tmp_path: Path) -> None:
    run_program("train_watched", tmp_path, "2", "--steps", 200, "--keep", 2)
    assert ended(tmp_path)["stopped_at"] is None
    best = answer(tmp_path)["best_checkpoint"]
    rotating = {int(one.name.partition("-")[2]) for one in (tmp_path / "run").glob("checkpoint-*")}
    assert best["step"] not in rotating
    assert Path(best["path"]) in (tmp_path / "run" / "kept-by-leadline").iterdir()
    assert (Path(best["path"]) / "model.safetensors").exists()


def test_a_run_that_was_stopped_can_be_resumed_and_trains_on(broken: Path) -> None:
    """From a sound checkpoint, without the fault: the old answer, the old looks and the old request do not hold."""
    broke = ended(broken)["step"]
    run_program(
        "train_watched", broken, "0.002", "--stop", "--steps", broke + 20, "--resume",
        broken / "run" / "checkpoint-10",
    )  # fmt: skip
    over = ended(broken)
    assert over["stopped_at"] is None, answer(broken)
    assert over["step"] == broke + 20
    assert answer(broken)["act"] is False


def test_processes_under_torchrun_write_one_journal_and_stop_together(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
         str(PROGRAMS / "attach_ranks.py"), str(tmp_path)],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    stopped = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1)]
    assert stopped[0] == stopped[1]
    assert stopped[0] > 33
    assert [folder.name for folder in tmp_path.iterdir() if folder.is_dir()] == ["run"]
