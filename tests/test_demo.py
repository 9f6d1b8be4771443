"""`leadline demo`: three real runs, one after the other, for somebody who has none at hand."""

from __future__ import annotations

import re

import pytest

from leadline.cli import main
from leadline.cli.demo import SCENES


def test_all_three_runs_are_shown_as_they_were_read_then(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    assert re.findall(r"^\d of 3(?= )", out.out, flags=re.MULTILINE) == ["1 of 3", "2 of 3", "3 of 3"]
    for _, until, _ in SCENES:
        assert f"step {until}/" in out.out
    assert sum(line.startswith(("STOP", "ROLL BACK", "CONTINUE")) for line in out.out.splitlines()) == 3


def test_without_a_terminal_it_does_not_wait(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    assert "Any key" not in capsys.readouterr().out
