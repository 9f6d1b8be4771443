"""The processes of one training: which of them we are, and how all of them stop at the same step.

Nothing is imported: torch is asked only if the training has loaded it. The word is passed through the store by which
its processes found each other, never by a collective call: one that a process does not make would hang the others.
"""

from __future__ import annotations

import os
import sys
from typing import Any, ClassVar

from .quiet import LOGGER, Once, complain

AGREE_EVERY = 5  # calls between two moments at which the processes ask each other
KEY = "leadline/stop"
GO_ON = 0  # the word of a training that is not over


def rank_and_size() -> tuple[int, int]:
    """Return our rank and the world size, as torch.distributed has them if it is up, else as the launcher set them."""
    group = _group()
    if group is not None:
        return int(group.get_rank()), int(group.get_world_size())
    size = _number("WORLD_SIZE")
    return (_number("RANK"), size) if size > 1 and "RANK" in os.environ else (0, 1)


class JointStop:
    """Has all processes of a training stop at the same call, with the same word."""

    _made: ClassVar[int] = 0  # of these in this process: each training it runs has its own key

    def __init__(self) -> None:
        JointStop._made += 1
        self._key = f"{KEY}/{JointStop._made}"
        self._calls = 0
        self._agreed: tuple[int, int] | None = None  # the call at which all of them stop, and the word
        self._say = Once(LOGGER.warning)

    def word(self, ours: int) -> int:
        """Return what all processes do at this call: GO_ON, or the first process's word. `ours` is what this process
        knows; only the first one knows anything."""
        self._calls += 1
        group = _group()
        if group is None:
            if _number("WORLD_SIZE") > 1 and ours != GO_ON:
                self._say(
                    "leadline: this run should stop, but its processes can't agree on when without torch.distributed;"
                    " it continues. run.answer holds the verdict."
                )
                return GO_ON
            return ours
        if int(group.get_world_size()) <= 1:
            return ours
        try:
            if self._agreed is None and self._calls % AGREE_EVERY == 0:
                self._agree(group, ours)
        except Exception as error:  # unsure: going on harms nobody
            complain("the processes could not agree on when to stop", error)
        return GO_ON if self._agreed is None or self._calls < self._agreed[0] else self._agreed[1]

    def _agree(self, group: Any, ours: int) -> None:
        """Settle the call: the first process names the next one at which all ask, which none of them has reached yet,
        since they are never further apart than one step of training."""
        store = group.distributed_c10d._get_default_store()
        if int(group.get_rank()) == 0:
            if ours != GO_ON:
                store.set(self._key, f"{self._calls + AGREE_EVERY} {ours}")
                self._agreed = self._calls + AGREE_EVERY, ours
        elif store.check([self._key]):
            call, word = store.get(self._key).split()
            self._agreed = int(call), int(word)


def _group() -> Any:
    """Return torch.distributed if the training has it up, else None."""
    torch = sys.modules.get("torch")
    group = getattr(torch, "distributed", None)
    if group is None or not group.is_available() or not group.is_initialized():
        return None
    return group


def _number(name: str) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() else 0
