"""Remote storage through fsspec, with its real in-memory filesystem."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import verl_bytes
from extras import needs

from leadline.errors import MissingExtra, NothingReadable
from leadline.sources import open_run, remote
from leadline.sources.remote import fetch

fsspec = needs("fsspec", "remote")
ROWS = [(step, {"critic/score/mean": step / 10}) for step in range(1, 9)]


@pytest.fixture
def storage() -> Iterator[Any]:
    memory = fsspec.filesystem("memory")
    yield memory
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]


def test_a_remote_log_reads_like_a_local_one(storage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    storage.pipe("/bucket/run/metrics.jsonl", verl_bytes(ROWS))
    for address in ("memory://bucket/run/metrics.jsonl", "memory://bucket/run", Path("memory://bucket/run")):
        run = open_run(address)
        assert run.last_step == 8
        assert run.path == "memory://bucket/run/metrics.jsonl" or run.path == "memory://bucket/run"


def test_only_what_grew_is_fetched(storage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = verl_bytes(ROWS * 100)
    storage.pipe("/bucket/metrics.jsonl", whole[:-500])
    copy = fetch("memory://bucket/metrics.jsonl", tmp_path)
    assert copy.path.read_bytes() == whole[:-500]
    storage.pipe("/bucket/metrics.jsonl", whole)
    asked: list[int] = []
    real = type(storage).cat_file

    def counted(self: Any, path: str, start: int | None = None, end: int | None = None, **more: Any) -> bytes:
        piece: bytes = real(self, path, start=start, end=end, **more)
        asked.append(len(piece))
        return piece

    monkeypatch.setattr(type(storage), "cat_file", counted)
    assert fetch("memory://bucket/metrics.jsonl", tmp_path).path.read_bytes() == whole
    assert sum(asked) == 500 + 2 * remote.OVERLAP


def test_a_file_that_was_replaced_is_fetched_anew(storage: Any, tmp_path: Path) -> None:
    storage.pipe("/bucket/metrics.jsonl", b"a" * 1000)
    fetch("memory://bucket/metrics.jsonl", tmp_path)
    for content in (b"b" * 2000, b"c" * 10, b""):
        storage.pipe("/bucket/metrics.jsonl", content)
        assert fetch("memory://bucket/metrics.jsonl", tmp_path).path.read_bytes() == content


def test_weights_are_named_and_not_fetched(storage: Any, tmp_path: Path) -> None:
    storage.pipe("/bucket/run/checkpoint-10/model.safetensors", b"x" * 5000)
    storage.pipe("/bucket/run/checkpoint-10/trainer_state.json", b"{}")
    top = fetch("memory://bucket/run", tmp_path).path
    assert (top / "checkpoint-10" / "model.safetensors").stat().st_size == 0
    assert (top / "checkpoint-10" / "trainer_state.json").read_bytes() == b"{}"


def test_what_is_too_large_is_left_out_and_said(storage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "LARGEST_FILE", 100)
    storage.pipe("/bucket/run/rollouts.jsonl", b"x" * 101)
    storage.pipe("/bucket/run/metrics.jsonl", b"x" * 100)
    copy = fetch("memory://bucket/run", tmp_path)
    assert copy.left_out == ("rollouts.jsonl",)
    assert [path.name for path in copy.path.iterdir()] == ["metrics.jsonl"]


def test_names_cannot_leave_the_copy(storage: Any, tmp_path: Path) -> None:
    storage.store["/bucket/run/../../../../escaped.jsonl"] = storage.store.setdefault(
        "/bucket/run/a.jsonl", fsspec.implementations.memory.MemoryFile(storage, "/bucket/run/a.jsonl", b"{}")
    )
    fetch("memory://bucket/run", tmp_path / "cache")
    assert not list(tmp_path.glob("*.jsonl"))
    assert all(path.is_relative_to(tmp_path / "cache") for path in tmp_path.rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("address", "says"),
    [("memory://bucket/nothing", "does not exist"), ("nosuchthing://bucket/run", "cannot be reached")],
)
def test_what_cannot_be_reached_is_one_sentence(storage: Any, tmp_path: Path, address: str, says: str) -> None:
    with pytest.raises(NothingReadable, match=says) as refused:
        fetch(address, tmp_path)
    assert "\n" not in refused.value.what


def test_without_its_extra_it_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtra, match=r"leadline\[remote\]"):
        fetch("s3://bucket/run", tmp_path)
