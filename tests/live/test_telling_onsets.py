"""What begins is told once; what was withdrawn may begin again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from found import found as found_by_id
from found import quoting

import leadline
from leadline.contract import Reading, RunSummary
from leadline.facts.finding import Evidence, Finding
from leadline.facts.judgement import BestCheckpoint, Judgement, Reason
from leadline.facts.sections import RewardReading
from leadline.findings.reward_gamed import ResponsesChanged
from leadline.live.onsets import new_alerts, silence
from leadline.live.records import Alert
from leadline.live.telling.message import body
from leadline.run import Rollout
from leadline.words.verdict import headline

NO_REWARD = RewardReading("undecided", {}, None)


def reading(
    step: int,
    *findings: Finding,
    verdict: str = "undecided",
    because: Sequence[str] = (),
    planned: int | None = 1000,
    best: BestCheckpoint | None = None,
) -> Reading:
    run = RunSummary("runs/a", None, None, 0, step, step, planned, (), (), (), ())
    reason, ended = Reason("flat", since_step=7, level=0.5), "plan" if step == planned else None
    judgement = Judgement(verdict, reason, 0.01, best_checkpoint=best, because=tuple(because), ended=ended)  # type: ignore[arg-type]
    return Reading(run, NO_REWARD, findings=findings, judgement=judgement)


def found(name: str = "kl.drift_without_benefit", severity: str = "concern", since: int | None = None) -> Finding:
    evidence = (Evidence("kl/ref", 10, 20),)
    return found_by_id(name, 0.93, severity, since, evidence)  # type: ignore[arg-type]


def follow(*looks: Reading) -> list[list[str]]:
    """What each look tells, by name; what is remembered goes through JSON as it does in a state file."""
    told: dict[str, object] = {}
    heard = []
    for look in looks:
        told, alerts = new_alerts(json.loads(json.dumps(told)), look, run="a")
        heard.append([f"{alert.about} {alert.severity}" for alert in alerts])
    return heard


def test_a_finding_is_told_when_it_begins_and_not_again() -> None:
    assert follow(reading(10), reading(20, found()), reading(30, found())) == [
        [],
        ["kl.drift_without_benefit concern"],
        [],
    ]


def test_a_note_is_never_told() -> None:
    assert follow(reading(10, found(severity="note"))) == [[]]


def test_a_change_that_needs_eyes_comes_with_both_samples_and_the_answer() -> None:
    old, new = Rollout(5, "2+2=", "4", 1.0), Rollout(60, "2+3=", "I am sure.", 1.0)
    facts = ResponsesChanged((), 30, 20, 40, 0.9, 25, old, new)
    changed = Finding("generation.changed", 0.95, "note", facts, 30)
    _, (alert,) = new_alerts({}, reading(60, changed), run="a")
    assert (alert.about, alert.severity, alert.onset_step) == ("generation.changed", "concern", 30)
    assert "2+2= → 4" in alert.evidence[0]
    assert "I am sure." in alert.evidence[1]
    assert alert.evidence[2] == "Answer: leadline review runs/a ok (or hacked --since STEP)"


def test_flicker_is_one_onset() -> None:
    looks = [reading(step, *([found(since=step - 5)] if step % 20 else [])) for step in range(10, 200, 10)]
    assert sum(map(len, follow(*looks))) == 1


def test_it_is_told_again_after_it_was_withdrawn_for_long_enough() -> None:
    gone = [reading(step) for step in (200, 220, 240, 260)]  # 60 steps: more than 5 % of the plan
    assert follow(reading(100, found()), *gone, reading(300, found()))[-1] == ["kl.drift_without_benefit concern"]


@pytest.mark.parametrize("steps", [(200, 240), (200,)])
def test_a_short_absence_withdraws_nothing(steps: tuple[int, ...]) -> None:
    assert follow(reading(100, found()), *map(reading, steps), reading(300, found()))[-1] == []


def test_what_becomes_critical_is_told_once_more() -> None:
    looks = [reading(10, found()), reading(20, found(severity="critical")), reading(30, found())]
    assert follow(*looks, reading(40, found(severity="critical"))) == [
        ["kl.drift_without_benefit concern"],
        ["kl.drift_without_benefit critical"],
        [],
        [],
    ]


def test_a_verdict_is_one_alert_with_its_findings_as_evidence() -> None:
    best = BestCheckpoint(80, 0.9, "checkpoints/80", True)
    look = reading(100, found(since=90), verdict="roll_back", because=["kl.drift_without_benefit"], best=best)
    _, (alert,) = new_alerts({}, look, run="a")
    assert (alert.about, alert.severity, alert.onset_step) == ("verdict.roll_back", "critical", 90)
    assert alert.says == headline(look.judgement)
    assert alert.evidence == (f"{found().say()} [kl.drift_without_benefit, 93%]",)
    assert alert.best_checkpoint == "checkpoints/80 (step 80, complete)"


def test_a_finding_says_where_it_can_be_checked() -> None:
    _, (alert,) = new_alerts({}, reading(30, found(since=12)), run="a")
    assert alert.evidence == ("kl/ref, steps 10–20",)
    assert alert.onset_step == 12


def test_who_was_told_to_stop_is_not_told_of_every_concern_that_follows() -> None:
    stop = reading(100, verdict="stop")
    later = reading(120, found(), found("reward.peaked", "critical"), verdict="stop")
    assert follow(stop, later) == [["verdict.stop concern"], ["reward.peaked critical"]]


def test_a_concern_held_back_is_told_when_the_verdict_is_withdrawn() -> None:
    assert follow(reading(100, verdict="stop"), reading(120, found(), verdict="stop"), reading(140, found())) == [
        ["verdict.stop concern"],
        [],
        ["kl.drift_without_benefit concern"],
    ]


def test_stop_and_roll_back_in_turn_are_each_told_once() -> None:
    verdicts = ("stop", "roll_back", "stop", "stop", "stop", "stop", "roll_back", "stop")
    heard = follow(*(reading(100 + 20 * place, verdict=one) for place, one in enumerate(verdicts)))
    assert [one for look in heard for one in look] == ["verdict.stop concern", "verdict.roll_back critical"]


def test_keys_are_the_same_for_the_same_onset_and_differ_otherwise() -> None:
    def keys(run: str = "a", life: int = 0) -> list[str]:
        told: dict[str, object] = {}
        all_keys = []
        for look in (reading(100, found()), *map(reading, (200, 240, 260)), reading(300, found())):
            told, alerts = new_alerts(told, look, run=run, life=life)
            all_keys += [alert.key for alert in alerts]
        return all_keys

    assert keys() == keys()
    every = [*keys(), *keys("b"), *keys(life=1)]
    assert len(set(every)) == len(every) == 6


def test_a_log_that_began_anew_has_no_history() -> None:
    told, first = new_alerts({}, reading(100, found()), run="a", life=0)
    _, second = new_alerts(told, reading(10, found()), run="a", life=1)
    assert len(first) == len(second) == 1


def test_silence_after_a_step_has_one_key() -> None:
    first, again, later = (silence("a", 660.0, step, None) for step in (7, 7, 9))
    assert first == again
    assert first.key != later.key


def test_text_from_a_log_can_neither_command_a_terminal_nor_fill_it() -> None:
    hostile = quoting("\x1b[2J\n\u202e" + "word " * 10_000)
    _, (alert,) = new_alerts({}, reading(10, hostile), run="a")
    assert alert.says.isprintable()
    assert len(alert.says) <= 400


def test_an_empty_run_tells_nothing_and_forgets_nothing() -> None:
    told, _ = new_alerts({}, reading(100, found()), run="a")
    empty = Reading(RunSummary("a", None, None, None, None, 0, None, (), (), (), ()), NO_REWARD)
    assert new_alerts(told, empty, run="a") == (told, ())


def ended(step: int, reason: Reason) -> Reading:
    """A run that is through its plan."""
    one = reading(step, verdict="finished", planned=step)
    return dataclasses.replace(one, judgement=dataclasses.replace(one.judgement, reason=reason, ended="plan"))


FELL = Reason("fallen", 0.999, 700, high=0.98, level=0.01, lost=0.99)


def test_a_run_that_ended_badly_is_told_once_and_one_that_ended_well_is_not() -> None:
    assert follow(ended(1000, Reason("ceiling", level=0.99, high=1.0))) == [[]]
    assert follow(ended(1000, FELL), ended(1000, FELL)) == [["verdict.finished critical"], []]
    _, (alert,) = new_alerts({}, ended(1000, FELL), run="a")
    assert alert.says.startswith("FINISHED, COLLAPSED")
    assert "Stop the run" not in body(alert)


def test_who_was_told_to_roll_back_is_not_told_that_the_run_ended_badly() -> None:
    assert follow(reading(900, verdict="roll_back"), ended(1000, FELL)) == [["verdict.roll_back critical"], []]


def test_a_collapse_is_told_in_one_alert_that_stands_alone(root: Path) -> None:
    look = leadline.read(root / "leadline" / "examples" / "collapsed", until=240)
    _, (alert,) = new_alerts({}, look, run="collapsed")
    assert isinstance(alert, Alert)
    assert alert.about == "verdict.roll_back"
    assert alert.says == headline(look.judgement)
    assert alert.says.startswith("ROLL BACK to step ")
    assert alert.evidence[0].startswith("Cause: ")
    assert any("learning rate" in line or "KL rose" in line for line in alert.evidence)
    assert alert.onset_step is not None
    assert 195 <= alert.onset_step <= 215
