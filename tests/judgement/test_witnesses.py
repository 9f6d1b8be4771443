"""Who is heard, and what it is taken to mean."""

from __future__ import annotations

from pathlib import Path

import pytest
from leadline.judgement.witnesses import WITNESSES, hear

import leadline.reading
from leadline.reading import Finding


def found(name: str, p: float = 0.9, since: int | None = 50) -> Finding:
    return Finding(name, p, "concern", "", since)


@pytest.mark.parametrize(
    ("names", "heard"),
    [
        (["generation.diversity"], True),
        (["generation.coherence"], False),  # it may be a better style
        (["generation.coherence", "generation.shortcut"], False),  # an echo is no second witness
        (["generation.coherence", "generation.truncation"], True),
        (["generation.truncation"], False),
        (["kl.drift_without_benefit", "generation.shortcut"], True),
        (["resources.idle", "generation.truncation"], False),  # not in the table
    ],
)
def test_who_is_heard(names: list[str], heard: bool) -> None:
    assert (hear([found(name) for name in names]).p_proxy > 0) is heard


def test_the_onset_is_the_earliest_that_a_heard_witness_names() -> None:
    said = hear([found("generation.diversity", since=90), found("generation.coherence", since=40)])
    assert said.onset == 40
    assert said.p_proxy == 0.9


def test_what_is_dead_or_lost_is_not_discounted() -> None:
    said = hear([found("signal.no_learning_signal"), found("reward.peaked")])
    assert (said.p_proxy, said.onset) == (0.0, None)
    assert (said.p_dead, said.p_lost) == (0.9, 0.9)
    assert said.p_against == pytest.approx(0.9)


def test_the_table_names_only_findings_that_readers_make() -> None:

    code = "".join(file.read_text() for file in Path(leadline.reading.__file__).parent.rglob("*.py"))
    assert [name for name in WITNESSES if f'"{name}"' not in code] == []
