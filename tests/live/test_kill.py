"""A watch that is killed again and again remembers what one that never was does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent / "programs" / "kill_often.py"


def test_thirty_kills_lose_no_look_and_double_no_alert(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path), "30", "7"], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told["plain"]["looks"]) > 10
    assert len(told["plain"]["alerts"]) > 0
    assert told["killed"] == told["plain"]
