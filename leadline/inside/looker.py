"""The looker: a process beside the training that watches its journal, and goes away when the run does.

    python -m leadline.inside.looker JOURNAL ANSWER PID START {act,say}

It runs `leadline watch` below itself, with a low claim to the processor, and ends it when the journal says that the run
is over or the process that writes it is gone. It is started through a process that ends at once, so it is nobody's
child and leaves no zombie behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from .answer import Answer
from .journal import ended, last_step

EVERY = 0.5  # seconds between two looks at whether the run still goes on
LAST_LOOK = 60.0  # seconds a watch may take to look at the last rows of a run that has ended
GRACE = 10.0  # seconds from asking a watch to end to ending it
NICENESS = 10
STARTS = 5  # a watch that fails is started so often in all
PAUSE = 4.0  # seconds before it is started the second time, then twice as many: an earlier looker may still be at work
SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux
LOG = "looker.log"
STATE = "state.db"
NO_THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def start_looker(journal: Path, *, answer: Path, act: bool = False) -> None:
    """Start a looker for the journal that this process writes, and return at once. `act`: the answer may ask for an
    end."""
    pid = os.getpid()
    words = [str(journal), str(answer), str(pid), started_at(pid), "act" if act else "say"]
    # The first process only starts the second; waiting for it takes as long as starting an interpreter.
    subprocess.run(
        [sys.executable, "-m", "leadline.inside.looker", *words, "detach"],
        check=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_environment(),
    )


def main(words: list[str]) -> int:
    journal, answer, pid, started, act = Path(words[0]), Path(words[1]), int(words[2]), words[3], words[4] == "act"
    if words[5:] == ["detach"]:
        with (journal.parent / LOG).open("ab") as out:
            subprocess.Popen(
                [sys.executable, "-m", "leadline.inside.looker", *words[:5]],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,  # a Ctrl-C at the training's terminal is not meant for us
            )
        return 0
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICENESS)
    return _supervise(journal, answer, pid, started, act=act)


def _supervise(journal: Path, answer: Path, pid: int, started: str, *, act: bool) -> int:
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
                watch, starts = _watch(journal, answer, act=act), starts + 1
                next_start = time.monotonic() + PAUSE * 2 ** (starts - 1)
            time.sleep(EVERY)
        if watch is not None and not asked_to_end:
            _wait_for_the_last_look(watch, journal, answer)
        return 0
    finally:
        if watch is not None:
            _end(watch)


def _watch(journal: Path, answer: Path, *, act: bool) -> subprocess.Popen[bytes]:
    words = ["watch", str(journal), "--headless", "--answer", str(answer), "--state", str(journal.parent / STATE)]
    # Whoever passed stop=True has opted in already: no dry run.
    acting = ["--act", "stop", "--no-dry-run"] if act else []
    return subprocess.Popen(
        [sys.executable, "-m", "leadline", *words, *acting],
        stdin=subprocess.DEVNULL,
        env=_environment(),
        preexec_fn=functools.partial(_end_with_the_looker, os.getpid()) if sys.platform == "linux" else None,
    )


def _end_with_the_looker(looker: int) -> None:
    """Have the system end the watch when the looker is killed: nobody else would."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGTERM)
        if os.getppid() != looker:  # killed before we had asked for it
            os._exit(1)


def _wait_for_the_last_look(watch: subprocess.Popen[bytes], journal: Path, answer: Path) -> None:
    """Ask for a look, and wait until an answer speaks of the last row, within reason."""
    step = last_step(journal)
    said = Answer(answer)
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


def started_at(pid: int) -> str:
    """When a process began, in the system's own count; "" where it is gone, or the system does not tell."""
    try:
        # The name of a program may hold blanks and brackets: what counts stands behind the last bracket.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if len(fields) < 20 or fields[0] in (b"Z", b"X") else fields[19].decode()


def _environment() -> dict[str, str]:
    """Ours, with one thread for the mathematics and no GPU: they belong to the training."""
    environment = {**os.environ, **NO_THREADS, "CUDA_VISIBLE_DEVICES": ""}
    home = Path(__file__).resolve().parents[2]
    if home.name not in ("site-packages", "dist-packages"):  # run from a checkout: an interpreter would not find us
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(home), os.environ.get("PYTHONPATH")]))
    return environment


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
