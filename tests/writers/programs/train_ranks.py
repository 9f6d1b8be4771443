"""Trains nothing, as a process of a distributed training: train_ranks.py OUT. Rank 0 writes OUT/metrics.jsonl.

Each process notes in OUT/RANK.signals what it was sent, and ends half a second later, as one that saves.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path


def main(out: Path) -> None:
    rank = os.environ.get("RANK", "0")

    def save(number: int, frame: object) -> None:
        with (out / f"{rank}.signals").open("a") as file:
            file.write(f"{number}\n")
        time.sleep(0.5)
        os._exit(0)

    signal.signal(signal.SIGTERM, save)
    log = (out / "metrics.jsonl").open("a") if rank == "0" else None
    (out / f"{rank}.up").touch()
    for step in range(1, 100_000):
        if log is not None:
            log.write(json.dumps({"step": step, "critic/score/mean": 0.5}) + "\n")
            log.flush()
        time.sleep(0.05)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
