"""docs/agents.md: its examples are what a user sees today."""

from __future__ import annotations

from collections.abc import Callable

import pytest


def test_the_examples_are_current(ends_with: Callable[..., object]) -> None:
    pytest.importorskip("mcp")
    assert ends_with("docs/agents_examples.py", "--check") == 0, (
        "an answer to agents has changed: run python docs/agents_examples.py"
    )
