"""docs/findings.md: every finding and every verdict, as they are printed today."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

from leadline.findings import FACTS, GUIDES
from leadline.words import SENTENCES
from leadline.words.verdict import CALLED


def test_the_page_is_current(root: Path) -> None:
    done = subprocess.run([sys.executable, "docs/findings.py", "--check"], cwd=root, check=False)
    assert done.returncode == 0, "a sentence, a fact or a rate has changed: run python docs/findings.py"


def test_every_finding_and_verdict_has_an_entry_and_no_other(root: Path) -> None:
    spec = importlib.util.spec_from_file_location("findings_guide", root / "docs" / "findings_guide.py")
    assert spec is not None
    assert spec.loader is not None
    guide = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(guide)
    assert {*guide.FINDINGS, *GUIDES} == {*SENTENCES, *FACTS}
    assert guide.VERDICTS.keys() == CALLED.keys()
    titles = re.findall(r"^### `(.+)`$", (root / "docs" / "findings.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(titles) == sorted({*SENTENCES, *FACTS})
