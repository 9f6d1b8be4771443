"""Why a person should look at a run, by its verdict and by what asks for a reader."""

from __future__ import annotations

import pytest

from leadline.facts.judgement import Ending, Judgement, Reason, ReasonKind, Verdict
from leadline.shelf.row import Need
from leadline.shelf.summary import need_of


@pytest.mark.parametrize(
    ("verdict", "kind", "ended", "need"),
    [
        ("roll_back", "gamed", None, "hacked"),
        ("roll_back", "fallen", None, "falling"),
        ("stop", "no_signal", None, "broken"),
        ("stop", "flat", None, "wasting"),
        ("finished", "flat", "silent", "silent"),
        ("continue", "rising", None, "changed"),
        ("finished", "flat", "plan", "changed"),
        ("undecided", "no_reward", None, "unclear"),
    ],
)
def test_a_run_whose_responses_changed_is_to_be_read_unless_something_worse_is_known(
    verdict: Verdict, kind: ReasonKind, ended: Ending | None, need: Need
) -> None:
    said = Judgement(verdict=verdict, reason=Reason(kind), ended=ended)
    assert need_of(said, asks=True) == need
    assert need_of(said, asks=False) == (None if need == "changed" else need)


def test_what_rose_to_its_end_is_read_before_it_is_extended() -> None:
    said = Judgement(verdict="finished", reason=Reason("rising"), ended="plan")
    assert need_of(said, asks=True) == "changed"
    assert need_of(said, asks=False) == "finished_rising"
