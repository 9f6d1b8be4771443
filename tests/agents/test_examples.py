"""docs/agents.md: its examples are what a user sees today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def test_the_examples_are_current(root: Path) -> None:
    pytest.importorskip("mcp")
    done = subprocess.run([sys.executable, "docs/agents_examples.py", "--check"], cwd=root, check=False)
    assert done.returncode == 0, "an answer to agents has changed: run python docs/agents_examples.py"
