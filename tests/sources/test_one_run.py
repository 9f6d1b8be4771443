"""One run is one run: any two runs of the test data beside and below each other, with what people leave around them,
are two, each as it was alone; a resume is one."""

from __future__ import annotations

import csv
import itertools
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLES, trl_bytes, verl_bytes

from leadline import pipeline
from leadline.cli import main
from leadline.report.data import as_data
from leadline.run import Run
from leadline.sources import build_run, find_runs, open_run, open_runs

HERE = Path(__file__).parent
WHOLE = [EXAMPLES / name for name in ("healthy", "collapsed", "hacked")]
WHOLE += [HERE.parent / "reading" / "runs" / name for name in ("telemetry_merger", "telemetry_plain")]
TEXTS = sorted((HERE / "samples" / "text").iterdir())


def put(sample: Path, folder: Path) -> None:
    """A run of the test data, as it would lie in `folder`."""
    if sample.is_dir():
        shutil.copytree(sample, folder, dirs_exist_ok=True)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(sample, folder / sample.name)


def contents(run: Run) -> object:
    """Everything that readings are made from, so that NaN equals NaN."""
    return (
        [(series.name, series.key, series.steps.tolist(), repr(series.values.tolist())) for series in run.series],
        [(series.key, series.steps.tolist(), repr(series.values.tolist())) for series in run.unread],
        run.framework,
        run.config,
        [(state.step, Path(state.path).name, state.complete) for state in run.checkpoints],
        run.rollouts.steps,
        (len(run.telemetry.gpus), run.telemetry.phases.names, len(run.telemetry.processes.table)),
        [(event.kind, event.step) for event in run.events],
    )


def found_in(root: Path) -> dict[str, object]:
    found = find_runs(root)
    return {run.name: contents(build_run(found, run, "run")) for run in found.runs}


def beside_each_other(root: Path) -> tuple[Path, Path]:
    return root / "first", root / "second"


def below_each_other(root: Path) -> tuple[Path, Path]:
    return root, root / "second"


def nothing(root: Path) -> None:
    """Nothing lies around."""


def what_people_leave(root: Path) -> None:
    """An index with numbers, a launcher's log that speaks of both, a sweep's results."""
    with (root / "INDEX.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["run_id", "framework", "n_logged_steps", "last_step", "final_reward", "what_happened"])
        table.writerow(["first", "trl", 200, 200, 0.61, "rises"])
        table.writerow(["second", "trl", 150, 150, 0.44, "falls"])
    lines = ["launching first on gpu 0", "launching second on gpu 1", "step: 2 of 2 done, reward: 0.5"]
    (root / "launcher.log").write_text("\n".join(lines) + "\n")
    trials = [{"trial": 1, "lr": 1e-6, "reward": 0.61}, {"trial": 2, "lr": 2e-6, "reward": 0.44}]
    (root / "sweep.jsonl").write_text("".join(json.dumps(trial) + "\n" for trial in trials))


surroundings = pytest.mark.parametrize("leave", [nothing, what_people_leave])


def pair_of(root: Path, left: Path, right: Path, layout: Callable[[Path], tuple[Path, Path]]) -> None:
    for sample, folder in zip((left, right), layout(root), strict=True):
        put(sample, folder)


@cache
def alone(place: Path) -> object:
    return contents(open_run(place))


@pytest.mark.parametrize(
    ("left", "right", "layout"),
    [
        *((*pair, beside_each_other) for pair in itertools.combinations(WHOLE, 2)),  # which comes first is no matter
        *((*pair, below_each_other) for pair in itertools.permutations(WHOLE, 2)),
    ],
    ids=lambda one: one.__name__ if callable(one) else one.name,
)
def test_two_runs_are_two_each_as_it_was_alone(
    tmp_path: Path, left: Path, right: Path, layout: Callable[[Path], tuple[Path, Path]]
) -> None:
    pair_of(tmp_path, left, right, layout)
    for leave in (nothing, what_people_leave):
        leave(tmp_path)
        together = found_in(tmp_path)
        assert len(together) == 2, list(together)
        assert all(alone(place) in together.values() for place in (left, right))


@pytest.mark.parametrize("layout", [beside_each_other, below_each_other])
def test_each_reads_digit_for_digit_as_it_did_alone(
    tmp_path: Path, layout: Callable[[Path], tuple[Path, Path]]
) -> None:
    left, right = EXAMPLES / "hacked", EXAMPLES / "healthy"
    pair_of(tmp_path, left, right, layout)
    what_people_leave(tmp_path)
    apart = [as_data(pipeline.read(place)) for place in (left, right)]
    together = [as_data(pipeline.read_run(run)) for run in open_runs(tmp_path)]
    assert len(together) == 2
    for reading in (*apart, *together):
        run = reading["run"]
        assert isinstance(run, dict)
        run["path"], run["notes"] = "", []
    told = [json.dumps(reading, default=str).replace(str(left), "").replace(str(right), "") for reading in apart]
    folders = sorted((str(place) for place in layout(tmp_path)), key=len, reverse=True)
    for reading in together:
        text = json.dumps(reading, default=str)
        for folder in folders:
            text = text.replace(folder, "")
        assert text in told


@pytest.mark.parametrize("sample", TEXTS, ids=lambda place: place.name)
def test_a_log_of_any_source_beside_a_run_is_another_run(tmp_path: Path, sample: Path) -> None:
    put(sample, tmp_path / "alone")
    alone = contents(open_run(tmp_path / "alone"))
    root = tmp_path / "both"
    pair_of(root, sample, EXAMPLES / "healthy", beside_each_other)
    for leave in (nothing, what_people_leave):
        leave(root)
        together = found_in(root)
        assert len(together) == 2, list(together)
        assert alone in together.values()


# A resume is one run.


def halves(rows: list[dict[str, object]], at: int, overlap: int) -> tuple[list[dict[str, object]], ...]:
    return rows[: at + overlap], rows[at:]


def trained_again(row: dict[str, object]) -> dict[str, object]:
    """The same step with other noise."""
    return {key: value * 1.013 if isinstance(value, float) else value for key, value in row.items()}


RESUMES = {
    "two files in one folder": ("run/train.jsonl", "run/train_resumed.jsonl"),
    "attempts below logs": ("run/logs/attempt_1/metrics.jsonl", "run/logs/attempt_2/metrics.jsonl"),
    "attempts beside each other": ("run/attempt_1/metrics.jsonl", "run/attempt_2/metrics.jsonl"),
    "the second below the first": ("run/metrics.jsonl", "run/resumed/metrics.jsonl"),
}


@surroundings
@pytest.mark.parametrize("overlap", [0, 10])
@pytest.mark.parametrize("names", RESUMES.values(), ids=RESUMES)
def test_a_resume_is_one_run(
    tmp_path: Path, names: tuple[str, str], overlap: int, leave: Callable[[Path], None]
) -> None:
    history = json.loads((EXAMPLES / "healthy" / "trainer_state.json").read_text())["log_history"]
    logged = [row for row in history if "reward" in row]
    before, after = halves(logged, len(logged) // 2, overlap)
    after = [trained_again(row) if number < overlap else row for number, row in enumerate(after)]
    for name, rows in zip(names, (before, after), strict=True):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    leave(tmp_path)
    run = open_run(tmp_path)
    assert (run.first_step, run.last_step) == (logged[0]["step"], logged[-1]["step"])


def test_the_same_settings_go_on_and_other_settings_are_another_run(tmp_path: Path) -> None:
    history = json.loads((EXAMPLES / "healthy" / "trainer_state.json").read_text())["log_history"]
    logged = [row for row in history if "reward" in row]
    for name, rows in zip(("a", "b"), halves(logged, len(logged) // 2, 0), strict=True):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / name / "config.json").write_text('{"algo": "grpo", "learning_rate": 1e-6, "steps": 400}')
    assert len(find_runs(tmp_path).runs) == 1
    (tmp_path / "b" / "config.json").write_text('{"algo": "grpo", "learning_rate": 5e-6, "steps": 400}')
    found = find_runs(tmp_path)
    assert len(found.runs) == 2


# Other evidence and its limits.


def noisy(seed: int, count: int = 40) -> list[float]:
    return [((seed * 7919 + step * 104729) % 1009) / 1009 for step in range(1, count + 1)]


def verl_log(place: Path, values: list[float], key: str = "critic/score/mean") -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(verl_bytes([(step, {key: value}) for step, value in enumerate(values, start=1)]))


def test_a_third_log_does_not_join_two_that_differ(tmp_path: Path) -> None:
    """A console that holds a part of each is no bridge."""
    verl_log(tmp_path / "a.jsonl", noisy(1))
    verl_log(tmp_path / "b.jsonl", noisy(2))
    verl_log(tmp_path / "c.jsonl", [*noisy(1)[:34], *noisy(2)[34:]])
    assert len(find_runs(tmp_path).runs) == 2


def test_one_number_under_two_names_is_evidence_in_one_folder(tmp_path: Path) -> None:
    verl_log(tmp_path / "metrics.jsonl", noisy(1))
    lines = [f"Iteration {step} | mean_return = {value:.4f}" for step, value in enumerate(noisy(1), start=1)]
    (tmp_path / "out.log").write_text("\n".join(lines) + "\n")
    (run,) = find_runs(tmp_path).runs
    assert len(run.carriers) == 2


def test_a_hundred_runs_and_their_index_are_a_hundred_runs(tmp_path: Path) -> None:
    for seed in range(100):
        verl_log(tmp_path / f"seed{seed:03}" / "metrics.jsonl", noisy(seed))
    rows = [f"seed{seed:03},{noisy(seed)[-1]},{40}" for seed in range(100)]
    (tmp_path / "INDEX.csv").write_text("run,final_reward,n_steps\n" + "\n".join(rows) + "\n")
    assert len(find_runs(tmp_path).runs) == 100


def test_what_lies_around_a_run_that_was_left_out_is_not_the_other_s(tmp_path: Path) -> None:
    verl_log(tmp_path / "mine" / "metrics.jsonl", noisy(1))
    verl_log(tmp_path / "other" / "speed.jsonl", noisy(2), key="seconds")
    (tmp_path / "other" / "global_step_30").mkdir()
    assert open_run(tmp_path).checkpoints == ()


# The user knows better.


def test_join_and_separate_override_the_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verl_log(tmp_path / "a.jsonl", noisy(1))
    verl_log(tmp_path / "b.jsonl", noisy(1)[:30])
    assert len(find_runs(tmp_path).runs) == 1
    assert len(find_runs(tmp_path, joining="separate").runs) == 2
    verl_log(tmp_path / "b.jsonl", noisy(2))
    assert len(find_runs(tmp_path).runs) == 2
    assert len(find_runs(tmp_path, joining="join").runs) == 1
    assert main(["read", str(tmp_path)]) == 3
    assert "--join" in capsys.readouterr().err
    assert main(["read", "--join", str(tmp_path)]) == 0
    assert main(["read", "--join", "--separate", str(tmp_path)]) == 2
    assert main(["backtest", "--join", "--checks", "1", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["compare", "--json", str(tmp_path)]) == 0
    assert main(["compare", "--join", str(tmp_path)]) == 3


def test_sources_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verl_log(tmp_path / "one" / "metrics.jsonl", noisy(1))
    verl_log(tmp_path / "one" / "copy.jsonl", noisy(1))
    verl_log(tmp_path / "two" / "metrics.jsonl", noisy(2))
    assert main(["sources", "--json", str(tmp_path)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "the same at 40 of 40 steps" in told["runs"][0]["joined"][0]
    assert any("differ: critic/score/mean is the same at 0 of 40 steps" in why for why in told["kept_apart"])
    assert main(["sources", "--no-color", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "\njoined" in shown
    assert "\napart" in shown


# Links, and what is no file.


def test_links_out_of_the_folder_are_named_and_not_followed(tmp_path: Path) -> None:
    verl_log(tmp_path / "elsewhere" / "theirs" / "metrics.jsonl", noisy(2))
    verl_log(tmp_path / "run" / "metrics.jsonl", noisy(1))
    (tmp_path / "run" / "datasets").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "run" / "other.jsonl").symlink_to(tmp_path / "elsewhere" / "theirs" / "metrics.jsonl")
    (tmp_path / "run" / "root").symlink_to("/")
    run = open_run(tmp_path / "run")
    assert any("outside the folder: other.jsonl, datasets, root" in note for note in run.notes)
    (tmp_path / "link").symlink_to(tmp_path / "run")
    assert open_run(tmp_path / "link").last_step == 40  # what the user names is looked at


def test_links_that_a_journal_laid_are_followed_and_no_others(tmp_path: Path) -> None:
    journal = tmp_path / "run" / "journal.jsonl"
    journal.parent.mkdir()
    lines = [{"leadline": 1}, *({"step": step, "data": {"reward": step / 9}} for step in range(1, 9))]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    verl_log(tmp_path / "theirs" / "metrics.jsonl", noisy(2))
    (tmp_path / "states" / "actor" / "global_step_5").mkdir(parents=True)
    (tmp_path / "run" / "checkpoints").symlink_to(tmp_path / "states")
    (tmp_path / "run" / "datasets").symlink_to(tmp_path / "theirs")
    for place in (journal.parent, journal):
        run = open_run(place)
        assert [state.step for state in run.checkpoints] == [5]
        assert run.last_step == 8
    journal.rename(tmp_path / "run" / "metrics.jsonl")
    assert not open_run(tmp_path / "run").checkpoints


def test_a_checkpoint_that_was_moved_and_left_a_link_is_a_checkpoint(tmp_path: Path) -> None:
    rows = [(step, {"reward": value}) for step, value in enumerate(noisy(1), start=1)]
    kept = tmp_path / "scratch" / "kept"
    kept.mkdir(parents=True)
    (kept / "trainer_state.json").write_bytes(trl_bytes(rows[:20]))
    (kept / "model.safetensors").touch()
    verl_log(tmp_path / "run" / "metrics.jsonl", noisy(1))
    (tmp_path / "run" / "checkpoint-20").symlink_to(kept)
    assert [(state.step, state.complete) for state in open_run(tmp_path / "run").checkpoints] == [(20, True)]


def test_pipes_and_devices_in_a_folder_are_not_opened(tmp_path: Path) -> None:
    verl_log(tmp_path / "metrics.jsonl", noisy(1))
    os.mkfifo(tmp_path / "console.log")
    (tmp_path / "zero.log").symlink_to("/dev/zero")
    assert open_run(tmp_path).last_step == 40


@pytest.mark.parametrize("place", ["/proc", "/sys", "/dev/zero", "/proc/self/status"])
def test_what_the_system_shows_is_no_run(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    if not Path(place).exists():
        pytest.skip("no such place on this system")
    assert main(["read", place]) == 3
    assert "is not a regular file" in capsys.readouterr().err


def test_a_named_pipe_is_refused_without_waiting_for_a_writer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for verb in ("read", "sources"):
        assert main([verb, str(tmp_path / "pipe")]) == 3
        assert "- for standard input" in capsys.readouterr().err


@pytest.mark.parametrize("same", [True, False])
def test_a_console_that_rounds_to_few_digits_is_of_the_run_whose_numbers_it_rounds(tmp_path: Path, same: bool) -> None:
    losses = [(step * 37 % 19 - 9) * 7.3e-5 for step in range(1, 31)]
    printed = losses if same else [(step * 11 % 19 - 9) * 7.3e-5 for step in range(1, 31)]
    table = "".join(f"{step},{loss!r},0.5{step}\n" for step, loss in enumerate(losses, 1))
    (tmp_path / "metrics.csv").write_text("iteration,loss,mean_reward\n" + table)
    lines = "".join(f"[Iter {step}] loss={loss:.4f} batch_acc=0.{step + 10}\n" for step, loss in enumerate(printed, 1))
    (tmp_path / "console.log").write_text(lines)
    assert len(find_runs(tmp_path).runs) == (1 if same else 2)


def put_rows(file: Path, rows: Sequence[Mapping[str, object]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(rows) if file.suffix == ".json" else "".join(json.dumps(row) + "\n" for row in rows)
    file.write_text(text)


def trained(seed: int, count: int = 100) -> list[dict[str, object]]:
    draws = np.random.default_rng(seed).random((2, count))
    return [{"step": n, "reward": float(draws[0, n]), "kl": float(draws[1, n])} for n in range(count)]


def evaluated(seed: int, nth: int = 20) -> list[dict[str, object]]:
    draws = np.random.default_rng(100 + seed).random(100)
    return [{"step": n, "reward": float(draws[n])} for n in range(0, 100, nth)]


@pytest.mark.parametrize("name", ["eval_history.json", "validation_metrics.jsonl", "gsm8k.jsonl", "probes.jsonl"])
def test_evaluations_beside_a_log_are_of_its_run(tmp_path: Path, name: str) -> None:
    put_rows(tmp_path / "metrics.jsonl", trained(1))
    put_rows(tmp_path / name, evaluated(1))
    run = open_run(tmp_path)
    reward, held_out = run.get("reward/mean"), run.get("eval/reward/mean")
    assert reward is not None
    assert held_out is not None
    assert (reward.points, held_out.points) == (100, 5)
    assert held_out.values[0] == evaluated(1)[0]["reward"]


def test_two_files_of_evaluations_are_two_sets_of_problems(tmp_path: Path) -> None:
    put_rows(tmp_path / "metrics.jsonl", trained(1))
    put_rows(tmp_path / "eval_math.jsonl", evaluated(1))
    put_rows(tmp_path / "eval_code.jsonl", evaluated(2))
    run = open_run(tmp_path)
    assert {one.name for one in run.series if one.name.startswith("eval/")} == {
        "eval/math/reward/mean",
        "eval/code/reward/mean",
    }


def test_evaluations_of_several_runs_in_one_folder_go_by_their_names(tmp_path: Path) -> None:
    for seed in (1, 2):
        put_rows(tmp_path / f"seed{seed}_train.jsonl", trained(seed))
        put_rows(tmp_path / f"seed{seed}_eval.jsonl", evaluated(seed))
    runs = list(open_runs(tmp_path))
    assert [held.points for run in runs if (held := run.get("eval/reward/mean")) is not None] == [5, 5]


def test_a_seed_that_ended_early_is_no_evaluation(tmp_path: Path) -> None:
    put_rows(tmp_path / "a.jsonl", trained(1))
    put_rows(tmp_path / "b.jsonl", trained(2, 20))
    assert len(list(open_runs(tmp_path))) == 2


def test_many_logs_whose_names_differ_by_a_number_are_many_runs(tmp_path: Path) -> None:
    for seed in range(103):
        put_rows(tmp_path / f"run_{seed:03}.jsonl", trained(seed, 12))
    assert len(find_runs(tmp_path).runs) == 103


def test_complete_attempts_in_one_file_are_runs_and_two_are_a_restart(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    for count in (2, 3):
        told = []
        for n in range(count):
            rows = [f"step {row['step']} reward {row['reward']:.4f} kl {row['kl']:.4f}\n" for row in trained(n, 30)]
            told += [f">>> Starting Run {n}\n", *rows]
        log.write_text("".join(told))
        assert len(find_runs(log).runs) == (1 if count < 3 else 3)
    reward = open_run(f"{log}#run2").get("reward/mean")
    assert reward is not None
    assert reward.points == 30


def test_sources_shows_what_files_are_and_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put_rows(tmp_path / "metrics.jsonl", trained(1))
    put_rows(tmp_path / "eval.jsonl", evaluated(1))
    assert main(["sources", str(tmp_path), "--no-color"]) == 0
    shown = capsys.readouterr().out
    assert "its name says" in " ".join(shown.split())


def test_equal_evaluations_do_not_make_two_seeds_one_run(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        put_rows(tmp_path / f"seed{seed}" / "metrics.jsonl", trained(seed))
        put_rows(tmp_path / f"seed{seed}" / "eval.jsonl", evaluated(7, 5))
    runs = list(open_runs(tmp_path))
    assert [held.points for run in runs if (held := run.get("eval/reward/mean")) is not None] == [20, 20, 20]


def test_a_schedule_that_two_logs_share_does_not_make_them_one_run(tmp_path: Path) -> None:
    rates = [0.1, 0.2, 0.3, 0.3, 0.2, 0.1]
    rows = [{"step": step, "reward": 0, "learning_rate": rate} for step, rate in enumerate(rates)]
    for name in ("const", "adaptive"):
        (tmp_path / f"log_{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert len(find_runs(tmp_path).runs) == 2


def test_seeds_in_names_keep_equal_logs_apart(tmp_path: Path) -> None:
    rows = "".join(json.dumps({"step": step, "reward": step % 5 / 7, "kl": 0.1}) + "\n" for step in range(20))
    for seed in (1, 2):
        (tmp_path / f"log_seed{seed}.jsonl").write_text(rows)
    assert len(find_runs(tmp_path).runs) == 2


def test_what_lies_beside_a_log_of_another_training_is_no_part_of_it(tmp_path: Path) -> None:
    def lines(form: str, every: int) -> str:
        return "".join(form.format(i=step, r=step % 7 / 9, z=0.001 * (step % 50 == 0)) for step in range(0, 400, every))

    (tmp_path / "grpo.log").write_text(lines("Epoch:[1/1]({i}/400), Reward: {r:.4f}, Actor Loss: {z:.4f}\n", 1))
    (tmp_path / "pretrain.log").write_text(lines("Epoch:[1/1]({i}/400), loss: {i}.5, aux_loss: 0.0000, lr: 0.1\n", 1))
    (tmp_path / "dpo.log").write_text(lines("Epoch:[1/1]({i}/400), dpo_loss: 0.{i}, lr: 0.1\n", 20))
    (tmp_path / "best_metrics.json").write_text(json.dumps({"avg_reward": 0.9, "loss": 0.1}))
    (found,) = find_runs(tmp_path).runs
    assert [carrier.path.name for carrier in found.carriers] == ["grpo.log"]
