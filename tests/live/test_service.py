"""The service files: what they start, leadline understands, and no secret reaches a command line."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from leadline.cli import watch


@pytest.fixture
def unit(root: Path) -> Path:
    return root / "docs" / "service" / "leadline-watch.service"


@pytest.fixture
def recipe(root: Path) -> str:
    return (root / "docs" / "service" / "Containerfile").read_text()


def understood(words: list[str]) -> dict[str, object]:
    """What the verb makes of a command line."""
    start = words.index("watch")
    assert words[start - 1].endswith("leadline")
    return watch.verb.make_context("watch", words[start + 1 :]).params


def test_the_unit_starts_a_watch_that_looks_its_secret_up_itself(unit: Path) -> None:
    (line,) = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
    assert not re.search(r"(?<!\$)\$[A-Z]", line)  # systemd would put the secret on the command line
    options = understood(shlex.split(line.replace("${STATE_DIRECTORY}", "/var/lib/leadline").replace("$$", "$")))
    assert options["headless"]
    assert options["tell"] == ("stdout", "slack:$SLACK_URL")
    assert str(options["state"]) == "/var/lib/leadline/watch.db"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed here")
def test_systemd_takes_the_unit(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name
    shutil.copy(unit, copy)
    done = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert unit.name not in done.stderr


def test_the_container_starts_a_watch_as_no_root(recipe: str) -> None:
    entry, command = (
        json.loads(re.findall(rf"^{word} (\[.*\])$", recipe, re.MULTILINE)[0]) for word in ("ENTRYPOINT", "CMD")
    )
    options = understood([*entry, *command])
    assert options["headless"]
    assert str(options["state"]) == "/state/watch.db"
    assert re.search(r"^USER leadline$", recipe, re.MULTILINE)
    assert "'slack:$SLACK_URL'" in recipe  # in quotes that keep a shell from replacing it
