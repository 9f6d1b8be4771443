"""What happens to a log while it is followed: it comes late, is rotated, cut, replaced, goes on in another file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from live.growing import looks, settle, write_rows

from leadline.live.follow import NamedPath
from leadline.live.watch import Watch
from leadline.run import Series
from leadline.sources import open_run


def test_a_log_that_is_not_there_yet_is_waited_for(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    log = tmp_path / "metrics.jsonl"
    said: list[str] = []
    one = watch(log, problem=said.append)
    settle(one)
    settle(one)
    assert looks(one.store) == []
    assert len(said) == 1
    assert str(log) in said[0]
    write_rows(log, range(1, 30))
    settle(one)
    assert looks(one.store) == [(str(log), 0, 28, "first")]


def test_looks_are_due_by_the_log_and_not_by_how_it_arrives(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    """Row by row, or all at once, or by a watch that was away in between: the same looks."""
    made = {}
    for name, pieces in {"slowly": [*range(30, 53, 4), 53], "at once": [53], "twice": [42, 53]}.items():
        log = tmp_path / name / "metrics.jsonl"
        log.parent.mkdir()
        write_rows(log, range(1, 30))
        one = watch(log, state=f"{name}.db")
        settle(one)
        written = 30
        for until in pieces:
            write_rows(log, range(written, until + 1))
            written = until + 1
            if name == "twice":
                one.end()
                one.store.close()
                one = watch(log, state=f"{name}.db")
            settle(one)
        made[name] = [look[2:] for look in looks(one.store)]
    assert made["slowly"] == made["at once"] == made["twice"]
    assert [step for step, _ in made["slowly"]] == [28, 31, 35, 40, 45, 51]


def test_a_second_look_reads_only_what_was_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from leadline.sources import json_lines

    log = tmp_path / "metrics.jsonl"
    write_rows(log, range(1, 400))
    fed: list[int] = []
    make = json_lines.parser

    def parser() -> object:
        one = make()
        take = one.feed
        one.feed = lambda chunk: (fed.append(len(chunk)), take(chunk))  # type: ignore[method-assign,func-returns-value]
        return one

    monkeypatch.setattr(json_lines, "parser", parser)
    place = NamedPath(str(log))
    place.poll(force=True)
    whole = sum(fed)
    assert whole == log.stat().st_size
    write_rows(log, range(400, 405))
    (sighting,) = place.poll(force=True) or ()
    assert sighting.current == 404
    assert sum(fed) == log.stat().st_size
    place.poll(force=True)
    assert sum(fed) == log.stat().st_size


def test_logs_that_are_no_longer_needed_are_let_go(tmp_path: Path) -> None:
    """TRL keeps its whole log in every checkpoint: only the newest is held."""
    rows = [{"step": step, "reward": 0.1 * step, "kl": 0.01, "completions/mean_length": 9.0} for step in range(1, 41)]
    place = NamedPath(str(tmp_path))
    for step in range(10, 41, 10):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        state = {"global_step": step, "max_steps": 100, "log_history": rows[:step]}
        (folder / "trainer_state.json").write_text(json.dumps(state))
        (one,) = place.poll(force=True) or ()
        assert one.current == step
        assert len(place._readers._held) == 1


@pytest.mark.parametrize("whole_folder", [True, False])
def test_a_rotated_log_goes_on(tmp_path: Path, watch: Callable[..., Watch], whole_folder: bool) -> None:
    log = tmp_path / "run" / "metrics.jsonl"
    log.parent.mkdir()
    write_rows(log, range(1, 40))
    one = watch(log.parent if whole_folder else log)
    settle(one)
    log.rename(log.with_name("metrics.jsonl.1"))
    settle(one)
    write_rows(log, range(40, 60))
    settle(one)
    (watched,) = one.runs.values()
    assert watched.cursor.life == 0
    assert (watched.sighting.run.first_step, watched.sighting.run.last_step) == (1, 59)
    assert [look[1:] for look in looks(one.store)][-1] == (0, 58, "schedule")


def test_a_log_that_is_cut_and_begins_anew_is_another_life(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    log = tmp_path / "metrics.jsonl"
    write_rows(log, range(1, 40))
    one = watch(log)
    settle(one)
    log.write_bytes(b"")
    settle(one)  # nothing to be read there now
    write_rows(log, range(1, 20), seed=1)
    settle(one)
    assert [look[1:] for look in looks(one.store)] == [(0, 38, "first"), (1, 18, "first")]


def test_a_resumed_run_is_looked_at_where_it_stands(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    log = tmp_path / "metrics.jsonl"
    write_rows(log, range(1, 60))
    one = watch(log)
    settle(one)
    write_rows(log, range(40, 55), seed=3)  # back to step 40, other values
    settle(one)
    (watched,) = one.runs.values()
    assert watched.sighting.current == 54
    assert watched.cursor.life == 1  # what was said of the steps that are trained again does not hold any more
    write_rows(log, range(55, 80), seed=3)
    settle(one)
    assert [look[2] for look in looks(one.store)] == [58, 53, 58, 65, 73]


def test_a_later_attempt_in_another_file_is_the_same_run(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    write_rows(folder / "metrics_1.jsonl", range(1, 40))
    one = watch(folder)
    settle(one)
    write_rows(folder / "metrics_2.jsonl", range(38, 60))
    settle(one)
    assert len(one.runs) == 1
    assert looks(one.store)[-1][1:] == (0, 58, "schedule")


def test_several_runs_below_one_path_are_told_apart(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    for seed in (1, 2):
        (tmp_path / "runs" / f"seed{seed}").mkdir(parents=True)
        write_rows(tmp_path / "runs" / f"seed{seed}" / "metrics.jsonl", range(1, 25 * seed), seed=seed)
    one = watch(tmp_path / "runs")
    settle(one)
    assert {(Path(run).name, step) for run, _, step, _ in looks(one.store)} == {("seed1", 23), ("seed2", 48)}
    (tmp_path / "runs" / "seed3").mkdir()
    write_rows(tmp_path / "runs" / "seed3" / "metrics.jsonl", range(1, 20), seed=3)
    settle(one)
    assert {Path(run).name for run, *_ in looks(one.store)} == {"seed1", "seed2", "seed3"}


def test_a_run_keeps_its_name_when_a_second_joins_it(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    (tmp_path / "runs" / "a").mkdir(parents=True)
    write_rows(tmp_path / "runs" / "a" / "metrics.jsonl", range(1, 30))
    one = watch(tmp_path / "runs")
    settle(one)
    (tmp_path / "runs" / "b").mkdir()
    write_rows(tmp_path / "runs" / "b" / "metrics.jsonl", range(1, 30), seed=9)
    settle(one)
    assert [Path(run).name for run, *_ in looks(one.store)] == ["a", "b"]


def test_what_is_asked_for_sees_the_last_row(tmp_path: Path, watch: Callable[..., Watch]) -> None:
    log = tmp_path / "metrics.jsonl"
    write_rows(log, range(1, 40))
    one = watch(log)
    settle(one)
    one.ask()
    settle(one)
    assert [look[2:] for look in looks(one.store)] == [(38, "first"), (39, "asked")]


SAMPLES = Path(__file__).parent.parent / "sources" / "samples"
CARRIERS = [
    "text/verl.log",
    "text/trl_transformers5.log",
    "text/sb3_progress.csv",
    "text/prime_rl.jsonl",
    "text/tinker.jsonl",
    "text/own_rows.json",
    "wandb/run-sample.wandb",
    "tensorboard/events.out.tfevents.1794743186.vm.first",
    "swanlab/run-sample.swanlab",
]


@pytest.mark.parametrize("carrier", CARRIERS)
def test_whatever_carries_a_log_it_is_followed_as_it_is_read(carrier: str, tmp_path: Path) -> None:
    """Cut at any byte, what was followed piece by piece is what is read at once."""
    content = (SAMPLES / carrier).read_bytes()
    log = tmp_path / Path(carrier).name
    place = NamedPath(str(tmp_path))
    compared = 0
    for part in (0.3, 0.52, 0.77, 1.0):
        with log.open("ab") as out:
            out.write(content[out.tell() : int(part * len(content))])
        followed = place.poll(force=True)
        if place.problem is not None:
            with pytest.raises(type(place.problem), match=re.escape(place.problem.what)):
                open_run(tmp_path)
            continue
        read = open_run(tmp_path)
        assert followed is not None
        (one,) = followed
        assert [_plain(series) for series in one.run.series] == [_plain(series) for series in read.series]
        assert one.run.events == read.events
        compared += 1
    assert compared >= 1


def _plain(series: Series) -> tuple[object, ...]:
    return series.name, series.key, series.steps.tolist(), repr(series.values.tolist())
