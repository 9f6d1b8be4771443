"""Whoever works for another process ends with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from waiting import gone, wait_for

PARENT = """
import subprocess, sys, time
child = "from leadline.progress import *; end_with_parent(every=.05); print('up', flush=True); time.sleep(600)"
process = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE)
process.stdout.readline()
print(process.pid, flush=True)
time.sleep(600)
"""


def test_a_worker_ends_with_its_parent_however_that_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = Path("/proc") / parent.stdout.readline().strip()
        assert not worker.parent.exists() or worker.exists()
        parent.kill()
    wait_for(lambda: gone(int(worker.name)))
