"""The docs show what the program prints: every command of a guide is run, and the reference is made from the code."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT

from leadline.inside import trainer

DOCS = ROOT / "docs"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RECORD, REFERENCE = script("record"), script("reference")


@pytest.mark.parametrize("page", [page.relative_to(DOCS).as_posix() for page in RECORD.pages()])
def test_a_page_shows_what_is_printed(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert RECORD.recorded(text) == text, "record it again: python docs/record.py"


def test_a_stale_output_is_found() -> None:
    page = "```console\n$ leadline --version\nleadline, version 0\n```\n"
    assert RECORD.recorded(page) != page


@pytest.mark.parametrize("page", sorted(REFERENCE.PAGES))
def test_the_reference_is_current(page: str) -> None:
    assert (DOCS / page).read_text(encoding="utf-8") == REFERENCE.PAGES[page](), "python docs/reference.py"


@pytest.mark.parametrize("installed", [True, False])
def test_the_python_page_is_the_same_with_and_without_transformers(
    monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    class Theirs:
        def on_predict(self) -> None:
            """Be called after a prediction."""

    module = types.ModuleType("transformers.trainer_callback")
    module.TrainerCallback = Theirs  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformers.trainer_callback", module)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if installed else None)
    trainer._made.cache_clear()
    try:
        assert REFERENCE.python() == (DOCS / "python.md").read_text(encoding="utf-8")
    finally:
        trainer._made.cache_clear()


@pytest.mark.parametrize("page", [*sorted((DOCS / "guide").glob("*.md")), *sorted((DOCS / "diagnoses").glob("*.md"))])
def test_a_guide_is_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 120
