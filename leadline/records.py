"""Dataclasses that cost little to define.

`dataclasses` writes and compiles up to seven methods whenever a class is defined. That was half of the time it took to
import what reads a run, and most of those classes are never used in a process. Here `__init__` is compiled when it is
first looked up, and the other methods are shared by all classes. `fields`, `replace`, `asdict`, pickles, and signatures
work as ever.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, asdict, astuple, field, fields, replace
from typing import TYPE_CHECKING, Any

__all__ = ["asdict", "astuple", "dataclass", "field", "fields", "replace"]


class _Factory:
    """Stands in a signature for a default that is made anew each time."""

    def __repr__(self) -> str:
        return "<factory>"


OMITTED = _Factory()

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True) -> Callable[[type], type]:
        """Do what `dataclasses.dataclass` does."""
        return lambda kind: _record(kind, frozen=frozen, slots=slots, eq=eq)


def _record(kind: type, *, frozen: bool, slots: bool, eq: bool) -> type:
    methods: dict[str, Any] = {"__repr__": _repr}
    if eq:
        methods |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
    if frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
    if frozen and slots:
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    own = vars(kind)
    made: type = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(kind)
    for name, method in methods.items():
        if own.get(name) is None:  # a class that compares by itself has a hash of None
            setattr(made, name, method)
    type.__setattr__(made, "__init__", _Init(made))
    return made


class _Init:
    """An `__init__` that is written when it is first looked up."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __get__(self, record: object, kind: type | None = None) -> Any:
        written = _written(self.kind)
        type.__setattr__(self.kind, "__init__", written)
        return written if record is None else written.__get__(record, kind)


def _written(kind: type) -> Any:
    """Compile the `__init__` of a class from its fields."""
    known: dict[str, Any] = {"_put": object.__setattr__, "_omitted": OMITTED}
    arguments, lines = ["self"], []
    for one in fields(kind):
        made = one.default_factory is not MISSING
        known[f"_{one.name}"] = one.default_factory if made else one.default
        fresh = f"_{one.name}()" if made else f"_{one.name}"
        if not one.init:
            lines.append(f"_put(self, {one.name!r}, {fresh})")
            continue
        given = f"{fresh} if {one.name} is _omitted else {one.name}" if made else one.name
        default = "_omitted" if made else "" if one.default is MISSING else fresh
        arguments.append(f"{one.name}={default}" if default else one.name)
        lines.append(f"_put(self, {one.name!r}, {given})")
    if hasattr(kind, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__({', '.join(arguments)}):\n  " + "\n  ".join(lines or ["pass"]), known)
    init = known["__init__"]
    init.__qualname__, init.__module__ = f"{kind.__qualname__}.__init__", kind.__module__
    init.__annotations__ = {one.name: one.type for one in fields(kind) if one.init} | {"return": None}
    return init


def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _compared(record: Any) -> tuple[object, ...]:
    return tuple(getattr(record, one.name) for one in fields(record) if one.compare)


def _eq(self: object, other: object) -> bool:
    return _compared(self) == _compared(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: object) -> int:
    return hash(_compared(self))


def _refuse(self: object, name: str, value: object = None) -> None:
    raise FrozenInstanceError(f"cannot change field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, one.name) for one in fields(self)]


def _restore(self: object, state: list[object]) -> None:
    for one, value in zip(fields(self), state, strict=True):  # type: ignore[arg-type]
        object.__setattr__(self, one.name, value)
