"""A reading process of the pool: takes tasks on its standard input and gives outcomes on its standard output.

`python -m leadline.fleet.worker`, so that nothing of the program that scans is imported a second time. It ends when its
input does, when the scan is over; and when the scan was killed, in the middle of a unit.
"""

from __future__ import annotations

import gc
import itertools
import os
import pickle
import sys
from typing import BinaryIO

from ..live.memory import give_back
from ..progress import end_with_parent
from .reader import read_task

UNITS = 32  # read before memory goes back to the system: what goes back has to be asked for again, a tenth of a reading


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    end_with_parent()
    serve(sys.stdin.buffer, answers)


def serve(tasks: BinaryIO, answers: BinaryIO) -> None:
    """Both ends are ours: nothing that a user's file holds is unpickled."""
    gc.freeze()  # modules live as long as this process: no use in looking at them again
    for count in itertools.count(1):
        try:
            task = pickle.load(tasks)
        except (EOFError, KeyboardInterrupt):
            return
        try:
            pickle.dump(read_task(task), answers, protocol=5)
            answers.flush()
        except (OSError, KeyboardInterrupt):
            return  # nobody waits for it any more
        if count % UNITS == 0:
            give_back()


if __name__ == "__main__":
    main()
