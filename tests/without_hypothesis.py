"""A stand-in for hypothesis where it is not installed: property tests are skipped, all others in their files run.

`conftest.py` puts it in place. So the suite runs with nothing but pytest beside the package, as on a user's machine.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest


class _Anything:
    """A strategy, a setting, a health check: whatever is asked of it is there and does nothing."""

    def __call__(self, *_: object, **__: object) -> _Anything:
        return self

    def __getattr__(self, name: str) -> _Anything:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __or__(self, other: object) -> _Anything:
        return self

    __ror__ = __or__


class _Unchanged(_Anything):
    """`settings(...)`, `example(...)`: as decorators they leave the test as it is."""

    def __call__(self, *_: object, **__: object) -> Callable[[object], object]:  # type: ignore[override]
        return lambda test: test


def _given(*_: object, **__: object) -> pytest.MarkDecorator:
    return pytest.mark.skip(reason="needs hypothesis, which the `test` extra brings")


def modules() -> dict[str, ModuleType]:
    """What `import hypothesis` shall find, by name."""
    main, strategies = ModuleType("hypothesis"), ModuleType("hypothesis.strategies")
    anything = _Anything()
    strategies.__getattr__ = lambda name: anything  # type: ignore[method-assign]
    for name in ("settings", "example"):
        setattr(main, name, _Unchanged())
    main.given, main.strategies = _given, strategies  # type: ignore[attr-defined]
    main.HealthCheck = main.assume = main.note = anything  # type: ignore[attr-defined]
    return {"hypothesis": main, "hypothesis.strategies": strategies}
