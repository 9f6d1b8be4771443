"""What a training process writes is what Leadline reads, whatever happens to the process or the disk."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from leadline.inside.attached import attach
from leadline.inside.journal import JOURNAL, ended, last_step
from leadline.run import Run
from leadline.sources import open_run

REPOSITORY = Path(__file__).parents[2]


def values(run: Run, key: str) -> dict[int, float]:
    series = next(one for one in (*run.series, *run.unread) if one.key == key)
    return dict(zip(series.steps.tolist(), series.values.tolist(), strict=True))


def program(text: str, *words: object) -> list[str]:
    return [sys.executable, "-c", text, *map(str, words)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPOSITORY)}


def test_what_was_logged_is_read_to_the_last_bit(tmp_path: Path) -> None:
    rng = random.Random(1)
    rows = {step: {"reward": rng.gauss(0, 1), "kl": 10 ** rng.uniform(-20, 20), "n": step} for step in range(1, 60)}
    with attach("run", tmp_path, watch=False) as run:
        for step, row in rows.items():
            run.log(step, row)
    read = open_run(tmp_path)
    for key in ("reward", "kl", "n"):
        assert values(read, key) == {step: float(row[key]) for step, row in rows.items()}


def test_numbers_in_any_clothing_are_taken_and_words_are_not(tmp_path: Path) -> None:
    with attach("run", tmp_path, watch=False) as run:
        for step in range(3):
            run.log(
                step,
                {
                    "reward": np.float32(0.5),
                    "loss": float("nan"),
                    "kl": math.inf,
                    "inner": {"a": np.int64(3)},
                    "flag": True,
                    "text": "0.5",
                    "none": None,
                    "many": np.zeros(3),
                },
            )
    last = json.loads((tmp_path / "run" / JOURNAL).read_text().splitlines()[-2])["data"]
    assert last.keys() == {"reward", "loss", "kl", "inner/a", "flag"}
    read = open_run(tmp_path)
    assert math.isnan(values(read, "loss")[1])
    assert values(read, "kl")[1] == math.inf


def test_when_a_row_was_written_is_known(tmp_path: Path) -> None:
    before = time.time()
    with attach("run", tmp_path, watch=False) as run:
        run.log(1, {"reward": 1.0})
        run.log(2, {"reward": 2.0})
    walls = open_run(tmp_path).series[0].walls
    assert walls is not None
    assert before - 1e-3 <= walls[0] <= walls[1] <= time.time()


def test_settings_and_the_plan_are_known_and_secrets_are_not(tmp_path: Path) -> None:
    config = {"lr": 1e-4, "wandb": {"api_key": "hush"}, "hub_token": "hush", "max_tokens": 7, "path": tmp_path}
    with attach("run", tmp_path, planned_steps=500, config=config, watch=False) as run:
        run.log(1, {"reward": 1.0})
    assert "hush" not in (tmp_path / "run" / JOURNAL).read_text()
    read = open_run(tmp_path).config
    assert read.planned_steps == 500
    assert (read.raw["lr"], read.raw["max_tokens"]) == (1e-4, 7)


def test_samples_are_read_and_a_step_that_is_trained_again_replaces_its_own(tmp_path: Path) -> None:
    def rows(word: str) -> list[dict[str, object]]:
        return [{"prompt": "p", "output": f"{word} {n}", "score": n / 4, "group": 0} for n in range(4)]

    with attach("run", tmp_path, watch=False) as run:
        run.log(1, {"reward": 1.0})
        run.log(2, {"reward": 1.0})
        run.log_rollouts(2, rows("first")[:2])
        run.log_rollouts(2, rows("first")[2:])
    assert [one.output for one in open_run(tmp_path).rollouts.at(2)] == [f"first {n}" for n in range(4)]
    with attach("run", tmp_path, watch=False, resume=True) as run:
        run.log(2, {"reward": 1.0})
        run.log_rollouts(2, rows("second"))
    kept = open_run(tmp_path).rollouts.at(2)
    assert [(one.prompt, one.output, one.score, one.group) for one in kept] == [
        ("p", f"second {n}", n / 4, 0) for n in range(4)
    ]


def test_checkpoints_are_known_as_long_as_they_exist(tmp_path: Path) -> None:
    kept, gone = tmp_path / "saved" / "mine-20", tmp_path / "saved" / "mine-10"
    kept.mkdir(parents=True)
    with attach("run", tmp_path / "journals", watch=False) as run:
        run.log(1, {"reward": 1.0})
        run.log_checkpoint(10, gone)
        run.log_checkpoint(20, kept)
    assert [(one.step, one.path) for one in open_run(tmp_path / "journals").checkpoints] == [(20, str(kept))]


def test_phases_are_timed(tmp_path: Path) -> None:
    with attach("run", tmp_path, watch=False) as run:
        for step in (1, 2):
            with run.phase("generate"):
                time.sleep(0.002)
            with run.phase("update"):
                pass
            run.log(step, {"reward": 1.0})
    phases = open_run(tmp_path).telemetry.phases
    assert phases.names == ("generate", "update")
    assert phases.steps.tolist() == [1, 1, 2, 2]
    assert (phases.ends - phases.starts)[0] >= 0.002


def test_a_new_run_of_the_same_name_gets_a_folder_of_its_own_and_a_resumed_one_does_not(tmp_path: Path) -> None:
    folders = []
    for resume in (False, False, True):
        with attach("my run/7", tmp_path, watch=False, resume=resume) as run:
            run.log(1, {"reward": 1.0})
            folders.append(run.folder)
    assert [folder.name for folder in folders if folder] == ["my-run-7", "my-run-7-2", "my-run-7-2"]


def test_a_resumed_run_is_one_run_whose_later_values_stand(tmp_path: Path) -> None:
    for first, value in ((1, 0.0), (5, 1.0)):
        with attach("run", tmp_path, watch=False, resume=first > 1) as run:
            for step in range(first, first + 8):
                run.log(step, {"reward": value + step / 100})
    read = open_run(tmp_path)
    assert values(read, "reward") == {step: (step >= 5) + step / 100 for step in range(1, 13)}
    assert [event.step for event in read.events if event.kind == "resume"] == [5]


def test_a_line_torn_by_a_crash_costs_itself_alone(tmp_path: Path) -> None:
    with attach("run", tmp_path, watch=False) as run:
        run.log(1, {"reward": 0.1})
    with (tmp_path / "run" / JOURNAL).open("ab") as file:
        file.write(b'{"step":2,"at":1794733855.0,"data":{"rew')
    with attach("run", tmp_path, watch=False, resume=True) as run:
        run.log(3, {"reward": 0.3})
    assert values(open_run(tmp_path), "reward") == {1: 0.1, 3: 0.3}


WRITE_FOR_EVER = """
import sys, leadline
run = leadline.attach("run", sys.argv[1], watch=False)
step = 0
while True:
    step += 1
    run.log(step, {"reward": step / 7, "kl": step / 3})
    if step % 50 == 0:
        print("on its way", flush=True)
"""


def test_killed_at_any_moment_every_line_but_the_last_is_whole(tmp_path: Path) -> None:
    rng = random.Random(0)
    for number in range(5):
        folder = tmp_path / str(number)
        process = subprocess.Popen(program(WRITE_FOR_EVER, folder), stdout=subprocess.PIPE, env=environment())
        assert process.stdout is not None
        process.stdout.readline()
        for _ in range(rng.randrange(4)):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        lines = (folder / "run" / JOURNAL).read_bytes().split(b"\n")
        for line in lines[:-1]:
            json.loads(line)
        read = values(open_run(folder), "reward")
        assert read == {step: step / 7 for step in range(1, len(read) + 1)}
        assert len(read) >= 50
        assert not ended(folder / "run" / JOURNAL)
        assert last_step(folder / "run" / JOURNAL) == len(read)


FULL_DISK = """
import logging, resource, sys
import leadline
logging.basicConfig(level=logging.WARNING, format="%(message)s")
run = leadline.attach("run", sys.argv[1], watch=False)
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
for step in range(1, 101):
    if step == 11:  # the disk is full in the middle of a line
        size = (run.folder / "journal.jsonl").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
    if step == 91:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    run.log(step, {"reward": step / 7})
run.close()
print("trained to the end")
"""


def test_a_full_disk_costs_rows_and_nothing_else_and_is_said_once(tmp_path: Path) -> None:
    done = subprocess.run(
        program(FULL_DISK, tmp_path), env=environment(), capture_output=True, text=True, timeout=240, check=True
    )
    assert done.stdout == "trained to the end\n"
    assert done.stderr.count("leadline:") == 1
    assert "File too large" in done.stderr
    read = values(open_run(tmp_path), "reward")
    assert read == {step: step / 7 for step in (*range(1, 11), *range(91, 101))}


def test_where_nothing_can_be_written_training_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "taken").write_text("a file, no folder")
    run = attach("run", tmp_path / "taken", watch=True)
    run.log(1, {"reward": 1.0})
    run.log_rollouts(1, [{"output": "a"}])
    run.log_checkpoint(1, tmp_path)
    with run.phase("generate"):
        pass
    assert run.should_stop() is False
    assert run.answer == {}
    run.close()
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_nonsense_from_the_loop_never_raises(tmp_path: Path) -> None:
    with attach("run", tmp_path, watch=False) as run:
        run.log("nine", {"reward": 1.0})  # type: ignore[arg-type]
        run.log(1, {("a", "tuple"): 1.0, "reward": 0.25})  # type: ignore[dict-item]
        run.log(2, None)  # type: ignore[arg-type]
        run.log_rollouts(3, [None])  # type: ignore[list-item]
        run.log(4, {"reward": 0.5, "\ud800": 1.0})
    assert values(open_run(tmp_path), "reward") == {1: 0.25, 4: 0.5}


def test_a_forked_worker_does_not_end_the_run(tmp_path: Path) -> None:
    run = attach("run", tmp_path, watch=False)
    run.log(1, {"reward": 1.0})
    forks = f"""
import os, leadline
run = leadline.attach("run", {str(tmp_path)!r}, watch=False, resume=True)
run.log(2, {{"reward": 1.0}})
if os.fork() == 0:
    run.close()
    os._exit(0)
os.wait()
run.log(3, {{"reward": 1.0}})
os._exit(0)
"""
    subprocess.run(program(forks), env=environment(), check=True, timeout=240)
    assert not ended(tmp_path / "run" / JOURNAL)
    run.close()
    assert ended(tmp_path / "run" / JOURNAL)


def test_a_process_that_ends_without_a_word_ends_its_run(tmp_path: Path) -> None:
    text = "import sys, leadline; leadline.attach('run', sys.argv[1], watch=False).log(1, {'reward': 1.0})"
    subprocess.run(program(text, tmp_path), env=environment(), check=True, timeout=240)
    assert ended(tmp_path / "run" / JOURNAL)


def test_attaching_imports_nothing_heavy() -> None:
    text = (
        "import sys; before = set(sys.modules); import leadline; leadline.attach; "
        "print(sorted({name.split('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run(program(text), env=environment(), capture_output=True, text=True, check=True, timeout=240)
    assert done.stdout.strip() == "['leadline']"


def test_the_callback_can_be_imported_anywhere_and_says_what_it_needs_where_it_cannot_work() -> None:
    text = """
import sys
sys.modules["transformers"] = None
import importlib.util
importlib.util.find_spec = lambda name, package=None: None
from leadline import LeadlineCallback
try:
    LeadlineCallback(stop=True)
except Exception as error:
    print(error)
"""
    done = subprocess.run(program(text), env=environment(), capture_output=True, text=True, check=True, timeout=240)
    assert "pip install 'leadline[trl]'" in done.stdout
