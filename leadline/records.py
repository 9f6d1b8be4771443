"""Dataclasses that cost little to define.

`dataclasses` writes and compiles up to seven methods whenever a class is defined, and describes each field. That was
half of the time it took to import what reads a run, and most of those classes are made few times or never in a process.
Here a field is described when somebody asks, `__init__` is compiled for classes that are made often, and the other
methods are shared by all. `fields`, `replace`, `asdict`, pickles, and signatures work as ever.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, asdict, astuple, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any

__all__ = ["asdict", "astuple", "dataclass", "field", "fields", "replace"]

OFTEN = 64  # instances: compiling an `__init__` takes as long as filling some hundred without

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
else:

    def dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True) -> Callable[[type], type]:
        """Do what `dataclasses.dataclass` does."""
        return lambda kind: _record(kind, frozen=frozen, slots=slots, eq=eq)

    def replace(record: Any, /, **changes: object) -> Any:
        """Do what `dataclasses.replace` does, and leave the fields undescribed."""
        return type(record)(**{name: getattr(record, name) for name in _names(record, "init")} | changes)


def _record(kind: type, *, frozen: bool, slots: bool, eq: bool) -> type:
    members = dict(vars(kind))
    types = {name: hint for name, hint in kind.__annotations__.items() if "ClassVar" not in str(hint)}
    own = {name: members.pop(name, MISSING) for name in types}
    methods: dict[str, Any] = {"__repr__": _repr}
    if eq:
        methods |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
    if frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
    if frozen and slots:
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    for name, method in methods.items():
        if members.get(name) is None:  # a class that compares by itself has a hash of None
            members[name] = method
    for name in ("__dict__", "__weakref__"):
        members.pop(name, None)
    if slots:
        inherited = {name for base in kind.__mro__[1:] for name in getattr(base, "__slots__", ())}
        members["__slots__"] = tuple(name for name in own if name not in inherited)
    bases = [vars(base)["__dataclass_fields__"] for base in kind.__mro__[:0:-1] if "__dataclass_fields__" in vars(base)]
    made = type(kind)(kind.__name__, kind.__bases__, members)
    made.__qualname__ = kind.__qualname__
    described = _Fields(made, types, own, bases)
    type.__setattr__(made, "__dataclass_fields__", described)
    type.__setattr__(made, "__init__", _Init(described))
    return made


class _Fields:
    """The fields of a class: what they are when they are not given, and all about them for who asks."""

    def __init__(self, kind: type, types: dict[str, Any], own: dict[str, Any], bases: list[_Fields]) -> None:
        self.kind = kind
        self.described: dict[str, Field[Any]] | None = None
        self.types: dict[str, Any] = {}
        self.defaults: dict[str, Any] = {}
        for fields_of_base in bases:
            self.types |= fields_of_base.types
            self.defaults |= fields_of_base.defaults
        self.types |= types
        self.defaults |= own

    def __get__(self, record: object, kind: type | None = None) -> dict[str, Field[Any]]:
        if self.described is None:
            self.described = dict(vars(self.twin(init=False))["__dataclass_fields__"])
        return self.described

    def twin(self, **how: bool) -> type:
        """Return a class of the same fields as `dataclasses` makes it: its descriptions and its `__init__` are ours."""
        given = {name: default for name, default in self.defaults.items() if default is not MISSING}
        if hasattr(self.kind, "__post_init__"):
            given["__post_init__"] = None  # it is called on the record
        alone = type("_", (), {"__doc__": "Fields.", "__annotations__": self.types, **given})
        return dataclasses.dataclass(repr=False, eq=False, **how)(alone)


class _Init:
    """An `__init__` that fills the fields one by one, and is compiled for who looks at it or makes many."""

    def __init__(self, described: _Fields) -> None:
        self.described, self.made = described, 0

    def __get__(self, record: object, kind: type | None = None) -> Any:
        self.made += 1
        if isinstance(record, self.described.kind) and self.made <= OFTEN:
            return partial(self.fill, record)
        compiled = _compiled(self.described)
        type.__setattr__(self.described.kind, "__init__", compiled)
        return compiled if record is None else compiled.__get__(record, kind)

    def fill(self, record: Any, /, *given: object, **named: object) -> None:
        """Do what the compiled one does, which also refuses what was given wrongly."""
        put, values, taken = object.__setattr__, iter(given), 0
        for name, default in self.described.defaults.items():
            value: object = MISSING
            if default.__class__ is not Field or default.init:
                value = next(values, MISSING)
                if value is MISSING and name in named:
                    value, taken = named[name], taken + 1
            if value is MISSING:
                value = default
                if default.__class__ is Field:
                    value = default.default if default.default_factory is MISSING else default.default_factory()
                if value is MISSING:
                    break
            put(record, name, value)
        else:
            if taken == len(named) and next(values, MISSING) is MISSING:
                if hasattr(self.described.kind, "__post_init__"):
                    record.__post_init__()
                return
        self.__get__(None)(record, *given, **named)


def _compiled(described: _Fields) -> Any:
    """Return the `__init__` that `dataclasses` writes for these fields."""
    init = vars(described.twin(frozen=True))["__init__"]
    init.__qualname__, init.__module__ = f"{described.kind.__qualname__}.__init__", described.kind.__module__
    return init


def _names(record: object, what: str) -> list[str]:
    """Return the fields of a record that are for that (`init`, `repr`, `compare`), without describing them."""
    known = next(held for kind in type(record).__mro__ if (held := vars(kind).get("__dataclass_fields__")))
    return [name for name, given in known.defaults.items() if not isinstance(given, Field) or getattr(given, what)]


def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name in _names(self, "repr"))
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _compared(record: Any) -> tuple[object, ...]:
    return tuple(getattr(record, name) for name in _names(record, "compare"))


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
