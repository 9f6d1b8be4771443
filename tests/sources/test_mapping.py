"""What the user says of keys goes before what is known or guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leadline.cli import main
from leadline.errors import BadMapping, NotAnRLRun
from leadline.sources import open_run, read_stream
from leadline.sources.mapping import parse_mapping

ROWS = [{"tick": 10 * n, "my/score": n / 10, "kl": 0.1, "reward": 1.0} for n in range(1, 5)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "run" / "metrics.jsonl"
    file.parent.mkdir()
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return file


def test_a_mapping_takes_the_name_and_is_called_what_it_is(log: Path) -> None:
    run = open_run(log, mapping=parse_mapping(["reward=my/score", "kl/ref=kl"]))
    told = {one.name: (one.key, one.kind) for one in run.series}
    assert told["reward/mean"] == ("my/score", "as you say")
    assert told["kl/ref"] == ("kl", "as you say")
    assert "reward" in run.unread_keys


def test_a_mapping_of_the_step_counts_by_that_key(log: Path) -> None:
    run = open_run(log, mapping=parse_mapping(["step=tick"]))
    assert (run.first_step, run.last_step) == (10, 40)


def test_a_toml_file_beside_the_run_or_here_says_the_same_with_less_weight(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    (here / "leadline.toml").write_text('[map]\nreward = "kl"\n')
    assert [one.key for one in open_run(log).series if one.name == "reward/mean"] == ["kl"]
    (log.parent / "leadline.toml").write_text('[map]\nreward = "my/score"\n')
    assert [one.key for one in open_run(log).series if one.name == "reward/mean"] == ["my/score"]
    said = open_run(log, mapping={"reward/mean": "reward"})
    assert [one.key for one in said.series if one.name == "reward/mean"] == ["reward"]


def test_a_key_that_was_not_logged_is_an_error_that_lists_those_that_were(log: Path) -> None:
    with pytest.raises(BadMapping, match=r"my/score, reward") as error:
        open_run(log, mapping={"reward/mean": "nothing"})
    assert "'nothing'" in error.value.what


@pytest.mark.parametrize("text", ["[map\n", "[map]\nreward = 3\n", "map = 1\n"])
def test_a_toml_file_that_makes_no_sense_is_named(log: Path, text: str) -> None:
    (log.parent / "leadline.toml").write_text(text)
    with pytest.raises(BadMapping, match=r"leadline\.toml"):
        open_run(log)


@pytest.mark.parametrize("option", ["reward", "=key", "reward=", "="])
def test_half_a_mapping_is_a_usage_error(log: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(log), "--map", option]) == 2
    assert "--map reward=my/score" in capsys.readouterr().err


def test_the_command_line_takes_several_mappings(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(log), "--json", "--map", "reward=my/score", "--map", "kl/ref=kl"]) == 0
    signals = json.loads(capsys.readouterr().out)["run"]["signals"]
    assert (signals["reward/mean"]["key"], signals["kl/ref"]["key"]) == ("my/score", "kl")


def test_what_looks_like_another_kind_of_training_is_read_when_the_user_says_what_its_reward_is() -> None:
    data = "".join(json.dumps({"step": n, "loss": 0.1, "perplexity": 3.0}) + "\n" for n in range(5)).encode()
    with pytest.raises(NotAnRLRun, match=r"supervised fine-tuning log; Leadline reads online RL only") as error:
        read_stream(data)
    assert "--map reward=KEY" in error.value.next_step
    run = read_stream(data, mapping={"reward/mean": "perplexity"})
    assert run.get("reward/mean") is not None


def test_a_name_that_is_no_series_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    log = tmp_path / "metrics.jsonl"
    log.write_text("".join(f'{{"step": {step}, "niceness": {step / 9}, "loss": 0.1}}\n' for step in range(9)))
    with pytest.raises(BadMapping, match="no series called 'rewrd'") as caught:
        open_run(log, mapping={"rewrd": "niceness"})
    assert "--map reward=KEY" in caught.value.next_step
    with pytest.raises(BadMapping, match="has no numbers in the log") as caught:
        open_run(log, mapping={"reward": "nicenes"})
    assert "--map reward/mean=niceness" in caught.value.next_step


def test_python_takes_the_short_names_too_and_the_question_names_its_answer(tmp_path: Path) -> None:
    log = tmp_path / "metrics.jsonl"
    log.write_text("".join(f'{{"step": {step}, "niceness": {step / 9}, "loss": 0.1}}\n' for step in range(9)))
    assert "--map reward/mean=niceness" in open_run(log).notes[0]
    reward = open_run(log, mapping={"reward": "niceness"}).get("reward/mean")
    assert reward is not None
    assert reward.points == 9
