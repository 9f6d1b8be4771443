"""The sidecar: a process beside the training that watches its journal, and goes away when the run does.

    python -m leadline.inside.sidecar FOLDER PID START {act,say} [CHANNEL...]

It runs `leadline watch` below itself, with a low claim to the processor, and ends it when the journal says that the run
is over or the process that writes it is gone. It is started through a process that ends at once, so it is nobody's
child and leaves no zombie behind. While it works, a file beside the journal is touched every few seconds: the training
sees with one `stat` whether it is still protected.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .answer import Answer
from .journal import JOURNAL, ended, last_step, started_at
from .quiet import LOGGER, complain

EVERY = 0.5  # seconds between two looks at whether the run still goes on
LAST_LOOK = 60.0  # seconds a watch may take to look at the last rows of a run that has ended
GRACE = 10.0  # seconds from asking a watch to end to ending it
NICENESS = 10
STARTS = 5  # a watch that fails is started so often in all
PAUSE = 4.0  # seconds before it is started the second time, then twice as many: an earlier sidecar may still be at work
SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux
ANSWER = "answer.json"
HEARTBEAT = "sidecar.alive"
LOG = "sidecar.log"
NO_THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

LOOKED_AT = 10.0  # seconds between two looks at the heartbeat
DEAD = 90.0  # seconds without a beat after which the sidecar counts as dead: it needs some to start
RESTARTS = 3  # by the training; then it says that nobody looks any more


class Sidecar:
    """The sidecar as its training sees it: started once, and again where it died."""

    def __init__(self, folder: Path, *, act: bool = False, tell: Sequence[str] = ()) -> None:
        """`act`: the answer may ask for an end. `tell`: channels for alerts (docs/live.md)."""
        self._folder, self._act, self._tell = folder, act, tuple(tell)
        self._heartbeat = os.fspath(folder / HEARTBEAT)
        self._beat: int | None = None  # the last one seen
        self._seen = self._next = time.monotonic()
        self._restarts = 0
        self._given_up = False

    def start(self) -> None:
        """Start it and return at once."""
        start_sidecar(self._folder, act=self._act, tell=self._tell)

    def check(self) -> None:
        """Whether it still beats, every few seconds; else it is started again, and that is said. One `stat`."""
        now = time.monotonic()
        if now < self._next or self._given_up:
            return
        self._next = now + LOOKED_AT
        try:
            beat = os.stat(self._heartbeat).st_mtime_ns  # noqa: PTH116 - half the price of Path.stat
        except OSError:
            beat = None
        if beat is not None and beat != self._beat:  # by change, not by age: clocks are set, and disks have their own
            self._beat, self._seen = beat, now
            return
        if now - self._seen < DEAD:
            return
        self._seen = now
        if self._restarts >= RESTARTS:
            self._given_up = True
            LOGGER.warning("leadline: the sidecar died %s times; nobody looks at this run any more.", RESTARTS + 1)
            return
        self._restarts += 1
        LOGGER.warning("leadline: the sidecar was not heard of for %.0f s; it is started again.", DEAD)
        threading.Thread(target=self._start_quietly, name="leadline-sidecar", daemon=True).start()  # loops do not wait

    def _start_quietly(self) -> None:
        try:
            self.start()
        except Exception as error:
            complain("the sidecar could not be started again", error)


def start_sidecar(folder: Path, *, act: bool = False, tell: Sequence[str] = ()) -> None:
    """Start a sidecar for the journal that this process writes in `folder`."""
    pid = os.getpid()
    words = [str(folder), str(pid), started_at(pid), "act" if act else "say", *tell]
    # The first process only starts the second; waiting for it takes as long as starting an interpreter.
    subprocess.run(
        [sys.executable, "-m", "leadline.inside.sidecar", "--detach", *words],
        check=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_environment(),
    )


def main(words: list[str]) -> int:
    if words[0] == "--detach":
        with (Path(words[1]) / LOG).open("ab") as out:
            subprocess.Popen(
                [sys.executable, "-m", "leadline.inside.sidecar", *words[1:]],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,  # a Ctrl-C at the training's terminal is not meant for us
            )
        return 0
    folder, pid, started, act, tell = Path(words[0]), int(words[1]), words[2], words[3] == "act", words[4:]
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICENESS)
    return _supervise(folder / JOURNAL, pid, started, functools.partial(_watch, folder, act=act, tell=tell))


def _supervise(journal: Path, pid: int, started: str, begin: Callable[[], subprocess.Popen[bytes]]) -> int:
    """Keep a watch going as long as the run goes on, and a little longer for the last look."""
    asked_to_end = False

    def end(*_: object) -> None:
        nonlocal asked_to_end
        asked_to_end = True

    signal.signal(signal.SIGTERM, end)
    watch: subprocess.Popen[bytes] | None = None
    starts, next_start = 0, 0.0
    try:
        while not asked_to_end and not ended(journal) and alive(pid, started):
            if (watch is None or watch.poll() is not None) and time.monotonic() >= next_start:
                if starts >= STARTS:
                    print(f"the watch failed {STARTS} times; nobody looks any more", flush=True)
                    return 1
                watch, starts = begin(), starts + 1
                next_start = time.monotonic() + PAUSE * 2 ** (starts - 1)
            time.sleep(EVERY)
        if watch is not None and not asked_to_end:
            _wait_for_the_last_look(watch, journal)
        return 0
    finally:
        if watch is not None:
            _end(watch)


def _watch(folder: Path, *, act: bool, tell: Sequence[str]) -> subprocess.Popen[bytes]:
    words = ["watch", str(folder / JOURNAL), "--headless", "--answer", str(folder / ANSWER)]
    words += ["--state-near", str(folder), "--heartbeat", str(folder / HEARTBEAT)]
    words += [word for channel in tell for word in ("--tell", channel)]
    # Whoever passed stop=True has opted in already: no dry run.
    acting = ["--act", "stop", "--no-dry-run"] if act else []
    return subprocess.Popen(
        [sys.executable, "-m", "leadline", *words, *acting],
        stdin=subprocess.DEVNULL,
        env=_environment(),
        preexec_fn=functools.partial(_end_with_the_sidecar, os.getpid()) if sys.platform == "linux" else None,
    )


def _end_with_the_sidecar(sidecar: int) -> None:
    """Have the system end the watch when the sidecar is killed: nobody else would."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGTERM)
        if os.getppid() != sidecar:  # killed before we had asked for it
            os._exit(1)


def _wait_for_the_last_look(watch: subprocess.Popen[bytes], journal: Path) -> None:
    """Ask for a look, and wait until an answer speaks of the last row, within reason."""
    step = last_step(journal)
    said = Answer(journal.with_name(ANSWER))
    until = time.monotonic() + LAST_LOOK
    asked = False
    while step is not None and time.monotonic() < until and watch.poll() is None:
        said.changed()
        told = said.latest.get("step")
        if isinstance(told, int) and told >= step:
            return
        if not asked and hasattr(signal, "SIGUSR1") and said.latest:  # a watch that has answered can be asked
            watch.send_signal(signal.SIGUSR1)
            asked = True
        time.sleep(EVERY)


def _end(watch: subprocess.Popen[bytes]) -> None:
    if watch.poll() is None:
        watch.terminate()
        try:
            watch.wait(GRACE)
        except subprocess.TimeoutExpired:
            watch.kill()
            watch.wait()


def alive(pid: int, started: str) -> bool:
    """Whether the process of that number is still the one that began at that time. A zombie is not alive."""
    if not Path("/proc/self/stat").exists():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True
    return started_at(pid) == started


def _environment() -> dict[str, str]:
    """Ours, with one thread for the mathematics and no GPU: they belong to the training."""
    environment = {**os.environ, **NO_THREADS, "CUDA_VISIBLE_DEVICES": ""}
    home = Path(__file__).resolve().parents[2]
    if home.name not in ("site-packages", "dist-packages"):  # run from a checkout: an interpreter would not find us
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(home), os.environ.get("PYTHONPATH")]))
    return environment


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
