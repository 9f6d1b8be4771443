"""What going on may bring and cost: chances, intervals and means that agree with each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from found import FACTS
from relations import COUNT, U, logged, ramp, rise

from leadline.facts.finding import Finding
from leadline.judgement.case import Case, case_of, gains, risk_of, upside_of
from leadline.plan import plan_of
from leadline.reading.scores import judged_in
from leadline.reading.view import View
from leadline.run import Config, Run

COURSES = {
    "rising": ramp(0, 1),
    "slowing": rise(0, 1, at=0.3),
    "flat": np.full(COUNT, 0.4),
    "fallen": np.where(U < 0.4, U / 0.4, np.maximum(1 - (U - 0.4) / 0.2, 0.1)),
}
GAMED = Finding("reward.gamed", 0.7, "concern", FACTS["reward.gamed"], 100)


def case(course: object, *findings: Finding, planned: int = 2 * COUNT) -> Case:
    run = Run("test", series=(logged("reward/mean", course, 0.05),), config=Config(planned_steps=planned))
    judged = judged_in(View(run, plan_of(run, planned)))
    assert judged is not None
    found = case_of(judged, findings)
    assert found is not None
    return found


@pytest.mark.parametrize("findings", [(), (GAMED,)], ids=["believed", "gamed"])
@pytest.mark.parametrize("name", COURSES)
def test_a_gain_a_loss_and_neither_exclude_each_other(name: str, findings: tuple[Finding, ...]) -> None:
    seen = case(COURSES[name], *findings)
    worse = risk_of(seen).p_worse
    assert worse is not None
    assert 0 <= worse <= 1 - seen.p_pays + 1e-3


@pytest.mark.parametrize("findings", [(), (GAMED,)], ids=["believed", "gamed"])
@pytest.mark.parametrize("name", COURSES)
def test_the_interval_of_the_gain_says_what_its_chance_says(name: str, findings: tuple[Finding, ...]) -> None:
    seen = case(COURSES[name], *findings)
    told, all_of_it = upside_of(seen), gains(seen)
    assert told.p90 is not None
    assert told.worth_having is not None
    assert all_of_it.weights.sum() == pytest.approx(1)
    at_least = float(all_of_it.weights[all_of_it.values >= told.worth_having].sum())
    assert at_least == pytest.approx(seen.p_pays, abs=1e-6)
    assert (told.p90 >= told.worth_having) is (seen.p_pays > 0.1)


def test_no_gain_is_told_beyond_the_ceiling() -> None:
    values = np.minimum(rise(0, 1, at=0.3) + 0.0, 1.0)
    seen = case(np.where(U > 0.5, 1.0, values))
    bounded = Case(**{**{name: getattr(seen, name) for name in seen.__slots__}, "ceiling": 1.0})
    told = upside_of(bounded)
    assert told.p90 is not None
    assert told.worth_having is not None
    assert told.p90 <= 0.1
    assert told.worth_having <= 0.1


def test_text_adds_no_risk_where_the_score_itself_tells_that_it_broke() -> None:
    broke = replace(GAMED, id="generation.degraded", facts=FACTS["generation.degraded"])
    with_text, alone = (risk_of(case(COURSES["fallen"], found)).p_worse for found in (GAMED, broke))
    assert with_text is not None
    assert alone is not None
    assert with_text > 0.7 - 1e-9
    assert alone < with_text
