"""A watch that a test can drive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from live.scene import Scene

from leadline.live import watch as watching
from leadline.live.acting import actor
from leadline.live.entries import Options, WatchEntry
from leadline.live.store import Store
from leadline.live.watch import Watch


@pytest.fixture(autouse=True)
def _no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LOOKING", 1.0)  # a watch rests between looks to leave the machine to the training


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Callable[..., Watch]]:
    """Starts a watch of some paths, with its state in the test's folder; ended with the test."""
    begun: list[Watch] = []

    def start(*paths: Path | str, state: str = "state.db", every: float | None = None, **more: Any) -> Watch:
        budget, tell = more.pop("budget", None), more.pop("channels", ())
        entries = tuple(WatchEntry(str(path), budget=budget, tell=tell) for path in paths)
        one = Watch(Options(entries, every=every), Store(tmp_path / state), **more)
        begun.append(one)
        one.start()
        return one

    yield start
    for one in begun:
        one.end()
        one.store.close()


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """A run with a training to be acted on; what is claimed for it is claimed for this test alone."""
    monkeypatch.setattr(actor, "FIXED", tmp_path / "claims")
    given = Scene(tmp_path)
    yield given
    given.close()
