"""A live look says what `leadline read --until` says at the same step, to the byte. What is drawn is not kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from live.growing import Growing, settle

from leadline.cli import verbs
from leadline.live.watch import Watch
from leadline.report.data import dump

FROM = {"healthy": 0.8, "collapsed": 0.78, "hacked": 0.85}  # share of the log at which the watch begins


@pytest.mark.parametrize("name", FROM)
def test_live_looks_equal_readings_of_the_finished_run(
    name: str, root: Path, tmp_path: Path, watch: Callable[..., Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    growing = Growing(root / "leadline" / "examples" / name, Path("run"))
    begin = int(FROM[name] * len(growing))
    growing.grow(begin)
    one = watch("run")
    settle(one)
    for rows in range(begin, len(growing), 23):
        growing.grow(rows, torn=rows % 40)
        settle(one)
    growing.grow(len(growing))
    settle(one)
    (number,) = one.store.names().values()
    made = one.store.looks(number)
    assert len(made) >= 3
    assert {look.why for look in made} >= {"first", "schedule"}
    for look in made:
        read = CliRunner().invoke(verbs, ["read", "run", "--json", "--until", str(look.step)])
        assert read.exit_code == 0
        said, kept = json.loads(read.stdout), json.loads(look.reading)
        assert said["chart_data"]["charts"]
        assert kept["chart_data"]["charts"] == []  # it can be drawn again from the log
        assert look.reading.decode() == dump({**said, "chart_data": kept["chart_data"]})
