"""The same run told by several files, and several runs told by one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from conftest import verl_bytes
from sources.test_tensorboard import field
from sources.test_wandb_file import framed, history

from leadline.cli import main
from leadline.errors import NothingReadable, NotOneRun
from leadline.run import Series
from leadline.sources import find_runs, open_run, open_runs
from leadline.sources.roles import Carrier
from leadline.sources.same_run import group, on_one_clock
from leadline.sources.source import Log
from leadline.sources.table import Table

STEPS = 12


def rewards(seed: int, count: int = STEPS) -> list[float]:
    return np.random.default_rng(seed).normal(0.5, 0.1, count).tolist()


def reward_of(place: Path | str) -> dict[int, float]:
    series = open_run(place).get("reward/mean")
    assert series is not None
    return dict(zip(series.steps.tolist(), series.values.tolist(), strict=True))


# A tracker's own copy of what was printed.


def wandb_run(folder: Path, logged: Mapping[int, float], printed: Mapping[int, float]) -> Path:
    """A W&B run of TRL. What was printed says the same to four digits, misnumbered as its owner's terminal makes it."""
    (folder / "files").mkdir(parents=True)
    records = [
        history({"train/reward": value, "train/completions/mean_length": 9, "train/global_step": step, "_step": step})
        for step, value in logged.items()
    ]
    (folder / "run-abc.wandb").write_bytes(framed([*records, field(18, 2, b"")]))
    lines = [f" 10%|#    | {step}/40 [00:00<00:02,  2.2it/s]\n{_printed(value)}" for step, value in printed.items()]
    (folder / "files" / "output.log").write_text("\n".join(lines) + "\n")
    return folder


def _printed(value: float) -> str:
    return str(
        {"loss": 0.1, "reward": round(value, 4), "completions/mean_length": 9, "learning_rate": 1e-6, "epoch": 1}
    )


def test_a_tracker_s_copy_of_the_console_adds_nothing_to_what_was_logged(tmp_path: Path) -> None:
    logged = dict(enumerate(rewards(1), start=1))
    misnumbered = {**{step: logged[step] for step in (1, 3, 5)}, 4: 0.9, 2: 0.8}  # goes back: it looks resumed
    wandb_run(tmp_path / "wandb" / "run-1-abc", logged, misnumbered)
    assert reward_of(tmp_path) == logged
    assert open_run(tmp_path).events == ()
    (found,) = find_runs(tmp_path).runs
    assert sorted(carrier.source for carrier in found.carriers) == ["console", "wandb"]  # it is still shown


def test_it_stands_in_for_rows_that_were_not_logged(tmp_path: Path) -> None:
    whole = dict(enumerate(rewards(1), start=1))
    early = {step: value for step, value in whole.items() if step <= 8}
    wandb_run(tmp_path / "wandb" / "run-1-abc", early, whole)
    assert reward_of(tmp_path) == early | {step: round(value, 4) for step, value in whole.items() if step > 8}


def test_alone_it_is_a_log_like_any_other(tmp_path: Path) -> None:
    wandb_run(tmp_path / "run", {}, dict(enumerate(rewards(1), start=1)))
    assert len(reward_of(tmp_path)) == STEPS


# Tune keeps the same results three times.


def tune_trial(folder: Path) -> list[dict[str, object]]:
    folder.mkdir(parents=True)
    results = [
        {"training_iteration": k, "timesteps_total": 4000 * k, "env_runners": {"episode_return_mean": value}}
        for k, value in enumerate(rewards(3), start=1)
    ]
    (folder / "result.json").write_text("".join(json.dumps(one) + "\n" for one in results))
    return results


def test_the_exact_files_of_a_trial_are_read_beside_its_event_file(tmp_path: Path) -> None:
    """The writers' tests do the same with what Tune itself writes."""
    events = Path(__file__).parent / "samples" / "tensorboard"
    tune_trial(tmp_path / "trial")
    for file in events.iterdir():
        (tmp_path / "trial" / file.name).write_bytes(file.read_bytes())
    sources = {carrier.source for run in find_runs(tmp_path / "trial").runs for carrier in run.carriers}
    assert {"jsonl", "tensorboard"} <= sources


def carrier(name: str, steps: list[int], values: list[float], **more: object) -> Carrier:
    table = Table()
    for step, value in zip(steps, values, strict=True):
        table.add(step, {name: value})
    return Carrier("any", Path("/runs/trial") / name.replace("/", "_"), Log(table, **more), 0.0)  # type: ignore[arg-type]


def test_the_same_numbers_by_another_clock_are_the_same_run_read_once() -> None:
    values = rewards(3)
    exact = carrier("env_runners/episode_return_mean", list(range(1, STEPS + 1)), values)
    rounded = carrier(
        "ray/tune/env_runners/episode_return_mean",
        [4000 * k for k in range(1, STEPS + 1)],
        [float(np.float32(value)) for value in values],
        trust="rounded",
    )
    assert len(group([rounded, exact])[0]) == 1
    assert on_one_clock([rounded, exact]) == [exact]
    other = carrier("ray/tune/env_runners/episode_return_mean", [4000 * k for k in range(1, STEPS + 1)], rewards(4))
    assert on_one_clock([other, exact]) == [other, exact]


# Several runs in one database.


def trackio(place: Path, runs: Mapping[tuple[str, str], list[float]]) -> Path:
    with sqlite3.connect(place) as writer:
        writer.execute(
            "CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_id TEXT, run_name TEXT, timestamp TEXT, step INTEGER,"
            " metrics TEXT)"
        )
        for (run, name), values in runs.items():
            for step, value in enumerate(values, start=1):
                logged = json.dumps({"critic/score/mean": value, "actor/pg_loss": 0.1})
                row = (run, name, "2026-11-15T11:37:28+00:00", step, logged)
                writer.execute("INSERT INTO metrics VALUES (NULL, ?, ?, ?, ?, ?)", row)
    writer.close()
    return place


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two runs that often earn the same reward, since there are three to earn."""
    values = {seed: [round(2 * value) / 2 for value in rewards(seed, 30)] for seed in (1, 2)}
    return trackio(tmp_path / "project.db", {("aaa", "seed1"): values[1], ("bbb", "seed2"): values[2]})


def test_the_runs_of_a_database_are_listed(project: Path) -> None:
    with pytest.raises(NotOneRun) as refused:
        open_run(project)
    assert "contains 2 runs: project.db#seed1 (steps 1–30), project.db#seed2 (steps 1–30)" in refused.value.what
    assert f"{project}#seed1" in refused.value.next_step


@pytest.mark.parametrize(("chosen", "seed"), [("seed1", 1), ("seed2", 2), ("aaa", 1), ("bbb", 2)])
def test_one_is_chosen_by_its_name_or_id(chosen: str, seed: int, project: Path) -> None:
    expected = [round(2 * value) / 2 for value in rewards(seed, 30)]
    assert list(reward_of(f"{project}#{chosen}").values()) == expected


@pytest.mark.parametrize("place", ["project.db", ""])
def test_all_runs_of_a_database_are_read(place: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened = [run.path for run in open_runs(project.parent / place)]
    assert opened == [f"{project}#seed1", f"{project}#seed2"]
    assert main(["read", "--all", "--json", str(project.parent / place)]) == 0
    read = [json.loads(line)["run"]["path"] for line in capsys.readouterr().out.splitlines()]
    assert read == opened


def test_a_run_that_is_not_there_is_said_with_those_that_are(project: Path) -> None:
    with pytest.raises(NothingReadable, match="no run seed9") as refused:
        open_run(f"{project}#seed9")
    assert refused.value.next_step == "name one after the #: seed1, seed2."


def test_runs_of_one_name_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    place = trackio(tmp_path / "p.db", {("aaa", "grpo"): rewards(1), ("bbb", "grpo"): rewards(2)})
    assert [run.name for run in find_runs(place).runs] == ["p.db#aaa", "p.db#bbb"]
    assert list(reward_of(f"{place}#bbb").values()) == rewards(2)
    with pytest.raises(NotOneRun, match="2 runs called grpo") as refused:
        open_run(f"{place}#grpo")
    assert "bbb" in refused.value.tried


def test_a_name_may_hold_the_mark_that_parts_it_from_the_path(tmp_path: Path) -> None:
    place = trackio(tmp_path / "p#1.db", {("aaa", "run #1"): rewards(1), ("bbb", "run #2"): rewards(2)})
    assert list(reward_of(f"{place}#run #2").values()) == rewards(2)


def test_one_run_of_a_folder_is_chosen_with_what_lies_around_it(tmp_path: Path) -> None:
    for seed in (1, 2):
        folder = tmp_path / f"seed{seed}"
        (folder / f"global_step_{seed}").mkdir(parents=True)
        rows = [(step, {"critic/score/mean": value}) for step, value in enumerate(rewards(seed), start=1)]
        (folder / "metrics.jsonl").write_bytes(verl_bytes(rows))
    run = open_run(f"{tmp_path}#seed2")
    assert [state.step for state in run.checkpoints] == [2]


def test_event_folders_of_the_same_name_are_not_one_run(tmp_path: Path) -> None:
    """Their names are the folder's, and prove nothing."""
    logs = [carrier("reward", list(range(STEPS)), rewards(seed), label="tb", trust="rounded") for seed in (1, 2)]
    apart = [Carrier("tensorboard", tmp_path / f"seed{n}" / "tb", one.log, 0.0) for n, one in enumerate(logs)]
    assert len(group(apart)[0]) == 2


# Samples are no run.


def samples(place: Path, step: int) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    lines = [{"input": "2 + 2 = ?", "output": "4", "score": 1.0, "step": step, "acc": 1.0} for _ in range(4)]
    place.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return place


def test_a_file_of_samples_is_called_that(tmp_path: Path) -> None:
    for place in (samples(tmp_path / "rollouts" / "40.jsonl", 40), tmp_path / "rollouts"):
        with pytest.raises(NothingReadable, match=r"sampled responses of step 40 \(verl\), but no training log"):
            open_run(place)


def test_a_log_that_is_named_like_samples_is_a_log(tmp_path: Path) -> None:
    (tmp_path / "40.jsonl").write_bytes(verl_bytes([(step, {"critic/score/mean": 0.1 * step}) for step in (1, 2, 3)]))
    assert len(reward_of(tmp_path / "40.jsonl")) == 3


# How many rows there were.


def test_rows_are_counted_beside_the_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(step, {"critic/score/mean": 0.1 * step}) for step in (1, 2, 3, 2, 3, 4)]
    (tmp_path / "metrics.jsonl").write_bytes(verl_bytes(rows))
    reward = open_run(tmp_path).get("reward/mean")
    assert reward is not None
    assert (reward.points, reward.rows, reward.repeats.tolist()) == (4, 6, [2, 3])
    cut = reward.until(2)
    assert (cut.points, cut.rows) == (2, 3)
    assert main(["read", "--json", str(tmp_path)]) == 0
    signal = json.loads(capsys.readouterr().out)["run"]["signals"]["reward/mean"]
    assert (signal["points"], signal["rows"]) == (4, 6)


def test_a_copy_of_a_log_does_not_double_its_rows(tmp_path: Path) -> None:
    rows = [(step, {"critic/score/mean": value}) for step, value in enumerate(rewards(1), start=1)]
    for name in ("metrics.jsonl", "copy.jsonl"):
        (tmp_path / name).write_bytes(verl_bytes(rows))
    reward = open_run(tmp_path).get("reward/mean")
    assert isinstance(reward, Series)
    assert (reward.points, reward.rows) == (STEPS, STEPS)


def test_what_a_kill_left_of_a_file_that_was_to_be_replaced_is_no_log(tmp_path: Path) -> None:
    rows = [{"step": step, "reward": value} for step, value in enumerate(rewards(1), 1)]
    whole = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "metrics.jsonl").write_text(whole)
    (tmp_path / ".metrics.jsonl.0a1b2c3d.part").write_text(whole.replace("0.", "7."))
    assert [place.path.name for place in find_runs(tmp_path).only().used] == ["metrics.jsonl"]
    assert reward_of(tmp_path) == reward_of(tmp_path / "metrics.jsonl")
