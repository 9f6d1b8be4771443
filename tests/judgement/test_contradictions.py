"""Nothing that one reading says may deny another thing it says: asked of runs that lie in the repository, at moments
people read them. `python bench/first_lines.py` asks all runs at hand."""

from __future__ import annotations

import importlib.util
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from conftest import EXAMPLES, ROOT

from leadline.contract import Reading
from leadline.facts.judgement import Reason, Risk
from leadline.pipeline import read, read_run
from leadline.sources import open_run

LOOKS = (0.3, 0.6, 1.0)
EVERY = 6  # of our own runs


@cache
def contradictions() -> Callable[[Reading], Iterator[str]]:
    path = ROOT / "bench" / "contradictions.py"
    spec = importlib.util.spec_from_file_location("bench_contradictions", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[Reading], Iterator[str]] = module.contradictions
    return found


def at_every_look(folder: Path) -> Iterator[tuple[str, Reading]]:
    run = open_run(folder)
    first, last = run.first_step or 0, run.last_step or 0
    for share in LOOKS:
        step = last if share == 1 else round(first + share * (last - first))
        yield f"{folder.name}@{share}", read_run(run.until(step), budget=last, charts="main")


def test_bundled_runs_deny_nothing_they_say(example: Path) -> None:
    assert {look: found for look, reading in at_every_look(example) if (found := set(contradictions()(reading)))} == {}


@pytest.fixture(scope="module")
def own_runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Some of the runs packed in bench/own_zoo.tar.xz."""
    place = tmp_path_factory.mktemp("own")
    with tarfile.open(ROOT / "bench" / "own_zoo.tar.xz") as packed:
        members = packed.getmembers()
        names = sorted({member.name.split("/")[1] for member in members if member.name.count("/") > 1})[::EVERY]
        wanted = [member for member in members if member.name.split("/")[1:2] and member.name.split("/")[1] in names]
        for member in wanted:
            packed.extract(member, place, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return [place / "zoo3" / name for name in names]


def test_runs_of_our_own_deny_nothing_they_say(own_runs: list[Path]) -> None:
    looks = [look for folder in own_runs for look in at_every_look(folder)]
    assert len(looks) >= 2 * len(LOOKS)
    assert {look: found for look, reading in looks if (found := set(contradictions()(reading)))} == {}


@pytest.fixture(scope="module")
def hacked() -> Reading:
    return read(EXAMPLES / "hacked", charts="main")


def test_a_step_after_the_onset_is_found(hacked: Reading) -> None:
    best = hacked.judgement.best_checkpoint
    assert best is not None
    late = replace(hacked.judgement, best_checkpoint=replace(best, step=hacked.run.last_step or 0))
    gamed = replace(late, reason=Reason("gamed", 0.99, 2, (2, 3), findings=late.reason.findings))
    assert "keeps a step after the onset" in set(contradictions()(replace(hacked, judgement=gamed)))


def test_chances_beyond_one_are_found() -> None:
    healthy = read(EXAMPLES / "healthy", until=None, charts="main")
    said = replace(healthy.judgement, p_continue_pays=0.8, risk=Risk(0.4, 0.1))
    assert "chances of a gain and of a loss beyond 1" in set(contradictions()(replace(healthy, judgement=said)))


def test_a_rise_above_a_fall_is_found() -> None:
    collapsed = read(EXAMPLES / "collapsed", charts="main")
    said = replace(collapsed.judgement, judged="reward/mean", reason=Reason("rising", start=0.1, level=0.5))
    found = set(contradictions()(replace(collapsed, judgement=said)))
    assert "rising above a finding that it fell" in found
    assert any(what.startswith("two values of reward/mean now") for what in found)


def test_a_checkpoint_that_is_not_there_is_found(hacked: Reading) -> None:
    best = hacked.judgement.best_checkpoint
    assert best is not None
    said = replace(hacked.judgement, best_checkpoint=replace(best, path="nowhere/checkpoint-7", step=7))
    assert "keeps a checkpoint that is not there" in set(contradictions()(replace(hacked, judgement=said)))
