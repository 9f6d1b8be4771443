"""Readings of reward, KL, loss and stability on the bundled runs: what they say, and that units do not matter."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import EXAMPLES
from relations import TWINS
from topics import findings

from leadline.reading.view import View
from leadline.run import Run
from leadline.sections import kl_reward_of, policy_loss_of, reward_of
from leadline.sources import open_run


def said(run: Run) -> tuple[list[str], dict[str, float]]:
    """The words, and every probability by what it belongs to."""
    view = View(run)
    found = findings(view, "reward.", "kl.", "policy_loss.", "stability.", "signal.")
    rewards, regime, loss = reward_of(view), kl_reward_of(view), policy_loss_of(view, found)
    words = [rewards.shape, regime.regime, loss.pattern, *(f"{one.id} {one.severity}" for one in found)]
    words += [segment.regime for segment in regime.segments]
    return words, {**rewards.probabilities, "regime": regime.p or 0.0, **{one.id: one.p for one in found}}


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("until", [150, None])
def test_twins_of_bundled_runs_read_the_same(example: Path, twin: str, until: int | None) -> None:
    run = open_run(example).until(until)
    (words, probabilities), (other_words, other_probabilities) = said(run), said(TWINS[twin](run))
    assert other_words == words
    assert other_probabilities == pytest.approx(probabilities, abs=1e-6)


def test_the_healthy_run_raises_no_concern() -> None:
    words, _ = said(open_run(EXAMPLES / "healthy"))
    assert not [word for word in words if word.endswith(("concern", "critical"))]


def test_the_collapsed_run_is_told_with_its_cause() -> None:
    view = View(open_run(EXAMPLES / "collapsed"))
    told = {one.id: one for one in findings(view, "reward.", "kl.")}
    assert told["reward.break"].facts.cause.event.kind == "learning_rate"
    assert told["kl.destructive"].severity == "critical"
