"""Everything that can be found in a run, one file each. The folder is the registry: a new finding is a new file here.

A file holds, from top to bottom:

    GUIDE    {id: Guide}: what the finding means, what it rests on, what to do about it
    a subclass of `Facts`: the numbers, steps and names it consists of, and `say`, the sentence they make;
             MEANS, if it weighs in the verdict; SUSPECT or `suspect`, if it points at a knob
    detect   (view) -> findings; or detect_among (view, found), for one that needs to know what else was found
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from ..facts.finding import Facts, Finding, Guide
from ..reading.view import View


def _facts_of(file: ModuleType) -> tuple[type[Facts], ...]:
    kinds = (kind for kind in vars(file).values() if isinstance(kind, type) and issubclass(kind, Facts))
    return tuple(kind for kind in kinds if kind.__module__ == file.__name__)


FILES: tuple[ModuleType, ...] = tuple(
    import_module(f"{__name__}.{info.name}") for info in sorted(iter_modules(__path__), key=lambda info: info.name)
)


GUIDES: Mapping[str, Guide] = {name: guide for file in FILES for name, guide in file.GUIDE.items()}
FACTS: Mapping[str, tuple[type[Facts], ...]] = {name: _facts_of(file) for file in FILES for name in file.GUIDE}


def found_in(view: View) -> tuple[Finding, ...]:
    """Return everything found in a run; what depends on the other findings comes last."""
    found: tuple[Finding, ...] = tuple(each for file in FILES if hasattr(file, "detect") for each in file.detect(view))
    for file in FILES:
        if hasattr(file, "detect_among"):
            found = (*found, *file.detect_among(view, found))
    return found
