"""Every file of leadline/findings: what the registry relies on."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from leadline.facts.finding import Finding
from leadline.findings import FACTS, FILES, GUIDES


def _name(file: ModuleType) -> str:
    return file.__name__.rpartition(".")[2]


@pytest.fixture(scope="module")
def examples() -> dict[str, list[Finding]]:
    """Facts of every finding, as the tests of their sentences hold them."""
    found: dict[str, list[Finding]] = {}
    for file in sorted((Path(__file__).parent / "words").glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, facts, _ in getattr(module, "SAID", ()):
            found.setdefault(name, []).append(Finding(name, 1.0, "note", facts=facts))
    return found


@pytest.mark.parametrize("file", FILES, ids=_name)
def test_a_file_holds_all_of_its_finding(file: ModuleType, examples: dict[str, list[Finding]]) -> None:
    assert file.GUIDE
    assert all(text.endswith(".") for guide in file.GUIDE.values() for text in guide)
    assert not (hasattr(file, "detect") and hasattr(file, "detect_among"))
    for name in file.GUIDE:
        assert {type(found.facts) for found in examples[name]} <= set(FACTS[name])
        assert all(found.say().endswith(".") for found in examples[name])


def test_every_id_belongs_to_one_file_and_has_an_example(examples: dict[str, list[Finding]]) -> None:
    assert len(GUIDES) == sum(len(file.GUIDE) for file in FILES)
    assert FACTS.keys() <= set(examples)
