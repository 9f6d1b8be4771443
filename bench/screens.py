"""Does the screen show what there is: `python bench/screens.py [--every N]`.

Runs of both zoos and of the public logs, read at 50 and 100 % of their length and shown in 80 and 120 columns: how many
had numbers of KL or of a policy loss and no line about them, how many told no risk of going on where one was computed,
and how many lines went to what is normal. Without ../shared it says so.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest
from tables import Table, share

from leadline.contract import Reading
from leadline.pipeline import read_run
from leadline.report import terminal

LOOKS = (0.5, 1.0)
WIDTHS = (80, 120)
NUMBERS = {"kl": ("kl/ref", "kl/ref_seq_sum"), "loss": ("loss/policy", "loss/total")}


def lacking(reading: Reading, width: int) -> dict[str, bool]:
    """What the screen of a reading lacks; only what it should have is asked for."""
    lines = terminal.render(reading, width=width).splitlines()
    logged = {signal.name for signal in reading.run.signals if signal.points}
    asked = {
        about: not any(line.startswith(f"{about} ") for line in lines)
        for about, names in NUMBERS.items()
        if logged.intersection(names)
    }
    risk, gamed = reading.judgement.risk.p_worse, reading.judgement.reason.kind == "gamed"
    if risk is not None and not gamed and reading.judgement.upside.worth_having:
        asked["risk"] = "of ending clearly lower" not in " ".join(" ".join(lines).split())
    asked["two or more lines of what is normal"] = sum(line.startswith("normal") for line in lines) > 1
    return asked


def screens_of(job: backtest.Job) -> list[tuple[str, int, dict[str, bool]]]:
    run, clock = job.open()
    found = []
    for look in LOOKS:
        step = job.last if look == 1 else round(job.first + look * (job.last - job.first))
        reading = read_run(run.until(clock.ours_at(step)), budget=clock.planned, charts="main")
        found += [(job.run.split("/")[0], width, lacking(reading, width)) for width in WIDTHS]
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="read every N-th run of each set")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args(argv)
    if not backtest.SHARED.exists():
        print(f"nothing to read: {backtest.SHARED} is not on this machine")
        return 0
    jobs = [job for name in backtest.SETS for _, job in backtest.all_jobs([name], 10)[:: arguments.every]]
    with ProcessPoolExecutor(arguments.processes) as pool:
        screens = [screen for found in pool.map(screens_of, jobs) for screen in found]
    what = ("kl", "loss", "risk", "two or more lines of what is normal")
    rows = [
        [
            name,
            str(width),
            *(
                share(lack[one] for set_, at, lack in screens if (set_, at) == (name, width) and one in lack)
                for one in what
            ),
        ]
        for name in backtest.SETS
        for width in WIDTHS
    ]
    print(Table("Screens that lack a line", "0, but for the last", ("set", "columns", *what), rows).text())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
