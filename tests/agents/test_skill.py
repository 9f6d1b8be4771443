"""The skill: installed where agents look, never over somebody's changes, its commands run as they stand."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import get_args

import pytest
import yaml
from conftest import EXAMPLES

from leadline.cli import main
from leadline.cli.skill import FOLDERS, sealed, source
from leadline.facts.judgement import ReasonKind, Verdict

TEXT = source().read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.strip().splitlines()]


def test_it_follows_the_conventions() -> None:
    front = yaml.safe_load(TEXT.split("---")[1])
    assert front["name"] == "leadline"
    assert 0 < len(front["description"]) <= 1024
    assert len(TEXT.splitlines()) < 300


def test_it_names_every_verdict_and_reason_there_is() -> None:
    for word in (*get_args(Verdict), *get_args(ReasonKind)):
        assert re.search(rf"\b{word}\b", TEXT), word


@pytest.mark.parametrize("name", ["healthy", "collapsed", "hacked"])
def test_its_commands_cost_what_it_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    encoding = pytest.importorskip("bpe_openai").get_encoding("o200k_base")
    for command, most in ((["--no-color"], 1600), (["--json", "--no-charts"], 6000)):
        assert main(["read", str(EXAMPLES / name), *command]) == 0
        assert len(encoding.encode(capsys.readouterr().out)) < most


@pytest.mark.parametrize("agent", [*FOLDERS, "all"])
def test_it_is_installed_where_the_agent_looks(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["skill", "install", "--agent", agent]) == 0
    wanted = {name: Path(place) / "leadline" / "SKILL.md" for name, place in FOLDERS.items()}
    for name, file in wanted.items():
        assert file.exists() is (agent in (name, "all"))
    assert main(["skill", "install", "--agent", agent]) == 0  # ours, so it may be replaced


def test_what_somebody_changed_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path(".claude/skills/leadline/SKILL.md")
    file.parent.mkdir(parents=True)
    for text in ("my own", sealed(TEXT).replace("Never kill", "Always kill"), ""):
        file.write_text(text)
        assert main(["skill", "install", "--agent", "claude"]) == 2
        assert file.read_text() == text
    file.write_text(sealed("an older skill of ours"))
    assert main(["skill", "install", "--agent", "claude"]) == 0
    assert file.read_text() == sealed(TEXT)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run_as_they_stand(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUN", str(EXAMPLES / "healthy"))
    monkeypatch.setenv("OTHER", str(EXAMPLES / "collapsed"))
    program, *words = (os.path.expandvars(word) for word in shlex.split(command))  # as a shell would
    assert program == "leadline"
    assert main(words) == 0
    assert capsys.readouterr().out
