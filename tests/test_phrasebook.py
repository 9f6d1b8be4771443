"""docs/findings.md: every finding and every verdict, as they are printed today."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from leadline.findings import FACTS


def test_the_page_is_current(ends_with: Callable[..., object]) -> None:
    assert ends_with("docs/findings.py", "--check") == 0, (
        "a sentence, a fact or a rate has changed: run python docs/findings.py"
    )


def test_every_finding_has_an_entry_and_no_other(root: Path) -> None:
    titles = re.findall(r"^### `(.+)`$", (root / "docs" / "findings.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(titles) == sorted(FACTS)
