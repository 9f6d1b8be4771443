"""Which series moved first."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from simulated import noise

from leadline.facts.finding import Facts, Finding
from leadline.findings.timeline_order import detect_among
from leadline.reading.view import View
from leadline.run import Event, Run, Series

COUNT = 300
FALL = Finding("reward.declining", 0.97, "critical", Facts(), 150)


def moving(name: str, at: int | None, seed: int, ramp: int = 10, size: float = 10.0, every: int = 1) -> Series:
    steps = np.arange(1, COUNT + 1)
    course = np.clip((steps - at) / ramp, 0, 1) if at is not None else np.zeros(COUNT)
    return Series(name, name, "test", steps * every, size * course + noise(COUNT, 0.3, seed))


def order(*series: Series, events: tuple[Event, ...] = (), found: tuple[Finding, ...] = (FALL,)) -> tuple[Finding, ...]:
    return detect_among(View(Run("here", series=series, events=events)), found)


def test_series_that_moved_apart_are_put_in_order() -> None:
    (finding,) = order(moving("reward/mean", 155, 1), moving("grad_norm", 120, 2), moving("kl/ref", 137, 3))
    assert [tier.names for tier in finding.facts.tiers] == [("grad_norm",), ("kl/ref",), ("reward/mean",)]
    assert (finding.id, finding.severity) == ("timeline.order", "note")
    assert finding.p > 0.9


def test_series_that_moved_together_are_tied() -> None:
    (finding,) = order(moving("reward/mean", 150, 1), moving("kl/ref", 150, 3))
    assert len(finding.facts.tiers) == 1


def test_dates_lie_in_their_intervals() -> None:
    (finding,) = order(moving("reward/mean", 155, 1, ramp=1), moving("entropy", 130, 2, ramp=1))
    spans = {one.signal: (one.first_step, one.last_step) for one in finding.evidence}
    assert spans["entropy"][0] - 1 <= 131 <= spans["entropy"][1] + 1
    assert spans["reward/mean"][0] - 1 <= 156 <= spans["reward/mean"][1] + 1


def test_a_series_that_held_is_not_named() -> None:
    (finding,) = order(moving("reward/mean", 155, 1), moving("grad_norm", 125, 2), moving("entropy", None, 4))
    assert all("entropy" not in tier.names for tier in finding.facts.tiers)


def test_no_tier_reaches_back_before_the_one_that_it_follows() -> None:
    slow = moving("entropy", 120, 37, ramp=60, size=0.8)
    (finding,) = order(moving("grad_norm", 138, 2), slow, moving("kl/ref", 155, 3), moving("reward/mean", 175, 1))
    assert all(before.last_step < after.first_step for before, after in pairwise(finding.facts.tiers))


def test_what_is_seldom_logged_may_have_moved_since_the_point_before() -> None:
    steps = np.arange(1, COUNT + 1)
    often = moving("grad_norm", 133, 2, ramp=1)
    seldom = Series("entropy", "e", "test", steps[::5], 10.0 * (steps[::5] > 133) + noise(COUNT // 5, 0.3, 5))
    (finding,) = order(often, seldom)
    assert len(finding.facts.tiers) == 1  # seen at step 136, and not at 131: at 134 it may have moved already


def test_an_event_takes_its_place_in_the_order() -> None:
    step = Event("learning_rate", 140, "the learning rate rises suddenly at step 140")
    (finding,) = order(moving("reward/mean", 160, 1), moving("grad_norm", 145, 2), events=(step,))
    known, *moved = finding.facts.tiers
    assert known.event.kind == "learning_rate"
    assert [tier.names for tier in moved] == [("grad_norm",), ("reward/mean",)]


def test_an_event_leads_what_may_have_moved_with_it() -> None:
    step = Event("learning_rate", 150, "the learning rate rises suddenly at step 150")
    (finding,) = order(moving("entropy", 149, 1, ramp=1), moving("grad_norm", 149, 2, ramp=1), events=(step,))
    assert [tier.names for tier in finding.facts.tiers] == [("learning rate", "entropy", "grad_norm")]


def test_without_a_serious_date_there_is_no_order() -> None:
    series = (moving("reward/mean", 155, 1), moving("grad_norm", 120, 2))
    assert order(*series, found=()) == ()
    assert order(*series, found=(Finding("reward.break", 1.0, "note", Facts(), 150),)) == ()
    assert order(*series, found=(Finding("resources.stall", 1.0, "critical", Facts(), 150),)) == ()


def test_multiplying_steps_and_values_changes_no_order() -> None:
    plain = order(moving("reward/mean", 155, 1), moving("grad_norm", 120, 2))
    far = Finding("reward.declining", 0.97, "critical", Facts(), 1500)
    scaled = [moving("reward/mean", 155, 1, every=10), moving("grad_norm", 120, 2, every=10)]
    scaled = [Series(one.name, one.key, one.kind, one.steps, 64.0 * one.values) for one in scaled]
    (again,) = order(*scaled, found=(far,))
    assert again.p == plain[0].p
    assert [one.first_step for one in again.evidence] == [10 * one.first_step for one in plain[0].evidence]
