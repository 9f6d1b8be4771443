"""docs/findings.md: every finding and every verdict, as they are printed today."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from leadline.findings import FACTS


def test_the_page_is_current(root: Path) -> None:
    done = subprocess.run([sys.executable, "docs/findings.py", "--check"], cwd=root, check=False)
    assert done.returncode == 0, "a sentence, a fact or a rate has changed: run python docs/findings.py"


def test_every_finding_has_an_entry_and_no_other(root: Path) -> None:
    titles = re.findall(r"^### `(.+)`$", (root / "docs" / "findings.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(titles) == sorted(FACTS)
