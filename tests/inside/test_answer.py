"""The training asks what was said of it, and obeys only where its user opted in."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path

import pytest

from leadline.inside.attached import Attached, attach
from leadline.inside.sidecar import Answer

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
    if isinstance(said, dict) and "to" not in said:
        begins = json.loads((run.folder / "journal.jsonl").read_text().splitlines()[-1])
        said = {**said, "to": begins["token"]}
    beside.write_text(json.dumps(said))
    beside.replace(run.folder / "answer.json")


@pytest.mark.parametrize("stop", [False, True])
def test_only_who_opted_in_is_stopped(stop: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with attach("run", tmp_path, watch=False, stop=stop) as run:
        assert run.should_stop() is False
        say(run, {**SAID, "act": False})
        assert run.should_stop() is False
        say(run, SAID)
        assert [run.should_stop(), run.should_stop()] == [stop, stop]
        assert run.answer["step"] == 90
        assert run.said == "Roll back. It is at /runs/checkpoint-40."
        assert run.best_checkpoint == (40, "/runs/checkpoint-40")
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(told) == (not stop)
    assert stop or "would stop this run" in told[0]


def test_an_answer_that_is_withdrawn_is_withdrawn(tmp_path: Path) -> None:
    with attach("run", tmp_path, watch=False, stop=True) as run:
        say(run, SAID)
        assert run.should_stop()
        say(run, {**SAID, "verdict": "continue", "act": False})
        assert not run.should_stop()


@pytest.mark.parametrize("said", ['{"act": true', "[]", "null", "", '{"act": "yes"}', '{"act": 1}', '{"runs": []}'])
def test_an_answer_that_is_no_answer_stops_nothing(said: str, tmp_path: Path) -> None:
    with attach("run", tmp_path, watch=False, stop=True) as run:
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


def test_an_answer_to_an_earlier_process_is_none(tmp_path: Path) -> None:
    """A run that was stopped is resumed: what was said of it before does not stop it again."""
    with attach("run", tmp_path, watch=False, stop=True) as first:
        say(first, SAID)
        assert first.should_stop()
    with attach("run", tmp_path, watch=False, stop=True, resume=True) as second:
        assert second.folder == first.folder
        assert not second.should_stop()
        assert second.answer == {}
        say(second, {**SAID, "to": None})  # it does not say to whom, and was given before this process began
        assert not second.should_stop()
        say(second, {**SAID, "to": None, "at": time.time() + 1})
        assert second.should_stop()
        say(second, {**SAID, "verdict": "undecided"})
        assert not second.should_stop()  # whatever else it says: nobody stops a run that is undecided
        say(second, SAID)
        assert second.should_stop()


def test_a_message_names_the_checkpoint_once(tmp_path: Path) -> None:
    with attach("run", tmp_path, watch=False, stop=True) as run:
        say(run, {**SAID, "says": "Roll back. Best: step 40 (/runs/checkpoint-40)."})
        assert run.should_stop()
        assert run.said.count("checkpoint-40") == 1
