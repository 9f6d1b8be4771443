"""Which findings count, and what they are taken to mean."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from conftest import EXAMPLES

import leadline.audit
import leadline.reading
from leadline.evidence import GamedEvidence
from leadline.facts import Facts, Finding
from leadline.judgement.evidence import WEIGHTS, weigh
from leadline.pipeline import view_of
from leadline.reading.gamed import evidence_of
from leadline.sources import open_run


@pytest.fixture(scope="module")
def hacked() -> GamedEvidence:
    return evidence_of(view_of(open_run(EXAMPLES / "hacked")))


def found(name: str, p: float = 0.9, since: int | None = 50) -> Finding:
    return Finding(name, p, "concern", Facts(), since)


@pytest.mark.parametrize(
    ("names", "counted"),
    [
        (["reward.gamed"], True),
        (["generation.diversity"], False),  # few answers may be possible; `reward.gamed` weighs likeness with care
        (["generation.diversity", "generation.coherence"], True),
        (["generation.coherence"], False),  # it may be a better style
        (["generation.coherence", "generation.shortcut"], False),  # made from the first, it is no second one
        (["generation.coherence", "generation.truncation"], True),
        (["generation.truncation"], False),
        (["kl.drift_without_benefit", "generation.shortcut"], True),
        (["resources.idle", "generation.truncation"], False),  # not in the table
    ],
)
def test_which_findings_count(names: list[str], counted: bool) -> None:
    assert (weigh([found(name) for name in names]).p_gamed > 0) is counted


def test_the_onset_is_the_earliest_that_a_counted_finding_names() -> None:
    said = weigh([found("generation.diversity", since=90), found("generation.coherence", since=40)])
    assert said.onset == 40
    assert said.p_gamed == 0.9


def test_a_decay_that_samples_show_is_dated_by_them(hacked: GamedEvidence) -> None:
    """The step to keep comes from what they show; two dates for one decay would contradict each other."""
    assert hacked.begun is not None
    p = round(hacked.p, 4)
    earlier = found("generation.coherence", p=p, since=1)
    later = found("generation.diversity", p=p, since=hacked.begun.step + 50)
    said = weigh([found("reward.gamed", p=p), earlier, later], hacked)
    assert said.onset == hacked.begun.step
    assert said.onset_between == (hacked.begun.low, hacked.begun.high)
    drift = found("kl.drift_without_benefit", p=1.0, since=7)
    assert weigh([found("reward.gamed", p=p), drift], hacked).onset == hacked.begun.step
    unsure = weigh([drift], replace(hacked, p=0.3))
    assert (unsure.onset, unsure.onset_between) == (7, None)


def test_a_lost_signal_or_a_lost_reward_is_not_gamed() -> None:
    said = weigh([found("signal.no_learning_signal"), found("reward.peaked")])
    assert (said.p_gamed, said.onset) == (0.0, None)
    assert (said.p_no_signal, said.p_lost) == (0.9, 0.9)


def test_the_table_names_only_findings_that_readers_make() -> None:
    readers = [Path(package.__file__).parent for package in (leadline.reading, leadline.audit)]
    code = "".join(file.read_text() for folder in readers for file in folder.rglob("*.py"))
    assert [name for name in WEIGHTS if f'"{name}"' not in code] == []


def test_what_weighs_truncation_itself_is_no_second_witness_to_it() -> None:
    said = weigh([found("reward.gamed", p=0.6), found("generation.truncation", p=0.99)])
    assert said.p_gamed == 0.6
