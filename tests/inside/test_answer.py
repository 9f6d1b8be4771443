"""The training asks what was said of it, and obeys only where its user opted in."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from leadline.inside.answer import Answer
from leadline.inside.attached import Attached, attach

SAID = {
    "run": "run",
    "step": 90,
    "verdict": "roll_back",
    "p_continue_pays": 0.02,
    "best_checkpoint": {"step": 40, "path": "/runs/checkpoint-40"},
    "says": "Roll back.",
    "act": True,
    "at": 1794733855.0,
}


def say(run: Attached, said: object) -> None:
    assert run.folder is not None
    beside = run.folder / "beside"
    beside.write_text(json.dumps(said))
    beside.replace(run.folder / "answer.json")


@pytest.mark.parametrize("stop", [False, True])
def test_only_who_opted_in_is_stopped(stop: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with attach("run", tmp_path, look=False, stop=stop) as run:
        assert run.should_stop() is False
        say(run, {**SAID, "act": False})
        assert run.should_stop() is False
        say(run, SAID)
        assert [run.should_stop(), run.should_stop()] == [stop, stop]
        assert run.answer["step"] == 90
        assert run.said == "Roll back. Best checkpoint: /runs/checkpoint-40."
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(told) == (not stop)
    assert stop or "would stop this run" in told[0]


def test_an_answer_that_is_withdrawn_is_withdrawn(tmp_path: Path) -> None:
    with attach("run", tmp_path, look=False, stop=True) as run:
        say(run, SAID)
        assert run.should_stop()
        say(run, {**SAID, "verdict": "continue", "act": False})
        assert not run.should_stop()


@pytest.mark.parametrize("said", ['{"act": true', "[]", "null", "", '{"act": "yes"}', '{"act": 1}', '{"runs": []}'])
def test_an_answer_that_is_no_answer_stops_nothing(said: str, tmp_path: Path) -> None:
    with attach("run", tmp_path, look=False, stop=True) as run:
        assert run.folder is not None
        (run.folder / "answer.json").write_text(said)
        assert run.should_stop() is False


def test_of_a_file_about_several_runs_none_is_ours(tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    file.write_text(json.dumps({"runs": [SAID, {**SAID, "run": "other"}]}))
    assert not Answer(file).changed()
    file.write_text(json.dumps({"runs": [SAID]}))
    answer = Answer(file)
    assert answer.changed()
    assert answer.acts
    assert not answer.changed()
