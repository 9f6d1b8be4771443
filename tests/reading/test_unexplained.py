"""What fits no story is said as it is."""

from __future__ import annotations

import numpy as np
from simulated import noise

from leadline.facts import Facts, Finding
from leadline.reading import View
from leadline.reading.unexplained import read
from leadline.run import Event, Run, Series

COUNT = 300
STEPS = np.arange(1, COUNT + 1)
FALL = Finding("reward.declining", 0.95, "concern", Facts(), 150)


def series(name: str, course: object, seed: int) -> Series:
    return Series(name, name, "test", STEPS, np.asarray(course, dtype=np.float64) + 0.3 * noise(COUNT, 0.3, seed))


def ids(run: Run, found: tuple[Finding, ...]) -> list[str]:
    return [finding.id for finding in read(View(run), found)]


def contradictions(*logged: Series, unread: tuple[Series, ...] = ()) -> list[Finding]:
    found = read(View(Run("here", series=logged, unread=unread)), (FALL,))
    return [finding for finding in found if finding.id == "unexplained.contradiction"]


FALLING = series("reward/mean", -5 * np.clip((STEPS - 150) / 100, 0, 1), 1)
HELD = [series(name, 2.0, seed) for seed, name in enumerate(("kl/ref", "len/response_mean", "entropy"), 2)]


def test_reward_that_fell_while_all_else_held_fits_no_story() -> None:
    (finding,) = read(View(Run("here", series=(FALLING, *HELD))), (FALL,))
    assert finding.id == "unexplained.contradiction"
    assert finding.facts.held == ("kl/ref", "len/response_mean", "entropy")


def test_reward_that_fell_while_kl_rose_is_an_old_story() -> None:
    rising = series("kl/ref", 5 * np.clip((STEPS - 140) / 100, 0, 1), 9)
    assert ids(Run("here", series=(FALLING, rising, *HELD[1:])), (FALL,)) == []


def test_what_a_short_curve_misses_and_everybody_sees_is_not_said_to_have_held() -> None:
    steps = np.arange(1, 18)
    fall = Finding("reward.declining", 0.9, "critical", Facts(), 3)
    courses = {
        "reward/mean": np.linspace(0.9, 0.01, 17),
        "kl/ref": np.exp(np.linspace(0, 12, 17)),
        "entropy": np.linspace(0.06, 0.16, 17),
        "len/response_mean": np.linspace(16, 9, 17),
    }
    made = [
        Series(name, name, "test", steps, values * (1 + 0.03 * noise(17, 0.0, seed)))
        for seed, (name, values) in enumerate(courses.items())
    ]
    found = read(View(Run("here", series=tuple(made))), (fall,))
    assert "unexplained.contradiction" not in {finding.id for finding in found}


def test_one_witness_alone_proves_nothing() -> None:
    assert ids(Run("here", series=(FALLING, HELD[0])), (FALL,)) == []


def test_a_break_without_a_cause_is_said() -> None:
    jumped = series("entropy", 6.0 * (STEPS > 200), 5)
    (finding,) = read(View(Run("here", series=(jumped,))), ())
    assert (finding.id, finding.severity) == ("unexplained.break", "note")
    assert finding.since_step is not None
    assert abs(finding.since_step - 201) <= 5


def test_a_break_at_an_event_is_explained() -> None:
    jumped = series("entropy", 6.0 * (STEPS > 200), 5)
    step = Event("learning_rate", 200, "the learning rate rises suddenly at step 200")
    assert ids(Run("here", series=(jumped,), events=(step,)), ()) == []


def test_a_break_that_a_finding_speaks_of_is_not_said_twice() -> None:
    jumped = series("entropy", 6.0 * (STEPS > 200), 5)
    told = Finding("stability.entropy", 0.9, "concern", Facts(), 200)
    assert ids(Run("here", series=(jumped,)), (told,)) == []


def test_a_key_nobody_understands_that_shifts_with_a_finding_is_named() -> None:
    odd, calm = series("my/odd", 6.0 * (STEPS > 150), 6), series("my/calm", 0.0, 7)
    (finding,) = read(View(Run("here", unread=(odd, calm))), (FALL,))
    assert finding.id == "unexplained.unread_key"
    assert finding.facts.keys == ("my/odd",)
    assert finding.facts.more == 0


def test_keys_are_left_alone_where_nothing_was_found() -> None:
    assert ids(Run("here", unread=(series("my/odd", 6.0 * (STEPS > 150), 6),)), ()) == []


def test_entropy_that_collapsed_before_is_not_said_to_have_held() -> None:
    collapsed = series("entropy", np.where(STEPS < 20, 30.0, 0.0), 4)
    (finding,) = contradictions(FALLING, HELD[0], HELD[1], collapsed)
    assert "entropy" not in finding.facts.held
    assert not contradictions(FALLING, HELD[0], collapsed)


def test_what_else_shifts_where_the_reward_falls_is_named() -> None:
    odd = series("my/odd", np.where(STEPS < 150, 0.0, 9.0), 7)
    (finding,) = contradictions(FALLING, *HELD, unread=(odd,))
    assert finding.facts.shifted == ("my/odd",)
