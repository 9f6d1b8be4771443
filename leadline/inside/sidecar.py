"""The sidecar: a process beside the training that watches its journal, and ends when the run does.

    python -m leadline.inside.sidecar FOLDER PID START SHARE {act,say} [CHANNEL...]

It is `leadline watch` with a low claim to the processor and a thread that ends it once the journal says that the run is
over or the process that writes it is gone. It forks as it starts, so it is nobody's child and leaves no zombie. It
touches a file beside the journal: the training sees with one `stat` whether it still lives.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from .journal import JOURNAL, STATE, ended, last_step, started_at
from .quiet import LOGGER, quiet

SHARE = 0.04  # of one core, for following and checks: with what else it does it stays below 5%
EVERY = 0.5  # seconds between two looks at whether the run still goes on
LAST_CHECK = 60.0  # seconds that a check of the last rows may take once the run has ended
GRACE = 10.0  # seconds from asking the watch to end to ending it
NICENESS = 10
PAUSES = (4.0, 8.0, 16.0, 32.0)  # seconds before a failed watch starts again: an earlier sidecar may still be at work
ANSWER = "answer.json"
HEARTBEAT = "sidecar.alive"
LOG = "sidecar.log"
NO_THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

LOOKED_AT = 10.0  # seconds between two looks at the heartbeat
DEAD = 90.0  # seconds without a beat after which the sidecar counts as dead: it needs some to start
RESTARTS = 3  # by the training
ENDS = ("stop", "roll_back")  # the verdicts that may end a run
LARGEST = 1 << 20  # bytes; an answer has a few hundred


class Answer:
    """The answer file of a watch. One that is missing, torn, or strange says nothing, and so does an answer to an
    earlier process: a run that was stopped and resumed would be stopped again by what was said of it before."""

    def __init__(self, path: Path, *, token: str | None = None) -> None:
        """`token`: of this process, as its journal has it; without it any answer counts."""
        self._path = os.fspath(path)
        self._token, self._since = token, time.time()
        self._seen: tuple[int, int, int] | None = None
        self.latest: Mapping[str, object] = {}

    def changed(self) -> bool:
        """Return whether there is a newer answer than the last one asked for; `latest` holds it."""
        try:
            state = os.stat(self._path)  # noqa: PTH116 - half the price of Path.stat, at every step
        except OSError:
            return False
        seen = (state.st_ino, state.st_mtime_ns, state.st_size)
        if seen == self._seen:
            return False
        self._seen = seen
        try:
            with open(self._path, "rb") as file:  # noqa: PTH123
                told = json.loads(file.read(LARGEST))
        except (OSError, ValueError, RecursionError):
            return False
        runs = told.get("runs", [told]) if isinstance(told, dict) else []
        if not isinstance(runs, list) or len(runs) != 1 or not isinstance(runs[0], dict) or not self._is_ours(runs[0]):
            return False
        self.latest = runs[0]
        return True

    def _is_ours(self, found: Mapping[str, object]) -> bool:
        """Return whether it speaks to this process; one without an addressee must at least be younger than we are."""
        if self._token is None:
            return True
        if (to := found.get("to")) is not None:
            return to == self._token
        at = found.get("at")
        return isinstance(at, (int, float)) and at >= self._since

    @property
    def acts(self) -> bool:
        """Return whether the watch holds the run to be over, by the stricter bar for acting (docs/live.md)."""
        return self.latest.get("act") is True and self.latest.get("verdict") in ENDS

    @property
    def says(self) -> str:
        """Return the answer in words, with the path of the best checkpoint if they don't name it."""
        said = str(self.latest.get("says") or self.latest.get("verdict") or "")
        path = self.best[1]
        return said if path is None or path in said else f"{said.rstrip('.')}. It is at {path}."

    @property
    def best(self) -> tuple[int | None, str | None]:
        """Return the step and the path of the checkpoint it advises to keep, as far as they are known."""
        best = self.latest.get("best_checkpoint")
        step, path = (best.get("step"), best.get("path")) if isinstance(best, Mapping) else (None, None)
        return step if isinstance(step, int) else None, path if isinstance(path, str) and path else None


class Sidecar:
    """The sidecar as its training sees it: started once, and again if it died."""

    def __init__(self, folder: Path, *, act: bool = False, tell: Sequence[str] = ()) -> None:
        """`act`: the answer may ask for an end. `tell`: channels for alerts (docs/live.md)."""
        self._folder, self._act, self._tell = folder, act, tuple(tell)
        self._heartbeat = os.fspath(folder / HEARTBEAT)
        self._beat: int | None = None  # the last one seen
        self._seen = self._next = time.monotonic()
        self._restarts = 0
        self._given_up = False

    def start(self) -> None:
        """Start it, and return as soon as it has forked: as long as starting an interpreter takes."""
        pid, act = os.getpid(), "act" if self._act else "say"
        words = [str(self._folder), str(pid), started_at(pid), str(SHARE), act, *self._tell]
        environment = {**os.environ, **NO_THREADS, "CUDA_VISIBLE_DEVICES": ""}  # cores and GPUs belong to the training
        home = Path(__file__).resolve().parents[2]
        if home.name not in ("site-packages", "dist-packages"):  # run from a checkout: an interpreter would not find us
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(home), os.environ.get("PYTHONPATH")]))
        subprocess.run(
            [sys.executable, "-m", "leadline.inside.sidecar", *words],
            check=True,
            timeout=30,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # a Ctrl-C at the training's terminal is not meant for us
        )

    def check(self) -> None:
        """Start it again if it has not beaten for long; one `stat` every few seconds."""
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
            LOGGER.warning("leadline: the sidecar died %s times; this run is no longer checked.", RESTARTS + 1)
            return
        self._restarts += 1
        LOGGER.warning("leadline: no sign of the sidecar for %.0f s; starting it again.", DEAD)
        threading.Thread(target=quiet(self.start), name="leadline-sidecar", daemon=True).start()  # loops do not wait


def main(words: list[str]) -> int:
    """Watch the journal until its run is over."""
    if os.fork() > 0:
        os._exit(0)
    folder, pid, started = Path(words[0]), int(words[1]), words[2]
    log = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # asking a watch that has not begun must not end it
    threading.Thread(target=_end_with_the_run, args=(folder / JOURNAL, pid, started), daemon=True).start()
    leadline = importlib.import_module("leadline.cli").main  # only here: a training imports none of it
    for pause in (*PAUSES, 0.0):
        if leadline(_watch(folder, share=words[3], act=words[4] == "act", tell=words[5:])) == 0:
            return 0
        time.sleep(pause)
    print(f"the watch failed {1 + len(PAUSES)} times; this run is no longer checked", flush=True)
    return 1


def _watch(folder: Path, *, share: str, act: bool, tell: Sequence[str]) -> list[str]:
    words = ["watch", str(folder / JOURNAL), "--headless", "--verdict-file", str(folder / ANSWER), "--share", share]
    words += ["--state", str(folder / STATE), "--heartbeat", str(folder / HEARTBEAT)]
    words += [word for channel in tell for word in ("--notify", channel)]
    # Whoever passed stop=True has opted in already: no dry run.
    return [*words, "--act", "stop", "--no-dry-run"] if act else words


def _end_with_the_run(journal: Path, pid: int, started: str) -> None:
    """Wait for the end of the run, have its last rows checked, and end this process."""
    while not ended(journal) and alive(pid, started):
        time.sleep(EVERY)
    _await_the_last_check(journal)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)


def _await_the_last_check(journal: Path) -> None:
    """Ask for a check, and wait until an answer speaks of the last row, within reason."""
    step = last_step(journal)
    said = Answer(journal.with_name(ANSWER))
    until = time.monotonic() + LAST_CHECK
    asked = False
    while step is not None and time.monotonic() < until:
        said.changed()
        told = said.latest.get("step")
        if isinstance(told, int) and told >= step:
            return
        if not asked and said.latest:  # a watch that has answered can be asked
            os.kill(os.getpid(), signal.SIGUSR1)
            asked = True
        time.sleep(EVERY)


def alive(pid: int, started: str) -> bool:
    """Return whether a pid is still the process that started at that time; a zombie is not alive."""
    if Path("/proc/self/stat").exists():
        return started_at(pid) == started
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
