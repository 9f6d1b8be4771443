"""A pool of processes on this machine. A process that dies takes one unit with it and is replaced."""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence

from ..errors import CannotWrite
from ..shelf.row import Task, UnitOutcome
from .scan import Done

LONGEST = 900.0  # seconds that reading one unit may take; then its process is ended
TASKS = 1000  # after which a process is replaced, so that what libraries hoard goes back to the system
AHEAD = 3  # units that wait for each process
STILLBORN = 5  # processes in a row that die without having read anything: then it is the machine, not a run
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # one a process: there are enough processes


class Pool:
    """Processes that read one unit each at a time, each under a thread that waits for it."""

    def __init__(self, workers: int | None = None) -> None:
        count = workers or available()
        self.room = count * (1 + AHEAD)
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[UnitOutcome | Task] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._stillborn = 0
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]

    def submit(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            self._tasks.put(task)
        for thread in self._threads[: max(1, len(tasks))]:
            if thread.ident is None:
                thread.start()

    def collect(self, patience: float) -> Done:
        done: list[UnitOutcome | Task] = []
        try:
            done.append(self._done.get(timeout=patience))
            while True:
                done.append(self._done.get_nowait())
        except queue.Empty:
            pass
        if self._stillborn >= STILLBORN:
            raise CannotWrite(
                f"{self._stillborn} reading processes in a row ended before they had read anything.",
                next_step="run that command by itself to see why; memory may be short",
            )
        outcomes = tuple(one for one in done if isinstance(one, UnitOutcome))
        return Done(outcomes, tuple(one for one in done if isinstance(one, Task)))

    def close(self) -> None:
        self._closed.set()
        for process in list(self._processes):
            process.kill()
        for thread in self._threads:
            if thread.ident is not None:
                self._tasks.put(None)
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(10)

    def _work(self) -> None:
        """Run one process after the other, as long as there are tasks."""
        process: subprocess.Popen[bytes] | None = None
        read = 0
        while (task := self._tasks.get()) is not None and not self._closed.is_set():
            if process is None or read >= TASKS:
                self._end(process)
                process, read = self._started(), 0
            outcome = _read(process, task)
            if outcome is None:
                self._stillborn += not read
                self._end(process)
                process = None
                self._done.put(task)
            else:
                read, self._stillborn = read + 1, 0
                self._done.put(outcome)
        self._end(process)

    def _started(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **{name: "1" for name in THREADS if name not in os.environ}}
        command = [sys.executable, "-m", "leadline.fleet.worker"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._processes.add(process)
        return process

    def _end(self, process: subprocess.Popen[bytes] | None) -> None:
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                continue  # it died with something in the pipe
        self._processes.discard(process)


def _read(process: subprocess.Popen[bytes], task: Task) -> UnitOutcome | None:
    """Return what a process makes of a task; None where it died over it, or took too long."""
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
