"""Records the exact comparison of the bundled runs again; review the diff like code.

python tests/comparison/record.py
"""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

from leadline.cli import main

ROOT = Path(__file__).parent.parent.parent
GOLDEN = Path(__file__).parent / "golden"
ASKED = {
    "examples": ("leadline/examples/healthy", "leadline/examples/collapsed", "leadline/examples/hacked"),
    "examples-pair": ("leadline/examples/healthy", "leadline/examples/hacked"),
}


def printed(*argv: str) -> str:
    """What `leadline compare` prints, from the repository root, a hundred columns wide."""
    before = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(ROOT)
    os.environ["COLUMNS"] = "100"
    page = io.StringIO()
    try:
        with contextlib.redirect_stdout(page):
            assert main(["compare", *argv]) == 0
    finally:
        os.chdir(before[0])
        del os.environ["COLUMNS"]
        if before[1] is not None:
            os.environ["COLUMNS"] = before[1]
    return page.getvalue()


def record() -> None:
    for name, argv in ASKED.items():
        (GOLDEN / f"{name}.txt").write_text(printed(*argv))


if __name__ == "__main__":
    record()
