"""What is said of a second reader's grades."""

from __future__ import annotations

import pytest

from leadline.facts import Facts, Finding
from leadline.facts.audit import Blind, BlindParted
from leadline.run import Rollout
from leadline.words import audit, sentence

OLD, NEW = Rollout(1, "457+552=", "1009.", 1.0), Rollout(660, "049+242=", "1291,1,9", 1.0)

SAID: list[tuple[str, Facts, str]] = [
    (
        "reward.blind_parted",
        BlindParted(0.824, 0.05, 140, 220, OLD, NEW),
        "A high score no longer means a good answer from about step 220 on: read blind, high-scored answers are graded "
        "0.05 of 1, 0.824 at first.",
    ),
]


@pytest.mark.parametrize(("name", "facts", "said"), SAID)
def test_a_finding_is_said_from_its_facts(name: str, facts: Facts, said: str) -> None:
    assert sentence(Finding(name, 0.9, "note", facts=facts)) == said


def test_every_sentence_has_an_example() -> None:
    assert set(audit.SENTENCES) == {name for name, _, _ in SAID}


def test_marks_are_told_where_they_grew() -> None:
    blind = Blind("heard", graded=9, asked=9, early=0.8, late=0.1, p_parted=0.999, marks=(("looping", 0.1, 0.6),))
    assert audit.blind_lines(blind)[1:] == (
        "High-scored answers are graded 0.8 of 1 early and 0.1 late: score and quality have parted (> 99 %).",
        "Of the late answers 60 % repeat themselves (10 % early).",
    )
