"""Which findings count, and what they are taken to mean."""

from __future__ import annotations

import numpy as np
import pytest
from found import FACTS

from leadline.facts.finding import Facts, Finding, Severity
from leadline.findings.reward_gamed import Gamed, Reviewed
from leadline.judgement.weigh import LAG, weigh

FIRST = 1  # step of the run


def found(
    name: str, p: float = 0.9, since: int | None = 50, facts: Facts | None = None, severity: Severity = "concern"
) -> Finding:
    return Finding(name, p, severity, facts or FACTS.get(name, Facts()), since)


def proof(since: int, p: float = 0.97, reward_fell: bool = False) -> Finding:
    name = "generation.degraded" if reward_fell else "reward.gamed"
    return found(name, p, since, Gamed(reward_fell, (), since, since - 10, since + 10))


@pytest.mark.parametrize(
    ("names", "counted"),
    [
        (["reward.gamed"], True),
        (["reward.reviewed"], True),
        (["signal.train_eval_gap"], True),
        (["generation.changed"], False),  # a reader has to look
        (["generation.length", "generation.truncation", "generation.shortcut"], False),  # however many of them
        (["kl.drift_without_benefit", "stability.entropy"], False),  # KL never accuses
        (["resources.idle"], False),
    ],
)
def test_which_findings_count(names: list[str], counted: bool) -> None:
    assert (weigh([found(name) for name in names], FIRST).gamed.p > 0) is counted


def test_a_note_is_no_evidence() -> None:
    assert weigh([found("reward.gamed", severity="note")], FIRST).gamed.p == 0.0


def test_the_surest_speaks_and_the_earliest_onset_is_told() -> None:
    said = weigh([proof(90, p=0.97), found("signal.train_eval_gap", p=0.9, since=40)], FIRST)
    assert (said.gamed.p, said.gamed.since, said.gamed.since_between) == (0.97, 40, None)
    assert weigh([proof(90), found("kl.drift_without_benefit", p=1.0, since=7)], FIRST).gamed.since == 90


def test_a_decay_that_samples_show_is_dated_by_them() -> None:
    said = weigh([proof(90)], FIRST)
    assert (said.gamed.since, said.gamed.since_between) == (90, (80, 100))


@pytest.mark.parametrize(
    ("finding", "until"),
    [
        (proof(101), FIRST + LAG * 100),  # quality is lost before the text shows it
        (found("reward.reviewed", since=101, facts=Reviewed("anna", 101, 200)), 101),  # a reader's date is exact
        (found("signal.train_eval_gap", since=101), 101),
        (found("reward.gamed", since=None), FIRST),
    ],
)
def test_the_score_counts_until_a_share_of_the_onset_of_proof_or_to_the_step_a_reader_names(
    finding: Finding, until: float
) -> None:
    assert weigh([finding], FIRST).counts_until == until
    assert weigh([finding, found("signal.train_eval_gap", since=31)], FIRST).counts_until == min(until, 31)


def test_what_is_lost_by_now_was_lost_evenly_since_the_score_stopped_counting() -> None:
    said = weigh([proof(101)], FIRST)
    assert said.counts_until is not None
    half = (said.counts_until + 151.0) / 2
    assert said.gone(np.asarray([1.0, said.counts_until, half, 151.0]), 151.0).tolist() == [0.0, 0.0, 0.5, 1.0]


def test_without_evidence_all_of_it_counts() -> None:
    said = weigh([], FIRST)
    assert (said.gamed.p, said.gamed.since, said.counts_until) == (0.0, None, None)
    assert said.gone(np.asarray([1.0, 100.0]), 100.0).tolist() == [0.0, 0.0]


def test_a_lost_signal_or_a_lost_reward_is_not_gamed() -> None:
    said = weigh([found("signal.no_learning_signal"), found("reward.peaked")], FIRST)
    assert (said.gamed.p, said.gamed.since) == (0.0, None)
    assert (said.no_signal.p, said.lost.p) == (0.9, 0.9)


def test_a_reward_that_fell_with_the_text_is_a_fall_and_a_reader_is_not_overruled_by_it() -> None:
    fell = proof(90, reward_fell=True)
    assert weigh([fell], FIRST).p_fell_with_the_text(0.8) == 0.8
    assert weigh([proof(90)], FIRST).p_fell_with_the_text(0.8) == 0.0
    assert weigh([fell, found("reward.reviewed", facts=Reviewed("", 50, 90))], FIRST).p_fell_with_the_text(0.8) == 0.0
