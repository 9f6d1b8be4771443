"""Changes to a run that must not change what is said about it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path

import kept
import pytest
from conftest import EXAMPLES

from leadline.contract import Reading
from leadline.pipeline import read, read_run
from leadline.report.data import as_data
from leadline.sources import open_run

Entry = dict[str, object]


def entries(run: str) -> list[Entry]:
    if run == "collapsed":
        return [json.loads(line) for line in (EXAMPLES / run / "metrics.jsonl").read_text().splitlines()]
    history = json.loads((EXAMPLES / run / "trainer_state.json").read_text())["log_history"]
    assert isinstance(history, list)
    return history


def written(folder: Path, run: str, rows: list[Entry], *, until: int | None = None, factor: int = 1) -> Path:
    """The run with other rows; samples up to `until` come along, their steps times `factor`."""
    if run == "collapsed":
        (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        state = json.loads((EXAMPLES / run / "trainer_state.json").read_text())
        (folder / "trainer_state.json").write_text(json.dumps({**state, "log_history": rows}))
    (folder / "config.json").write_text((EXAMPLES / run / "config.json").read_text())
    (folder / "rollouts").mkdir(exist_ok=True)
    for samples in (EXAMPLES / run / "rollouts").glob("*.jsonl"):
        if until is None or int(samples.stem) <= until:
            lines = [json.loads(line) for line in samples.read_text().splitlines()] if factor != 1 else []
            text = "".join(json.dumps({**line, "step": factor * line["step"]}) + "\n" for line in lines)
            name = f"{factor * int(samples.stem)}.jsonl"
            (folder / "rollouts" / name).write_bytes(text.encode() or samples.read_bytes())
    return folder


def said(path: Path, **options: int) -> object:
    """Return what is said of a run, wherever it lies: a command to paste names its path."""
    data = as_data(read(path, **options))
    says = str(data["judgement"]["says"]).replace(shlex.quote(str(path)), "PATH")
    return {**data["judgement"], "says": says}, data["reward"], data["findings"]


@cache
def as_it_is(run: str) -> object:
    return said(EXAMPLES / run)


def decided(reading: Reading) -> tuple[object, ...]:
    """The verdict and what it rests on, less what is counted in steps or in units of the reward. A ceiling of 1 is a
    matter of the unit: without it the same run is flat."""
    judgement = reading.judgement
    kind = judgement.reason.kind
    return judgement.verdict, "flat" if kind == "ceiling" else kind, judgement.because


def shuffled_keys(row: Entry) -> Entry:
    if isinstance(row.get("data"), dict):
        return {"data": dict(reversed(row["data"].items())), "step": row["step"]}  # type: ignore[attr-defined]
    return dict(reversed(row.items()))


def with_unknown_metric(row: Entry) -> Entry:
    if isinstance(row.get("data"), dict):
        return {**row, "data": {**row["data"], "my/own/thing": 7}}  # type: ignore[dict-item]
    return {**row, "my/own/thing": 7}


TWINS: dict[str, Callable[[list[Entry]], list[Entry]]] = {
    "keys in another order": lambda rows: [shuffled_keys(row) for row in rows],
    "rows logged twice": lambda rows: [row for row in rows for _ in range(2)],
    "an unknown metric": lambda rows: [with_unknown_metric(row) for row in rows],
}


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("run", ["healthy", "collapsed", "hacked"])
def test_twin_runs_read_the_same(run: str, twin: str, tmp_path: Path) -> None:
    assert said(written(tmp_path, run, TWINS[twin](entries(run)))) == as_it_is(run)


@pytest.mark.parametrize("run", ["healthy", "collapsed", "hacked"])
def test_until_reads_like_a_run_that_ended_there(run: str, tmp_path: Path) -> None:
    k = 200
    rows = [row for row in entries(run) if int(str(row["step"])) <= k]
    assert said(EXAMPLES / run, until=k) == said(written(tmp_path, run, rows, until=k))


def test_the_same_run_reads_the_same_twice(example: Path) -> None:
    run = open_run(example)
    one = as_data(read_run(run))
    kept.forget()
    assert as_data(read_run(run)) == one


def rescaled(row: Entry, scale: float, shift: float) -> Entry:
    values: Entry = row["data"] if isinstance(row.get("data"), dict) else row  # type: ignore[assignment]
    rewards = ("reward", "eval_reward", "critic/score/mean", "rewards/reward_fn/mean")
    moved = {key: scale * float(str(values[key])) + shift for key in rewards if key in values}
    return {**row, "data": {**values, **moved}} if values is not row else {**row, **moved}


@pytest.mark.parametrize(("scale", "shift"), [(1000.0, 0.0), (0.01, 5.0)])
@pytest.mark.parametrize("run", ["healthy", "collapsed", "hacked"])
def test_the_unit_of_the_reward_does_not_matter(run: str, scale: float, shift: float, tmp_path: Path) -> None:
    one = read(EXAMPLES / run, until=300, budget=400)
    other = read(written(tmp_path, run, [rescaled(row, scale, shift) for row in entries(run)]), until=300, budget=400)
    assert other.reward.shape == one.reward.shape
    assert other.reward.peak == one.reward.peak
    assert other.reward.probabilities == pytest.approx(one.reward.probabilities, abs=1e-3)
    assert decided(other) == decided(one)


@pytest.mark.parametrize("run", ["healthy", "collapsed", "hacked"])
def test_the_unit_of_the_step_does_not_matter(run: str, tmp_path: Path) -> None:
    one = read(EXAMPLES / run, until=300, budget=400)
    longer = [{**row, "step": 10 * int(str(row["step"]))} for row in entries(run)]
    other = read(written(tmp_path, run, longer, factor=10), until=3000, budget=4000)
    assert other.reward.shape == one.reward.shape
    assert other.reward.probabilities == pytest.approx(one.reward.probabilities, abs=1e-3)
    assert decided(other) == decided(one)
