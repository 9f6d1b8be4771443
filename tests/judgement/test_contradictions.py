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
from leadline.facts.finding import Finding
from leadline.facts.judgement import Advice, Horizon, Reason, ReasonKind, Risk, Verdict
from leadline.findings.policy_frozen import KlFrozen
from leadline.findings.reward_gamed import ResponsesChanged
from leadline.judgement.decide import GO_ON, STOP
from leadline.pipeline import read, read_run
from leadline.sources import open_run

LOOKS = (0.3, 0.6, 1.0)
EVERY = 12  # of our own runs; bench/contradictions.py reads them all


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


def test_hacking_whose_reward_is_gone_is_found(hacked: Reading) -> None:
    gone = replace(hacked.reward, shape="flat", trajectory=replace(hacked.reward.trajectory, start=0.9, now=0.0))
    assert "reward.gamed says that the reward rose, which stands lower" in set(
        contradictions()(replace(hacked, reward=gone))
    )


def test_a_review_of_responses_that_may_not_have_changed_is_found(hacked: Reading) -> None:
    asks = Advice("responses", "review", "they changed", "generation.changed")
    unsure = Finding("generation.changed", 0.6, "note", ResponsesChanged((), 3, 3, 3, None, None, clear=False))
    said = replace(hacked, findings=(unsure,), judgement=replace(hacked.judgement, advice=(asks,)))
    assert "asks for a review of responses that did not clearly change" in set(contradictions()(said))


def test_an_outcome_that_its_curve_denies_is_found(healthy: Reading) -> None:
    unclear = Reason("flat", 0.6, clear=False, start=0.1, level=0.5)
    said = replace(healthy, judgement=replace(healthy.judgement, reason=unclear))
    assert "cannot be told yet, above flat" in set(contradictions()(said))


def test_a_checkpoint_that_is_not_there_is_found(hacked: Reading) -> None:
    best = hacked.judgement.best_checkpoint
    assert best is not None
    said = replace(hacked.judgement, best_checkpoint=replace(best, path="nowhere/checkpoint-7", step=7))
    assert "keeps a checkpoint that is not there" in set(contradictions()(replace(hacked, judgement=said)))


@pytest.fixture(scope="module")
def healthy() -> Reading:
    return read(EXAMPLES / "healthy", until=None, charts="main")


def judged(reading: Reading, verdict: Verdict, p: float, *, planned: bool = True, kind: ReasonKind = "flat") -> Reading:
    """The reading with another verdict, chance, plan and reason; its reward has no direction."""
    horizon = Horizon(1, 0.5, 2 * (reading.run.last_step or 0), planned)
    reason = Reason(kind, start=0.1, level=0.5)
    said = replace(reading.judgement, verdict=verdict, p_continue_pays=p, horizon=horizon, reason=reason)
    return replace(reading, judgement=said, reward=replace(reading.reward, shape="noise"))


@pytest.mark.parametrize(
    ("verdict", "p", "side"),
    [
        ("continue", GO_ON - 0.01, "below"),
        ("undecided", GO_ON + 0.01, "above"),
        ("undecided", STOP - 0.01, "below"),
        ("stop", GO_ON + 0.01, "above"),
        ("roll_back", GO_ON + 0.01, "above"),
    ],
)
def test_a_verdict_that_its_own_chance_denies_is_found(healthy: Reading, verdict: Verdict, p: float, side: str) -> None:
    bar = STOP if abs(p - STOP) < abs(p - GO_ON) else GO_ON
    found = f"{verdict} at a chance that is {side} its bar"
    assert found in set(contradictions()(judged(healthy, verdict, p)))
    assert found not in set(contradictions()(judged(healthy, verdict, 2 * bar - p)))


def test_a_run_that_never_moved_and_has_no_plan_may_be_at_its_beginning(healthy: Reading) -> None:
    said = set(contradictions()(judged(healthy, "undecided", 0.01, planned=False)))
    assert not any("its bar" in what for what in said)


@pytest.mark.parametrize("denied", ["rising", "too_noisy"])
def test_a_stop_for_a_reason_to_go_on_is_found(healthy: Reading, denied: ReasonKind) -> None:
    assert f"stop because {denied}" in set(contradictions()(judged(healthy, "stop", 0.05, kind=denied)))
    assert not any("because" in what for what in contradictions()(judged(healthy, "stop", 0.05, kind="flat")))


@pytest.mark.parametrize("denied", ["flat", "no_trend", "no_signal", "ceiling"])
def test_going_on_for_a_reason_to_stop_is_found(healthy: Reading, denied: ReasonKind) -> None:
    assert f"continue because {denied}" in set(contradictions()(judged(healthy, "continue", 0.8, kind=denied)))
    assert not any("because" in what for what in contradictions()(judged(healthy, "continue", 0.8, kind="rising")))


def test_a_gain_at_a_learning_rate_of_zero_is_found(healthy: Reading) -> None:
    def told(p: float, since: int | None) -> set[str]:
        frozen = Finding(
            "policy.frozen", 1.0, "concern", since_step=since, facts=KlFrozen(None, None, None, 0.0, since)
        )
        return set(contradictions()(replace(judged(healthy, "continue", p), findings=(frozen,))))

    assert "going on pays at a learning rate of 0" in told(0.8, 60)
    assert "going on pays at a learning rate of 0" not in told(0.8, None)
    assert "going on pays at a learning rate of 0" not in told(0.01, 60)


def test_a_finished_run_that_is_told_by_numbers_it_no_longer_has_is_found(healthy: Reading) -> None:
    said = judged(healthy, "finished", 0.5)
    said = replace(said, judgement=replace(said.judgement, judged="reward/mean", ended="plan"))
    lost = replace(said.reward, trajectory=replace(said.reward.trajectory, last_number_step=100))
    assert "finished and flat, and its last values are no numbers" in set(contradictions()(replace(said, reward=lost)))
    assert not any("no numbers" in what for what in contradictions()(said))
