"""The package as text and as syntax trees, parsed once for every test that looks at its code."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from conftest import ROOT

PACKAGE = ROOT / "leadline"


@cache
def texts() -> dict[str, str]:
    """Text of every file, by its path below the package."""
    return {_name(file): file.read_text(encoding="utf-8") for file in sorted(PACKAGE.rglob("*.py"))}


@cache
def trees() -> dict[str, ast.Module]:
    """Syntax tree of every file, by its path below the package."""
    return {name: ast.parse(text) for name, text in texts().items()}


def _name(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()
