"""What comes with an extra: a test that needs it says so where it is not installed."""

from __future__ import annotations

from typing import Any

import pytest


def needs(package: str, extra: str = "test") -> Any:
    """The package; without it the test, or the file of tests, is skipped."""
    return pytest.importorskip(package, reason=f"needs {package}, which the `{extra}` extra brings")
