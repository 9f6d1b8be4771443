"""`stop_run`: only for the run that was named, only where a watch would act, and dry the first time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES

pytest.importorskip("mcp")

from leadline.agents.act import Permission
from leadline.agents.library import Library
from leadline.agents.roots import Roots
from leadline.errors import BadOrder, LeadlineError


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that has collapsed long before the end of its plan, and one that rises."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("collapsed", "other"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    lines = (EXAMPLES / "collapsed" / "metrics.jsonl").read_text().splitlines()
    (tmp_path / "runs" / "collapsed" / "metrics.jsonl").write_text("\n".join(lines[:440]) + "\n")
    (tmp_path / "runs" / "other" / "metrics.jsonl").write_text("\n".join(lines[:60]) + "\n")
    for name in ("collapsed", "other"):
        config = EXAMPLES / "collapsed" / "config.json"
        (tmp_path / "runs" / name / "config.json").write_bytes(config.read_bytes())
    return tmp_path / "runs"


def asked(permission: Permission, library: Library, path: str) -> Any:
    return permission.tool().ask(library, {"path": path})


def test_it_stops_what_was_allowed_and_only_once(runs: Path, tmp_path: Path) -> None:
    roots = Roots.of([runs])
    library, file = Library(roots), tmp_path / "stop"
    order = f"collapsed=file:{file}"
    dry = asked(Permission.of(order, roots, dry=True), library, "collapsed")
    assert not dry.acted
    assert "Dry run" in dry.says
    assert not file.exists()
    again = asked(Permission.of(order, roots, dry=True), library, "collapsed")
    assert "settled" in again.says
    done = asked(Permission.of(order, roots, dry=False), library, "collapsed")
    assert done.acted
    assert json.loads(file.read_text())["stop"] is True


def test_it_stops_nothing_else(runs: Path, tmp_path: Path) -> None:
    roots = Roots.of([runs])
    library, file = Library(roots), tmp_path / "stop"
    permission = Permission.of(f"other=file:{file}", roots, dry=False)
    with pytest.raises(LeadlineError, match="Nobody allowed"):
        asked(permission, library, "collapsed")
    told = asked(permission, library, "other")  # no reason to stop this one
    assert not told.acted
    assert told.why
    assert not file.exists()


@pytest.mark.parametrize("told", ["collapsed", "collapsed=stop", "collapsed=rm:all", "=file:x"])
def test_orders_that_cannot_be_followed(runs: Path, told: str) -> None:
    with pytest.raises(BadOrder):
        Permission.of(told, Roots.of([runs]), dry=True)
