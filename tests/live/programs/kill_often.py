"""Watches a growing run and kills the watch at random moments; then the same without, and prints what each remembered.

python kill_often.py FOLDER KILLS SEED
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from live.growing import settle, write_rows

from leadline.live import watch as watching
from leadline.live.entries import Options, WatchEntry
from leadline.live.store import Store
from leadline.live.watch import Watch

watching.LOOKING = 1.0
BEGIN, END, FALL = 40, 140, 80  # rows
LIFE = 0.03  # seconds a watch lives, on average: less than a look takes
CHANNELS = ("stdout", "webhook")


def begin(log: Path, state: Path) -> None:
    """The first look, at the same rows with and without kills."""
    log.parent.mkdir()
    write_rows(log, range(1, BEGIN), fall_after=FALL)
    watch_on(log, state)


def watch_on(log: Path, state: Path) -> None:
    """Watch until nothing is left to do."""
    with Store(state) as store:
        watch = Watch(Options((WatchEntry(str(log), tell=CHANNELS),)), store)
        watch.start()
        settle(watch)
        watch.end()


def until_killed(log: Path, state: Path) -> None:
    """A watch that never ends by itself."""
    watch = Watch(Options((WatchEntry(str(log), tell=CHANNELS),)), Store(state))
    watch.start()
    while True:
        watch.tick(force=True)
        time.sleep(0.005)


def remembered(state: Path) -> dict[str, object]:
    with Store(state, write=False) as store:
        (number,) = store.names().values()
        return {
            "looks": [(one.step, one.why, one.digest) for one in store.looks(number)],
            "alerts": [one.key for one in store.alerts(number)],
            "deliveries": sorted((one.alert.key, one.channel) for one in store.pending_alerts(time.time() + 1)),
        }


def main(folder: Path, kills: int, seed: int) -> None:
    place = folder / "run"
    log, state = place / "metrics.jsonl", place / "state.db"
    begin(log, state)
    write_rows(log, range(BEGIN, END), fall_after=FALL)
    watch_on(log, state)
    plain, whole = remembered(state), log.read_bytes()
    shutil.rmtree(place)
    begin(log, state)
    rng = random.Random(seed)
    written = BEGIN
    for number in range(kills):
        until = min(END, BEGIN + int((END - BEGIN) * (number + 1) / (0.9 * kills)))
        write_rows(log, range(written, until), fall_after=FALL)
        written = until
        child = os.fork()
        if child == 0:
            until_killed(log, state)
        time.sleep(rng.expovariate(1 / LIFE))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "the watch ended by itself"
    watch_on(log, state)
    assert log.read_bytes() == whole
    print(json.dumps({"plain": plain, "killed": remembered(state)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
