"""The checkers of pyproject.toml, run as tests so that one command covers them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from extras import needs

BIN = Path(sys.executable).parent
CHECKS = {
    "ruff check": [sys.executable, "-m", "ruff", "check", "."],
    "ruff format": [sys.executable, "-m", "ruff", "format", "--check", "."],
    "mypy": [sys.executable, "-m", "mypy"],
    "import layers": [str(BIN / "lint-imports")],
}
NEEDED = {"ruff check": "ruff", "ruff format": "ruff", "mypy": "mypy", "import layers": "importlinter"}


@pytest.mark.parametrize("check", CHECKS)
def test_checker_is_content(check: str, root: Path) -> None:
    needs(NEEDED[check])
    if check == "mypy" and tuple(map(int, np.__version__.split(".")[:2])) < (2, 3):  # 2.2 is the last for Python 3.10
        pytest.skip("the annotations of older numpys say less")
    done = subprocess.run(CHECKS[check], cwd=root, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
