"""Work over many runs in a pool, what comes of it kept as lines of JSON: a long replay is scored again without it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any


def written(work: Callable[[Any], Iterable[object]], jobs: Sequence[Any], out: Path, processes: int) -> None:
    """The lines of every job, in order, to `out`; how far it is goes to stderr."""
    began = time.time()
    out.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes) as pool, out.open("w") as file:
        for number, lines in enumerate(pool.map(work, jobs), 1):
            file.writelines(json.dumps(line) + "\n" for line in lines)
            file.flush()
            print(f"\r{number}/{len(jobs)} in {time.time() - began:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def read(out: Path) -> list[Any]:
    return [json.loads(line) for line in out.read_text().splitlines()]
