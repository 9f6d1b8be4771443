"""What a colleague would look at next, by what was found."""

from __future__ import annotations

import pytest
from found import FACTS

from leadline.facts.finding import Beside, Facts, Finding, Knob
from leadline.facts.judgement import Judgement
from leadline.findings.reward_gamed import Gamed, ResponsesChanged, Reviewed
from leadline.findings.reward_outage import RewardOutage
from leadline.findings.signal_no_learning_signal import AllTied
from leadline.findings.stability_moved import GradientNorm
from leadline.judgement.weigh import MOST, advise
from leadline.words.verdict import KNOBS, advice_says

ALONE = Beside(frozenset(), lost=False)
SUSPECTED = [name for name, facts in FACTS.items() if facts.suspect(ALONE) is not None]  # they point at a knob


def serious(name: str, facts: Facts | None = None) -> Finding:
    return Finding(name, 0.95, "concern", facts=facts or FACTS[name])


def knobs(*findings: Finding) -> tuple[Knob, ...]:
    return tuple(advice.knob for advice in advise(findings))


def test_advice_gives_the_reason_that_its_finding_gives() -> None:
    [advice] = advise([serious("kl.destructive")])
    assert advice_says(Judgement(advice=(advice,))) == "Lower the learning rate (KL rose while reward dropped)."


def test_never_more_than_two_and_each_with_its_evidence() -> None:
    advice = advise([serious(name) for name in SUSPECTED])
    assert 0 < len(advice) <= MOST
    assert len({one.knob for one in advice}) == len(advice)
    said = advice_says(Judgement(advice=advice))
    assert all(KNOBS[one.knob] in said for one in advice)


def test_only_responses_that_changed_advise_as_a_note() -> None:
    notes = [Finding(name, 0.95, "note", facts=FACTS[name]) for name in SUSPECTED]
    assert {advice.finding for advice in advise(notes)} == {"generation.changed"}


def test_nobody_is_asked_to_read_responses_that_were_not_kept() -> None:
    unkept = ResponsesChanged((), 50, 40, 60, None, None)
    assert advise([Finding("generation.changed", 0.95, "note", facts=unkept)]) == ()


def test_nobody_has_to_read_the_responses_of_a_reward_that_fell() -> None:
    changed = Finding("generation.changed", 0.95, "note", facts=FACTS["generation.changed"])
    assert [advice.way for advice in advise([changed])] == ["review"]
    assert "review" not in [advice.way for advice in advise([serious("kl.destructive"), changed])]


@pytest.mark.parametrize(("fell", "knob"), [(True, "learning_rate"), (False, "reward_function")])
def test_a_collapse_is_not_blamed_on_the_reward_function(fell: bool, knob: Knob) -> None:
    assert knobs(serious("generation.degraded" if fell else "reward.gamed", Gamed(fell, (), 20, None, None))) == (knob,)


def test_what_follows_from_a_fall_is_no_cause_of_it() -> None:
    tied = serious("signal.no_learning_signal", AllTied("bottom", 0.0, 90))
    assert knobs(tied) == ("data",)
    assert knobs(tied, serious("kl.destructive")) == ("learning_rate",)
    shrank = serious("stability.grad_norm", GradientNorm("shrank", 1.0, 0.1, reward_lost=True))
    assert knobs(shrank) == ()


def test_answers_that_run_on_for_want_of_an_end_need_no_longer_cap() -> None:
    assert knobs(serious("generation.truncation")) == ("length_cap",)
    assert knobs(serious("generation.truncation"), serious("reward.gamed")) == ("reward_function",)


def test_a_reader_points_at_the_reward_function_and_broken_tools_do_not() -> None:
    assert knobs(serious("reward.reviewed", Reviewed("anna", 20, 90))) == ("reward_function",)
    assert knobs(serious("reward.outage", RewardOutage(90, 99, 10, 0.0, back=False))) == ("reward_function",)
    assert knobs(serious("reward.outage", RewardOutage(90, 99, 10, 0.9, back=False, tools=True))) == ()
