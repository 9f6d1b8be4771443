"""A pool of processes on this machine. A process that dies takes one unit with it and is replaced."""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress

from ..errors import CannotWrite
from ..shelf.row import Task, UnitOutcome

LONGEST = 900.0  # seconds that reading one unit may take; then its process is ended
HANGS = 10.0  # seconds to wait at the end for processes that were killed; one on a dead disk may not end
TASKS = 1000  # after which a process is replaced, so that what libraries hoard goes back to the system
AHEAD = 3  # units that wait for each process
STILLBORN = 5  # processes in a row that die without having read anything: then it is the machine, not a run


class Pool:
    """Processes that read one unit each at a time, each under a thread that waits for it."""

    def __init__(self, workers: int | None = None) -> None:
        count = workers or available()
        self.room = count * (1 + AHEAD)
        self._under_way: dict[Future[UnitOutcome | None], Task] = {}
        self._given: queue.SimpleQueue[tuple[Future[UnitOutcome | None], Task] | None] = queue.SimpleQueue()
        # An executor would wait for its threads, also for one whose process hangs in a disk that does not respond.
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._closed = threading.Event()
        self._stillborn = 0

    def submit(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            future: Future[UnitOutcome | None] = Future()
            self._under_way[future] = task
            self._given.put((future, task))
        for thread in self._threads[: len(tasks)]:
            if thread.ident is None:
                thread.start()

    def collect(self, patience: float) -> list[tuple[Task, UnitOutcome | None]]:
        ready = wait(self._under_way, patience, FIRST_COMPLETED).done
        if self._stillborn >= STILLBORN:
            raise CannotWrite(
                f"{self._stillborn} reading processes in a row ended before they had read anything.",
                next_step="run that command by itself to see why; memory may be short",
            )
        return [(self._under_way.pop(one), one.result()) for one in ready]

    def close(self) -> None:
        self._closed.set()  # before they are killed: none begins after that
        for process in list(self._processes):
            process.kill()
        started = [thread for thread in self._threads if thread.ident is not None]
        for _ in started:
            self._given.put(None)
        until = time.monotonic() + HANGS
        for thread in started:
            thread.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        """Have one process after the other read what is given."""
        process: subprocess.Popen[bytes] | None = None
        read = 0  # units that the process has read
        while (given := self._given.get()) is not None and not self._closed.is_set():
            future, task = given
            try:
                if process is None or read >= TASKS:
                    self._end(process)
                    process, read = self._started(), 0
                outcome = None if process is None else _answer(process, task)
                if outcome is None:  # it died over it
                    self._stillborn += not read
                    self._end(process)
                    process = None
                else:
                    self._stillborn, read = 0, read + 1
                future.set_result(outcome)
            except Exception as error:  # whoever collects must know
                future.set_exception(error)
        self._end(process)

    def _started(self) -> subprocess.Popen[bytes] | None:
        """Return a new process; None if the machine has none to give."""
        command = [sys.executable, "-m", "leadline.fleet.reader"]
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError:
            return None
        self._processes.add(process)
        if self._closed.is_set():
            process.kill()
        return process

    def _end(self, process: subprocess.Popen[bytes] | None) -> None:
        if process is None:
            return
        process.kill()
        with suppress(OSError), process:  # waits for it and closes its pipes; it may have died with something in them
            pass
        self._processes.discard(process)


def _answer(process: subprocess.Popen[bytes], task: Task) -> UnitOutcome | None:
    """Return what a process makes of a task; None if it died over it, or took too long."""
    assert process.stdin is not None
    assert process.stdout is not None
    late = threading.Timer(LONGEST, process.kill)
    late.daemon = True
    late.start()
    try:
        pickle.dump(task, process.stdin, protocol=5)
        process.stdin.flush()
        outcome = pickle.load(process.stdout)
    except (OSError, EOFError, pickle.UnpicklingError):
        return None
    finally:
        late.cancel()
    return outcome if isinstance(outcome, UnitOutcome) else None


def available() -> int:
    """Processors that this process may use, also where a container or a scheduler allows fewer than there are."""
    if sys.platform == "linux":
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)
