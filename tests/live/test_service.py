"""The service files: what they start, leadline understands, and no secret reaches a command line."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from leadline.cli import serve, watch

HELP: dict[str, Any] = {
    "help_option_names": ["-h", "--help"]
}  # as the group has it: a command keeps what it is asked first


@pytest.fixture
def unit(root: Path) -> Path:
    return root / "docs" / "service" / "leadline-watch.service"


@pytest.fixture
def recipe(root: Path) -> str:
    return (root / "Containerfile").read_text()


def understood(words: list[str]) -> dict[str, object]:
    """What the verb makes of a command line."""
    start = words.index("watch")
    assert words[start - 1].endswith("leadline")
    return watch.verb.make_context("watch", words[start + 1 :], **HELP).params


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


def test_the_container_serves_and_watches_as_no_root(recipe: str) -> None:
    entry, command = (
        json.loads(re.findall(rf"^{word} (\[.*\])$", recipe, re.MULTILINE)[0]) for word in ("ENTRYPOINT", "CMD")
    )
    assert entry == ["leadline"]
    assert serve.verb.make_context("serve", command[1:], **HELP).params["host"] == "0.0.0.0"
    shown = recipe.partition("FROM")[0].replace("#", "").replace("\\\n", "")
    options = understood(shlex.split(shown.partition("doctor --live' ")[2]))
    assert options["headless"]
    assert options["tell"] == ("slack:$SLACK_URL",)  # in quotes that keep a shell from replacing it
    assert re.search(r"^USER leadline$", recipe, re.MULTILINE)


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (401, True), (500, False), (None, False)])
def test_the_container_is_healthy_if_its_page_answers(recipe: str, status: int | None, healthy: bool) -> None:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status or 500)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        port = server.server_port
        if status is not None:
            threading.Thread(target=server.handle_request, daemon=True).start()
        else:
            server.server_close()
        (_, *words) = json.loads(re.findall(r"HEALTHCHECK.*?CMD (\[.*?\])$", recipe, re.MULTILINE | re.DOTALL)[0])
        command = [sys.executable, *(word.replace("7310", str(port)) for word in words)]
        done = subprocess.run(command, capture_output=True, check=False, timeout=30)
    assert (done.returncode == 0) == healthy
