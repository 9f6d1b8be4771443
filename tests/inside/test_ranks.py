"""The processes of a training stop at the same call, with the same word, or not at all."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from leadline.inside.ranks import AGREE_EVERY, GO_ON, JointStop, rank_and_size

SAVE = 2


class Store:
    """What torch.distributed passes words by."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    def set(self, key: str, value: str) -> None:
        self.held[key] = value.encode()

    def get(self, key: str) -> bytes:
        return self.held[key]

    def check(self, keys: list[str]) -> bool:
        return all(key in self.held for key in keys)


class Ranks:
    """Two processes of a training in one: whoever is asked is the one whose turn it is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rank, self.store = 0, Store()
        group = SimpleNamespace(
            is_available=lambda: True,
            is_initialized=lambda: True,
            get_rank=lambda: self.rank,
            get_world_size=lambda: 2,
            distributed_c10d=SimpleNamespace(_get_default_store=lambda: self.store),
        )
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(distributed=group))
        self.joint = []
        for _ in range(2):
            monkeypatch.setattr(JointStop, "_made", 0)  # each process counts its own
            self.joint.append(JointStop())

    def call(self, rank: int, ours: int = GO_ON) -> int:
        self.rank = rank
        return self.joint[rank].word(ours)


@pytest.mark.parametrize("ahead", [0, 1])
@pytest.mark.parametrize("since", range(1, 12))
def test_all_stop_at_the_same_call_whoever_is_ahead(since: int, ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = Ranks(monkeypatch)
    stopped: dict[int, tuple[int, int]] = {}
    for call in range(1, 40):
        for rank in (ahead, 1 - ahead):
            word = ranks.call(rank, SAVE if rank == 0 and call >= since else GO_ON)
            if word != GO_ON:
                stopped.setdefault(rank, (call, word))
    assert stopped[0] == stopped[1]
    assert since < stopped[0][0] <= since + 2 * AGREE_EVERY
    assert stopped[0][1] == SAVE


def test_a_store_that_fails_lets_the_training_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = Ranks(monkeypatch)
    monkeypatch.setattr(Store, "set", lambda *_: (_ for _ in ()).throw(RuntimeError("gone")))
    assert {ranks.call(0, SAVE) for _ in range(30)} == {GO_ON}


def test_several_processes_without_torch_go_on_and_that_is_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert JointStop().word(SAVE) == SAVE
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    assert rank_and_size() == (1, 2)
    alone = JointStop()
    assert [alone.word(SAVE) for _ in range(3)] == [GO_ON] * 3
    assert len(caplog.records) == 1
