"""docs/findings.md: every finding and every verdict, as they are printed today."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path

from leadline.words import SENTENCES
from leadline.words.verdict import CALLED


def test_the_page_is_current(ends_with: Callable[..., object]) -> None:
    assert ends_with("docs/findings.py", "--check") == 0, (
        "a sentence, a fact or a rate has changed: run python docs/findings.py"
    )


def test_every_finding_and_verdict_has_an_entry_and_no_other(root: Path) -> None:
    spec = importlib.util.spec_from_file_location("findings_guide", root / "docs" / "findings_guide.py")
    assert spec is not None
    assert spec.loader is not None
    guide = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(guide)
    assert guide.FINDINGS.keys() == SENTENCES.keys()
    assert guide.VERDICTS.keys() == CALLED.keys()
    titles = re.findall(r"^### `(.+)`$", (root / "docs" / "findings.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(titles) == sorted(SENTENCES)
