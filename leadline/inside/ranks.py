"""The processes of one training: which of them we are, and how all of them stop at the same step.

Nothing is imported: torch is asked only where the training has it loaded. The word is passed through the store by which
its processes found each other, and never by a collective call: one that a process does not make would hang the others.
"""

from __future__ import annotations

import os
import sys
from typing import Any, ClassVar

from .quiet import LOGGER, complain

AGREE_EVERY = 10  # calls between two moments at which the processes ask each other
KEY = "leadline/stop"


def rank_and_size() -> tuple[int, int]:
    """Which process of the training this is, and of how many: as torch.distributed says where it is up, else as the
    launcher did."""
    group = _group()
    if group is not None:
        return int(group.get_rank()), int(group.get_world_size())
    size = _number("WORLD_SIZE")
    return (_number("RANK"), size) if size > 1 and "RANK" in os.environ else (0, 1)


class JointStop:
    """Has all processes of a training stop at the same call of `should_stop`."""

    _made: ClassVar[int] = 0  # of these in this process: each training it runs has its own word

    def __init__(self) -> None:
        JointStop._made += 1
        self._key = f"{KEY}/{JointStop._made}"
        self._calls = 0
        self._at: int | None = None  # the call at which all of them stop
        self._said = False

    def stops(self, over: bool) -> bool:
        """Whether to stop at this call. `over`: what this process knows; only the first one knows anything."""
        self._calls += 1
        group = _group()
        if group is None:
            if _number("WORLD_SIZE") > 1 and over:
                self._say_once()
                return False
            return over
        if int(group.get_world_size()) <= 1:
            return over
        try:
            return self._agreed(group, over)
        except Exception as error:  # unsure: going on harms nobody
            complain("the processes could not agree on when to stop", error)
            return False

    def _agreed(self, group: Any, over: bool) -> bool:
        """The first process names a call that lies ahead of all of them: they are never further apart than one step of
        training, and each looks for the word at every tenth call."""
        if self._at is None and self._calls % AGREE_EVERY == 0:
            store = group.distributed_c10d._get_default_store()
            if int(group.get_rank()) == 0:
                if over:
                    self._at = self._calls + 2 * AGREE_EVERY
                    store.set(self._key, str(self._at))
            elif store.check([self._key]):
                self._at = int(store.get(self._key))
        return self._at is not None and self._calls >= self._at

    def _say_once(self) -> None:
        if not self._said:
            self._said = True
            LOGGER.warning(
                "leadline: this run should stop, but its processes cannot agree on when without torch.distributed;"
                " it goes on. run.answer holds what was said."
            )


def _group() -> Any:
    """torch.distributed where the training has it up; None else."""
    torch = sys.modules.get("torch")
    group = getattr(torch, "distributed", None)
    if group is None or not group.is_available() or not group.is_initialized():
        return None
    return group


def _number(name: str) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() else 0
