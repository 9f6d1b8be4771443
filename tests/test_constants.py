"""docs/constants.md is what the code says."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_constants", ROOT / "bench" / "constants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_page_of_constants_is_up_to_date() -> None:
    made = bench()
    now = made.page(made.constants(), made.kept())
    assert (ROOT / "docs" / "constants.md").read_text(encoding="utf-8") == now, "run `python bench/constants.py`"


def test_every_constant_has_a_reason() -> None:
    made = bench()
    assert [one.key for one in made.constants() if not one.why] == []


def test_few_constants_decide() -> None:
    made = bench()
    found = made.constants()
    assert sum(one.part == "decides" for one in found) <= made.MOST
    known = {f"{one.module.removeprefix('leadline.')}.{one.name}" for one in found}
    listed = {
        f"{module}.{name}"
        for table in (made.RESOLUTION, made.SHOWN)
        for module in table
        for name in table[module].split()
    }
    assert listed - known == set(), "these are gone: take them off the lists of bench/constants.py"
