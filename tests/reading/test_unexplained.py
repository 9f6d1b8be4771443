"""What fits no story is said as it is."""

from __future__ import annotations

import numpy as np
from simulated import noise

from leadline.facts.finding import Facts, Finding
from leadline.findings import timeline_order, unexplained_break
from leadline.reading.outage import Outage
from leadline.reading.view import View
from leadline.run import Event, Run, Series

COUNT = 300
STEPS = np.arange(1, COUNT + 1)
FALL = Finding("reward.declining", 0.95, "concern", Facts(), 150)


def series(name: str, course: object, seed: int) -> Series:
    return Series(name, name, "test", STEPS, np.asarray(course, dtype=np.float64) + 0.3 * noise(COUNT, 0.3, seed))


def read(view: View, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return (*unexplained_break.detect_among(view, found), *timeline_order.detect_among(view, found))


def ids(run: Run, found: tuple[Finding, ...]) -> list[str]:
    return [finding.id for finding in read(View(run), found)]


def test_a_break_without_a_cause_is_said() -> None:
    jumped = series("entropy", 6.0 * (STEPS > 200), 5)
    (finding,) = read(View(Run("here", series=(jumped,))), ())
    assert (finding.id, finding.severity) == ("unexplained.break", "note")
    assert finding.since_step is not None
    assert abs(finding.since_step - 201) <= 5


def test_a_break_in_a_gap_of_the_log_is_not_called_sudden() -> None:
    jumped, kept = series("entropy", 6.0 * (STEPS > 200), 5), (STEPS <= 180) | (STEPS > 220)
    gapped = Series("entropy", "entropy", "test", STEPS[kept], jumped.values[kept])
    assert ids(Run("here", series=(gapped,)), ()) == []


def test_a_break_at_an_event_is_explained() -> None:
    jumped = series("entropy", 6.0 * (STEPS > 200), 5)
    step = Event("learning_rate", 200, "the learning rate rises suddenly at step 200")
    assert ids(Run("here", series=(jumped,), events=(step,)), ()) == []


def test_a_break_at_the_end_of_an_outage_is_explained() -> None:
    run = Run("here", series=(series("entropy", 6.0 * (STEPS > 200), 5),))
    view = View(run, outages=(Outage(190, 200, 0.0, back=True),))
    assert [finding.id for finding in read(view, ())] == []


def test_a_break_that_a_finding_speaks_of_is_not_said_twice() -> None:
    jumped = series("entropy", 6.0 * (STEPS > 200), 5)
    told = Finding("stability.entropy", 0.9, "concern", Facts(), 200)
    assert ids(Run("here", series=(jumped,)), (told,)) == []
